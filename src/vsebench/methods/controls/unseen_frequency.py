"""Oracle of unseen labels: every image gets the same ranking, by the number of test images with a label.

It uses test labels, which no method may use, and no images. If a method for untrained labels does better than this, it
has learnt from the images.
"""

import numpy as np

from vsebench.data.needs import TEST_LABELS
from vsebench.data.problem import Problem
from vsebench.methods.base import Control, Settings
from vsebench.models import Embeddings


class UnseenFrequency(Control):
    """The number of test images with each label, as one factor that is 1 for every image."""

    needs = frozenset({"test_labels"})
    ranks_unseen = True

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.right, self.n_images = TEST_LABELS.of(problem).right, problem.training.labels.n_rows

    def model(self) -> Embeddings:
        frequency = np.bincount(self.right.label_of_pair, minlength=self.right.n_labels)
        return Embeddings(np.ones((self.n_images, 1), dtype=np.float32), frequency.astype(np.float32)[:, np.newaxis])


METHOD = UnseenFrequency
