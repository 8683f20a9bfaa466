"""WSABIE's model and loss with the exact rank: a step scores all labels and moves all violators of the margin.

    k = number of negatives n with f_n(x) > f_p(x) - 1,   weight of each of these violators: L(k) / k

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, the baseline OWPC-SGD of figure 2. It is SGD on the paper's own loss; in the original OWPC
the weight of a negative depends on the rank of that negative.
"""

import numpy as np

from vsebench.kernels.sgd.owpc import owpc_epoch
from vsebench.methods.base import Progress
from vsebench.methods.by_features.embedding_sgd import EmbeddingMethod


class OwpcSgd(EmbeddingMethod):
    """WSABIE's model, trained by gradient steps with the exact rank of the positive."""

    def epoch(self) -> Progress:
        violators = np.empty(self.seen.labels.n_labels, dtype=np.int32)
        report = owpc_epoch(
            self.maps, self.rows, self.positives, self.trials.rank_loss, violators, self.steps,
            self.settings.learning_rate, self.settings.maximum_norm, self.rng,
        )  # fmt: skip
        return Progress(*report)


METHOD = OwpcSgd
