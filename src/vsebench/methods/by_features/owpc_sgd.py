"""WSABIE's model and loss with the exact rank: a step scores all labels and moves all violators of the margin.

    k = number of labels n that the image does not carry with f_n(x) > f_p(x) - 1,   weight of each of them: L(k) / k

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, the baseline OWPC-SGD of figure 2. It is SGD on the paper's own loss; in the original OWPC
the weight of a wrong label depends on that label's rank.
"""

import numpy as np

from vsebench.data.problem import Problem
from vsebench.kernels.sgd.owpc import owpc_epoch
from vsebench.kernels.sgd.warp import new_trials
from vsebench.methods.base import Progress
from vsebench.methods.by_features.embedding_sgd import EmbeddingMethod, EmbeddingSettings


class OwpcSgd(EmbeddingMethod):
    """WSABIE's model, trained by gradient steps with the exact rank of the positive."""

    def __init__(self, problem: Problem, settings: EmbeddingSettings) -> None:
        super().__init__(problem, settings)
        n_labels = self.seen.labels.n_labels
        self.rank_loss = new_trials(n_labels, None).rank_loss
        self.violators = np.zeros(n_labels, dtype=np.int32)

    def epoch(self) -> Progress:
        loss, trials = owpc_epoch(
            self.maps, self.rows, self.positives, self.rank_loss, self.violators, self.steps,
            self.settings.learning_rate, self.settings.maximum_norm, self.rng,
        )  # fmt: skip
        return Progress(loss, trials)


METHOD = OwpcSgd
