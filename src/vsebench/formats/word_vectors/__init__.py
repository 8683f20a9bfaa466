"""Adapters that read word vectors, and the rules that find the vector of a label.

Each adapter has a class `Options` and a function `read_vectors(raw, options, needed)`, which returns the vectors of the
`needed` words. `raw` is the folder with the downloaded files. A word must be spelled as in the file that `options`
names, including upper and lower case. The function raises a `UserError` if this file is missing, damaged or malformed,
or if a needed word's vector has a number that is not finite. The error names the file and, where possible, the line or
the word.

An adapter that has a vector for every text, such as a network, sets `ANY_TEXT = True`. Then `needed` contains only the
names or aliases of the labels, not parts or other spellings of names. `PACKAGES` names the optional packages that an
adapter needs.
"""
