"""Adapters that read word vectors, and the rules that find the vector of a label.

Each adapter has a class `Options` and a function `read_vectors(raw, options, needed)`, which returns the vectors of the
`needed` words. `raw` is the folder with the downloaded files. A word must be spelled as in the file that `options`
names, including upper and lower case. If this file is missing, damaged or malformed, or a needed word's vector has a
number that is not finite, the function raises a `UserError` that names the file and the line or word.

An adapter that has a vector for every text, such as a network, sets `ANY_TEXT = True`; then only the vectors of the
labels' names or aliases are needed. `PACKAGES` names the optional packages that an adapter needs.
"""
