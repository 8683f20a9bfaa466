"""Draw a sample of positives and negatives for each image of a batch."""

from numba import njit

from vsebench.kernels.alias import draw_alias
from vsebench.kernels.random_numbers import below
from vsebench.kernels.sgd.sampling import contains

# Labels that cannot be negatives: none (NOTHING), the sample's positives (DRAWN), all labels of the image (POSITIVES),
# or the positives in the samples of all images of the batch (BATCH). With NEXT_IMAGE, nothing is excluded, and
# negatives are drawn from the labels of the next image instead of from the table.
NOTHING, DRAWN, POSITIVES, BATCH, NEXT_IMAGE = range(5)
ATTEMPTS = 50  # number of attempts to draw a negative


@njit(cache=True, nogil=True)
def sample_labels(chosen, n_positives, images, offsets, labels, table, exclude, in_batch, rng):
    """For each image, draw positives from the image's labels, and negatives from a table.

    Positives are drawn uniformly, with replacement. For each negative, labels are drawn until one is not excluded, at
    most `ATTEMPTS` times. An image gets no sample if it has no label or every label, or if all attempts to draw one of
    its negatives fail.

    With `NEXT_IMAGE`, negatives are instead drawn uniformly, with replacement, from the labels of the next image of the
    batch, and no label is excluded. The first image follows the last. If the next image has no label, the image gets no
    sample.

    chosen : (m, P + N) int32, overwritten with P positives and N negatives for each image; the row of an image without
        a sample starts with -1
    n_positives : P, the number of positives that are drawn for each image
    images : (m,) int64, the image of each row
    offsets, labels : as in `kernels.losses`, but `labels` ends with `kernels.vectors.LANES` unused numbers
    table : `AliasTable`, the distribution of the labels from which negatives are drawn
    exclude : which labels cannot be negatives: one of the constants NOTHING, DRAWN, POSITIVES, BATCH and NEXT_IMAGE
    in_batch : (n_labels,) bool, all False before and after the call; empty unless `exclude` is BATCH
    rng : (1,) uint64, the state of the random numbers; each draw changes it
    """
    for row in range(len(images)):
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        if stop == start or stop - start == len(table.kept):
            chosen[row, 0] = -1
            continue
        for slot in range(n_positives):
            label = labels[start + below(rng, stop - start)]
            chosen[row, slot] = label
            if exclude == BATCH:
                in_batch[label] = True
    for row in range(len(images)):
        if chosen[row, 0] < 0:
            continue
        if exclude == NEXT_IMAGE:
            following = images[(row + 1) % len(images)]
            start, stop = offsets[following], offsets[following + 1]
            if stop == start:
                chosen[row, 0] = -1
                continue
            for slot in range(n_positives, chosen.shape[1]):
                chosen[row, slot] = labels[start + below(rng, stop - start)]
            continue
        start, stop = offsets[images[row]], offsets[images[row] + 1]
        for slot in range(n_positives, chosen.shape[1]):
            label = draw_alias(table, rng)
            attempts = 1
            while (
                is_excluded(label, chosen, row, n_positives, labels, start, stop, exclude, in_batch)
                and attempts < ATTEMPTS
            ):
                label = draw_alias(table, rng)
                attempts += 1
            if is_excluded(label, chosen, row, n_positives, labels, start, stop, exclude, in_batch):
                chosen[row, 0] = -1
                break
            chosen[row, slot] = label
    in_batch[:] = False


@njit(cache=True, inline="always")
def is_excluded(label, chosen, row, n_positives, labels, start, stop, exclude, in_batch):
    """Return whether a label cannot be a negative of the image in row `row` of `chosen`.

    The image's labels are labels[start:stop]. The other arguments are those of `sample_labels`.
    """
    if exclude == POSITIVES:
        return contains(labels, start, stop, label)
    if exclude == BATCH:
        return in_batch[label]
    is_equal = False
    if exclude == DRAWN:
        for slot in range(n_positives):
            is_equal |= chosen[row, slot] == label
    return is_equal
