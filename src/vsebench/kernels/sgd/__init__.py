"""Kernels of methods that take stochastic gradient steps on pairs of a positive and a negative label.

The following arguments have the same meaning in all kernels. The docstrings of the kernels describe only exceptions and
other arguments.

embedding : `Embedding`, updated by the steps; the score of label c for image i is s_ic = <v_i, v_c>
weights : float32, the weight vectors w_c of the labels c, updated; from `new_weights`
maps : `Maps`, updated
pipeline : `Pipeline` of the positives (i, p), which are drawn uniformly
positives : `Positives` (i, p), which are drawn uniformly; the features of image i are row i of `rows`
rows : `ImageRows` of the images
row_labels, start, stop : row_labels[start:stop] are an image's labels, int32; the array ends with LANES unused numbers
trials : `Trials`
steps : integer, the number of steps
rates : `Rates`, which contain eta and lambda
learning_rate : float, constant
max_norm : float, the largest norm that a row of the vectors or maps may have (C in WSABIE); 0 means no limit
streams : `Streams`; each stream that is used is advanced
rng : (1,) uint64, the state of the random numbers; each draw changes it
"""
