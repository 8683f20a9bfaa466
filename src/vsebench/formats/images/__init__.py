"""Images as files and as pixels, and the network that describes them."""
