"""Methods that know an image only by its labels."""
