"""One kind of figure per module (see `rendering.kinds`); this package's folder is the list of them."""
