"""Methods with word vectors of the labels."""
