"""SLIM: each label is predicted from a few other labels of the image, with non-negative weights.

Let x_c be column c of the binary label matrix X. Column c of the weights W is the vector w that minimises

    1/2 |x_c - X w|^2 + l2/2 |w|^2 + l1 |w|_1   over w >= 0 with w_c = 0.

Source: Ning and Karypis, "SLIM: sparse linear methods for top-N recommender systems", ICDM 2011; l1 is the
paper's lambda and l2 its beta. The kernel finds w by coordinate descent. For each pair of labels, it only needs the
number of images that have both.
"""

import numpy as np
from pydantic import Field

from vsebench.data.chunks import even_chunks
from vsebench.kernels.cooccurrence import count_together
from vsebench.kernels.elastic_net import elastic_net_columns
from vsebench.methods.base import Control, Settings, Size, Solved
from vsebench.models import LabelWeights

TOLERANCE = 1e-6  # sweeps end when no weight changes by more than this
MOST_SWEEPS = 1000
LABELS_PER_CHUNK = 16


class SlimSettings(Settings):
    """Settings of SLIM; the loss is a sum over images, so more images need proportionally larger penalties."""

    # The penalty on weights; the weight between two labels is 0 if at most this many images have both labels.
    l1: float = Field(ge=0)
    l2: float = Field(gt=0)  # the penalty on squared weights


class Slim(Control):
    """SLIM; a label counts once per image."""

    settings_type = SlimSettings
    needs = frozenset({"known_labels"})

    @classmethod
    def least_memory(cls, size: Size, settings: SlimSettings) -> int:
        return (8 + 4) * size.labels**2  # the co-occurrence counts, and the weights

    def model(self) -> LabelWeights:
        labels, settings = self.problem.training.labels, self.settings
        gram = count_together(labels.offsets, labels.label_of_pair, labels.n_labels)
        weight = np.zeros(gram.shape, dtype=np.float32)
        ends: list[tuple[int, float]] = []

        def work(start: int, stop: int) -> None:
            ends.append(
                elastic_net_columns(start, stop, gram, settings.l1, settings.l2, TOLERANCE, MOST_SWEEPS, weight)
            )

        self.problem.workers.run(work, even_chunks(labels.n_labels, LABELS_PER_CHUNK))
        sweeps, change = (max(values) for values in zip(*ends, strict=True))
        self.solved = Solved(change <= TOLERANCE, sweeps, change)
        return LabelWeights(weight)


METHODS = {"slim": Slim}
