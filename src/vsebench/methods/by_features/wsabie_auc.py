"""WSABIE's model, trained by the margin loss for AUC: one uniform negative per step, with weight 1.

The loss is the sum of max(0, 1 - f_p(x) + f_n(x)) over an image's labels p and the labels n that it does not carry.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, the rows "Embedding, AUC" of table 5.
"""

from vsebench.data.problem import Problem
from vsebench.kernels.sgd.warp import one_trial
from vsebench.methods.base import Progress
from vsebench.methods.by_features.embedding_sgd import EmbeddingMethod, EmbeddingSettings


class WsabieAuc(EmbeddingMethod):
    """WSABIE's model with the margin loss for AUC. A negative that does not violate the margin changes nothing."""

    def __init__(self, problem: Problem, settings: EmbeddingSettings) -> None:
        super().__init__(problem, settings)
        self.trials = one_trial(self.seen.labels.n_labels)

    def epoch(self) -> Progress:
        return self.ranking_epoch(self.trials)


METHOD = WsabieAuc
