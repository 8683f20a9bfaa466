"""Protocols: splits of labels or images into parts for training, validation and test."""
