"""Models that other programs train; the models' scores are read from a file."""
