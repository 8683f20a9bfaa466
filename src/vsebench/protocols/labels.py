"""Protocols that hold out one label of each image: `distinct`, and `regions`, which holds out a single occurrence."""

import numpy as np
from numpy.typing import NDArray

from vsebench.data.problem import Dataset, Ids, LabelMatrix, Split, ids_of
from vsebench.protocols.base import Protocol, assemble


class Distinct(Protocol):
    """One distinct label of each image, drawn uniformly, is held out with all its occurrences.

    Images with a single label are used only for training.
    """

    description = "one distinct label of each image held out"
    new_images = False
    validation_metric = "ndcg@10"

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        return leave_one_out(dataset, by_occurrence=False, rng=rng)


class Regions(Protocol):
    """One occurrence of a label (a region label) is drawn uniformly from each image, and held out.

    If the label has other occurrences on the image, it is also a training label of the image. The held-out label is
    then not among the candidates, and counts as a miss.
    """

    description = "one region label of each image held out; if the label is repeated, its other occurrences stay"
    new_images = False
    leaves_cold = True
    by_occurrence = True
    validation_metric = "ndcg@10"

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        return leave_one_out(dataset, by_occurrence=True, rng=rng)


PROTOCOLS = {"distinct": Distinct, "regions": Regions}


def leave_one_out(dataset: Dataset, by_occurrence: bool, rng: np.random.Generator) -> Split:
    """Hold out one label of each image for the test, and one of the remaining labels for validation.

    With `by_occurrence`, a single occurrence of a label is held out. Without it, a label is held out with all its
    occurrences, but only from images that have another label.
    """
    rest, test = hold_out(dataset.labels, by_occurrence, rng)
    train, valid = hold_out(rest, by_occurrence, rng)
    every = np.arange(dataset.labels.n_rows, dtype=np.int32)
    valid_images, test_images = (ids_of(part.n_labels_of_row > 0) for part in (valid, test))
    return assemble((train, valid, test), (every, valid_images, every, test_images))


def hold_out(labels: LabelMatrix, by_occurrence: bool, rng: np.random.Generator) -> tuple[LabelMatrix, LabelMatrix]:
    """Take one label from each image; return the remaining labels and the labels taken.

    With `by_occurrence`, a single occurrence of a label is taken from each image with a label. Without it, a label is
    taken with all its occurrences, but only from images with at least two distinct labels.
    """
    count = labels.count_of_pair
    drawn, size = draw_pairs(labels, count if by_occurrence else np.ones_like(count), rng)
    chosen = drawn[size >= (1 if by_occurrence else 2)]
    taken = np.zeros(len(count), dtype=count.dtype)
    taken[chosen] = 1 if by_occurrence else count[chosen]
    return labels.with_counts(count - taken), labels.with_counts(taken)


def draw_pairs(
    labels: LabelMatrix, weight: Ids, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw one pair of each image, with probabilities proportional to the weights of the image's pairs.

    A pair is an image and one of its labels; `weight` is (n_pairs,). Returns the index of the pair drawn for each
    image, and the total weight of each image's pairs, both (n_images,). The index is meaningless if an image has no
    pairs.
    """
    ends = np.cumsum(weight, dtype=np.int64)
    before = np.concatenate([[0], ends])[labels.offsets]
    size = np.diff(before)
    # A number is drawn for every image, even one without pairs, so that draws do not depend on other images' pairs.
    offset = np.floor(rng.random(labels.n_rows) * size).astype(np.int64)
    return np.searchsorted(ends, before[:-1] + offset, side="right"), size
