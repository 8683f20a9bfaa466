"""Control: rank the labels that users gave to a test image before all others; methods should do better.

It needs a training data set that also contains the test images, such as users' tags of images that experts have
annotated with concepts.
"""

import numpy as np

from vsebench.core.errors import UserError
from vsebench.data.needs import GIVEN_LABELS
from vsebench.data.problem import Problem
from vsebench.methods.base import Control, Settings
from vsebench.models import Embeddings


class GivenLabels(Control):
    """One factor per given label, which is 1 for the label and for the images that it was given to."""

    needs = frozenset({GIVEN_LABELS.key})
    ranks_unseen = True

    def __init__(self, problem: Problem, settings: Settings) -> None:
        super().__init__(problem, settings)
        self.given = GIVEN_LABELS.of(problem)
        if not self.given.n_pairs:
            raise UserError(
                "given_labels: no id of a test image is that of an image with labels in the training data set; leave "
                "this method out under `protocol_methods`"
            )

    def model(self) -> Embeddings:
        labels, factor = np.unique(self.given.label_of_pair, return_inverse=True)
        images = np.zeros((self.given.n_rows, len(labels)), dtype=np.float32)
        images[self.given.image_of_pair, factor] = 1
        vectors = np.zeros((self.given.n_labels, len(labels)), dtype=np.float32)
        vectors[labels, np.arange(len(labels))] = 1
        return Embeddings(images, vectors)


METHOD = GivenLabels
