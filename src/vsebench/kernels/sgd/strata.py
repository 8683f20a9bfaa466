"""Split the positives of an epoch into strata, several of which can be trained at the same time.

Images and labels are divided into the same number P of parts. A stratum combines an image part and a label part: it
contains the positives of these images with these labels. Two strata that have neither images nor labels in common
change different vectors, so their steps can be taken on two threads, and the result does not depend on which thread is
faster.
"""

from numba import njit


@njit(cache=True, nogil=True)
def fill_part(offsets, label_of_pair, count_of_pair, number, first, stop, bounds, pairs, row_labels, ends):
    """Write the positives of a label part in the format of `Positives`.

    In the output, the labels of the part are numbered from 0.

    Parameters
    ----------
    offsets, label_of_pair, count_of_pair : as in `LabelMatrix`
    number : (n_labels,) int32, the number of each label in this epoch; the labels of a part have successive numbers
    first, stop : the label part has the labels with the numbers `first` to `stop` - 1
    bounds : (P + 1,) int64; image part a has the images from bounds[a] to bounds[a + 1] - 1
    pairs : (at least the number of positives, 4) int32, written, ordered by image
    row_labels : (at least m + LANES,) int32, written; m is the number of different (image, label) pairs in the label
        part
    ends : (P + 1,) int64, written; the positives of image part a are pairs[ends[a]:ends[a + 1]]
    """
    n_positives = n_labels = 0
    for a in range(len(bounds) - 1):
        ends[a] = n_positives
        for i in range(bounds[a], bounds[a + 1]):
            start = n_labels
            for j in range(offsets[i], offsets[i + 1]):
                label = number[label_of_pair[j]]
                if first <= label < stop:
                    row_labels[n_labels] = label - first
                    n_labels += 1
            for j in range(offsets[i], offsets[i + 1]):
                label = number[label_of_pair[j]]
                if first <= label < stop:
                    for _ in range(count_of_pair[j]):
                        pairs[n_positives, 0] = i
                        pairs[n_positives, 1] = label - first
                        pairs[n_positives, 2] = start
                        pairs[n_positives, 3] = n_labels
                        n_positives += 1
    ends[-1] = n_positives
