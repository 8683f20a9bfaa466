"""Images as files and as pixels, and the network that computes their features."""
