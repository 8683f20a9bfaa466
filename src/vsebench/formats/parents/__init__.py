"""Adapters that find the parents of labels; labels with a common parent are siblings.

Each module has a class `Options` and a function `read_parents(raw, options, labels)`, which reads the files in the
folder `raw`. It returns the parents of each label, in the order of `labels`, as a set that is empty if the source does
not contain the label. A missing, damaged or malformed file raises a `UserError` that names the file and the line.
"""
