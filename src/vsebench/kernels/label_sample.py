"""A sample of an image's labels: some of its own, and some of the others, each time in proportion to their weights."""

from numba import njit

from vsebench.kernels.alias import draw_alias
from vsebench.kernels.random_numbers import below
from vsebench.kernels.sampling import contains

NOTHING, DRAWN, POSITIVES = range(3)  # what is no negative: nothing, the positives of the sample, all of the image
ATTEMPTS = 50  # at a negative


@njit(cache=True, nogil=True)
def sample_labels(chosen, n_positives, images, offsets, labels, table, exclude, rng):
    """Draw labels for each image: positives uniformly from its own, with replacement, then negatives from a table.

    A negative is drawn again while it is excluded, at most `ATTEMPTS` times. An image that has no label, every label,
    or no negative by then gets no sample.

    Parameters
    ----------
    chosen : (m, P + N) int32, overwritten: P positives and N negatives of each image; -1 first if it has no sample
    n_positives : P
    images : (m,) int64, the image of each row
    offsets, labels
        (n + 1,) int64 and int32: image i has labels[offsets[i]:offsets[i + 1]]; LANES unused
        labels follow
    table : AliasTable of the labels
    exclude : NOTHING, DRAWN or POSITIVES
    rng : (1,) uint64, advanced
    """
    for row in range(len(images)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        if stop == start or stop - start == len(table.kept):
            chosen[row, 0] = -1
            continue
        for place in range(n_positives):
            chosen[row, place] = labels[start + below(rng, stop - start)]
        for place in range(n_positives, chosen.shape[1]):
            label = draw_alias(table, rng)
            attempts = 1
            while is_excluded(label, chosen, row, n_positives, labels, start, stop, exclude) and attempts < ATTEMPTS:
                label = draw_alias(table, rng)
                attempts += 1
            if is_excluded(label, chosen, row, n_positives, labels, start, stop, exclude):
                chosen[row, 0] = -1
                break
            chosen[row, place] = label


@njit(cache=True, inline="always")
def is_excluded(label, chosen, row, n_positives, labels, start, stop, exclude):
    """Return whether a label is no negative of an image; the arguments are those of `sample_labels`."""
    if exclude == POSITIVES:
        return contains(labels, start, stop, label)
    found = False
    if exclude == DRAWN:
        for place in range(n_positives):
            found |= chosen[row, place] == label
    return found
