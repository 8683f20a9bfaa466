"""Protocols: which labels or images are used for training, for the choice of settings, and for the test."""
