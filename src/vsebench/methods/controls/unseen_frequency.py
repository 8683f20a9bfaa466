"""Oracle of unseen labels: every image gets the same ranking, by the number of test images with a label.

It uses test labels, which no method may use, and no images. If a method for untrained labels does better than this, it
has learnt from the images.
"""

import numpy as np

from vsebench.data.needs import TEST_LABELS
from vsebench.methods.base import Control
from vsebench.models import Embeddings


class UnseenFrequency(Control):
    """The number of test images with each label, as one factor that is 1 for every image."""

    needs = frozenset({"test_labels"})
    ranks_unseen = True

    def model(self) -> Embeddings:
        right, n_images = TEST_LABELS.of(self.problem).right, self.problem.training.labels.n_rows
        frequency = np.bincount(right.label_of_pair, minlength=right.n_labels)
        return Embeddings(np.ones((n_images, 1), dtype=np.float32), frequency.astype(np.float32)[:, np.newaxis])


METHOD = UnseenFrequency
