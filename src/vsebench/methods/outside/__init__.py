"""Methods that were trained elsewhere, whose scores are read from a file."""
