"""WSABIE's model, trained by the margin loss for AUC: one uniform negative a step, weight 1.

The loss is the sum of max(0, 1 - f_p(x) + f_n(x)) over an image's labels p and the labels n that it does not carry.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, section 3 and the rows "Embedding, AUC" of table 5.
"""

from vsebench.kernels.warp import Trials
from vsebench.methods.from_features import one_trial
from vsebench.methods.wsabie import Wsabie


class WsabieAuc(Wsabie):
    """WSABIE's model with the margin loss for AUC. A negative that keeps the margin changes nothing."""

    def new_trials(self, n_labels: int) -> Trials:
        return one_trial(n_labels)


METHOD = WsabieAuc
