"""WARP for a linear model, f_c(x) = <w_c, x>; w_c starts at 0, and norms are not limited.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, Algorithm 1 with alpha_j = 1/j and the rows "Linear, WARP" of table 5. The paper does not
state whether it limits norms here. Negatives are the labels that the image does not carry; Y - 1 is their number.
"""

from vsebench.data.problem import Problem
from vsebench.kernels.sgd.warp import new_trials
from vsebench.methods.base import Progress
from vsebench.methods.by_features.linear_sgd import LinearMethod, LinearSettings


class LinearWarp(LinearMethod):
    """WARP for a linear model. A step without a violator among its trials changes nothing."""

    settings_type = LinearSettings

    def __init__(self, problem: Problem, settings: LinearSettings) -> None:
        super().__init__(problem, settings)
        self.trials, self.learning_rate = new_trials(self.seen.labels.n_labels, None), settings.learning_rate

    def epoch(self) -> Progress:
        return self.ranking_epoch(self.trials, self.learning_rate)


METHOD = LinearWarp
