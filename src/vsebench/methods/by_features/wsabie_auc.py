"""WSABIE's model, trained by the margin loss for AUC: one uniform negative per step, with weight 1.

The loss is the sum of max(0, 1 - f_p(x) + f_n(x)) over an image's labels p and the labels n that it does not carry.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, the rows "Embedding, AUC" of table 5.
"""

from vsebench.kernels.sgd.warp import one_trial
from vsebench.methods.by_features.embedding_sgd import EmbeddingMethod


class WsabieAuc(EmbeddingMethod):
    """WSABIE's model with the margin loss for AUC."""

    trials_of = staticmethod(one_trial)


METHOD = WsabieAuc
