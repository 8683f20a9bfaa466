"""Methods: one module each, found by its name."""
