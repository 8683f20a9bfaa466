"""Methods that other programs train; the scores of their models are read from a file."""
