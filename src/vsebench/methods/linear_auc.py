"""The margin loss for AUC with a linear model, f_c(x) = <w_c, x>, from w_c = 0: one uniform negative a step, weight 1.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, the rows "Linear, AUC" of table 5. Norms are not limited.
"""

from vsebench.kernels.warp import Trials
from vsebench.methods.from_features import one_trial
from vsebench.methods.linear_warp import LinearWarp


class LinearAuc(LinearWarp):
    """The margin loss for AUC with a linear model. A negative that keeps the margin changes nothing."""

    def new_trials(self, n_labels: int) -> Trials:
        return one_trial(n_labels)


METHOD = LinearAuc
