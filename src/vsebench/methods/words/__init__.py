"""Methods that use word vectors of the labels."""
