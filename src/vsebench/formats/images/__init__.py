"""Find image files, convert them to pixels, and run a network that computes their features."""
