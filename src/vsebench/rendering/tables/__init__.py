"""One kind of table per module (see `rendering.kinds`); this package's folder is the list of them."""
