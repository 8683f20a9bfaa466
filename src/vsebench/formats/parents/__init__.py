"""Adapters that find the parents of labels; labels with a common parent are siblings.

Each module has a class `Options` and a function `read_parents(raw, options, labels)`, which reads the files in the
folder `raw`. The function returns a list of sets: the parents of each label, in the order of `labels`. The set of a
label is empty if the source does not contain the label. A missing, damaged or malformed file raises a `UserError` that
names the file and, where possible, the line.
"""
