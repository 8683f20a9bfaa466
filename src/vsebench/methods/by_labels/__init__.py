"""Methods that know an image by its labels alone."""
