"""Protocols: ways to split labels or images into parts for training, validation and test."""
