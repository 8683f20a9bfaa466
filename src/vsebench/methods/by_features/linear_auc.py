"""The margin loss for AUC with a linear model, f_c(x) = <w_c, x>: one uniform negative per step, with weight 1.

w_c starts at 0, and norms are not limited.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, the rows "Linear, AUC" of table 5.
"""

from vsebench.kernels.sgd.warp import one_trial
from vsebench.methods.by_features.linear_sgd import LinearMethod


class LinearAuc(LinearMethod):
    """The margin loss for AUC with a linear model."""

    trials_of = staticmethod(one_trial)


METHOD = LinearAuc
