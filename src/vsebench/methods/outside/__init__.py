"""Methods that were trained by other programs; their scores are read from a file."""
