"""Losses of networks, with their derivatives.

A function that computes a loss from the scores of all labels returns the sum of the loss over the images of a batch,
and overwrites the scores with the derivatives of this sum. Such a function has some or all of these arguments:

scores : (m, n_labels) float32, the scores of all labels for each of the m images of the batch, overwritten with the
    derivatives; in formulas, f are the scores for one image, and f_k is the score of label k
images : (m,) int64, the image of each row
offsets, labels : (n_images + 1,) int64, and int32; labels[offsets[i]:offsets[i + 1]] are the labels of image i, in
    ascending order
rank_loss : (n_labels + 1,) float64, the numbers L(0) to L(n_labels), where L(k) = 1 + 1/2 + ... + 1/k
weighted : whether the term of a pair (a positive and a negative) is multiplied by L(r), where r is the rank of the
    positive among all labels; the first rank is 1
terms, slopes : (n_labels,) float64, scratch memory for one image

The docstrings of these functions describe only other arguments.
"""
