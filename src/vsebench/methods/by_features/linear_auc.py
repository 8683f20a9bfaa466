"""The margin loss for AUC with a linear model, f_c(x) = <w_c, x>: one uniform negative per step, with weight 1.

w_c starts at 0, and norms are not limited.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, the rows "Linear, AUC" of table 5.
"""

from vsebench.data.problem import Problem
from vsebench.kernels.sgd.warp import one_trial
from vsebench.methods.base import Progress
from vsebench.methods.by_features.linear_sgd import LinearMethod, LinearSettings


class LinearAuc(LinearMethod):
    """The margin loss for AUC with a linear model. A negative that does not violate the margin changes nothing."""

    settings_type = LinearSettings

    def __init__(self, problem: Problem, settings: LinearSettings) -> None:
        super().__init__(problem, settings)
        self.trials, self.learning_rate = one_trial(self.seen.labels.n_labels), settings.learning_rate

    def epoch(self) -> Progress:
        return self.ranking_epoch(self.trials, self.learning_rate)


METHOD = LinearAuc
