"""Controls and an oracle for unseen labels, all of which ignore image features.

Methods should do better than the controls. A model with a single factor, which is 1 for every image, gives all images
the same ranking.
"""

import numpy as np

from vsebench.core.errors import UserError
from vsebench.data.needs import GIVEN_LABELS, TEST_LABELS
from vsebench.data.problem import Problem
from vsebench.data.streams import Stream, generator
from vsebench.methods.base import Control, Settings
from vsebench.methods.by_labels.start import padded_start
from vsebench.models import Embeddings, by_frequency

FACTORS = 32  # number of factors of random embeddings


class Popularity(Control):
    """Every image gets the same ranking, by the number of occurrences of each label in training."""

    def model(self) -> Embeddings:
        return by_frequency(self.problem.training.labels)


class Random(Control):
    """Random embeddings; label vectors have unit length, so that each label ranks high equally often."""

    ranks_unseen = True
    is_random = True

    def model(self) -> Embeddings:
        rng = generator(self.problem.seed, Stream.START)
        matrix = self.problem.training.labels
        labels = padded_start(matrix.n_labels, FACTORS, 1.0, rng)
        labels /= np.linalg.norm(labels, axis=1, keepdims=True)
        return Embeddings(padded_start(matrix.n_rows, FACTORS, 1.0, rng), labels)


class UnseenFrequency(Control):
    """Oracle for unseen labels: every image gets the same ranking, by the number of test images with each label.

    The oracle uses test labels, which methods may not use. A method for unseen labels that does better than the
    oracle has learnt from the images.
    """

    needs = frozenset({"test_labels"})
    ranks_unseen = True

    def model(self) -> Embeddings:
        right, n_images = TEST_LABELS.of(self.problem).right, self.problem.training.labels.n_rows
        frequency = np.bincount(right.label_of_pair, minlength=right.n_labels)
        return Embeddings(np.ones((n_images, 1), dtype=np.float32), frequency.astype(np.float32)[:, np.newaxis])


class GivenLabels(Control):
    """Ranks the labels that users gave to a test image before all others; methods should do better.

    This control needs a training data set that also contains the test images. For example, the training labels are
    users' tags, and the test labels are concepts with which experts have annotated the same images. The embeddings have
    one factor per given label. This factor is 1 for the label itself and for the images that have the label, and 0 for
    all other labels and images.
    """

    needs = frozenset({GIVEN_LABELS.key})
    ranks_unseen = True

    def __init__(self, problem: Problem, settings: Settings) -> None:
        super().__init__(problem, settings)
        self.given = GIVEN_LABELS.of(problem)
        if not self.given.n_pairs:
            raise UserError(
                "given_labels: no test image has labels in the training data set under the same id; list "
                "the methods of this protocol without given_labels under `protocol_methods`"
            )

    def model(self) -> Embeddings:
        labels, factor = np.unique(self.given.label_of_pair, return_inverse=True)
        images = np.zeros((self.given.n_rows, len(labels)), dtype=np.float32)
        images[self.given.image_of_pair, factor] = 1
        vectors = np.zeros((self.given.n_labels, len(labels)), dtype=np.float32)
        vectors[labels, np.arange(len(labels))] = 1
        return Embeddings(images, vectors)


METHODS = {"popularity": Popularity, "random": Random, "unseen_frequency": UnseenFrequency, "given_labels": GivenLabels}
