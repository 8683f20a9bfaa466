"""Losses of networks, with their derivatives.

A function that computes a loss from the scores of all labels returns the sum of the loss over the images of a batch,
and overwrites the scores with the derivatives of this sum. It takes all or some of these arguments:

scores : (m, n_labels) float32, f, for a batch of m images; overwritten with the derivatives
images : (m,) int64, the image of each row
offsets, labels : (n_images + 1,) int64, and int32; image i has labels[offsets[i]:offsets[i + 1]], in ascending order
rank_loss : (n_labels + 1,) float64, L(k) = 1 + 1/2 + ... + 1/k
weighted : whether the term of a pair (a positive and a negative) is multiplied by L(r), where r is the rank of the
    positive among all labels; the first rank is 1
terms, slopes : (n_labels,) float64, scratch memory for one image

The docstring of a function describes only its other arguments.
"""
