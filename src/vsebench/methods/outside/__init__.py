"""Methods that other programs train; their scores are read from a file."""
