"""Kernels of methods that take stochastic gradient steps on pairs of a positive and a negative label.

The following arguments have the same meaning in all kernels. The docstrings of the kernels describe only exceptions and
other arguments.

embedding : `Embedding`, updated; the score of label c for image i is s_ic = <v_i, v_c>
weights : float32, the w_c, updated; from `new_weights`, with one row per label or one row per feature
maps : `Maps`, updated
pipeline : `Pipeline` of the positives (i, p), which are drawn uniformly
positives : `Positives` (i, p), which are drawn uniformly; the features of image i are row i of `rows`
rows : `ImageRows` of the images
row_labels, start, stop : row_labels[start:stop] are an image's labels, int32; the array ends with LANES unused numbers
trials : `Trials`
steps : integer, the number of steps
rates : `Rates`, eta and lambda
learning_rate : float, constant
max_norm : float, C, the largest norm of a row of the vectors or maps; 0 means no limit
streams : `Streams`; the streams that are used are advanced
rng : (1,) uint64, the state of the random numbers, advanced
"""
