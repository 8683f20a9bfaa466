"""WARP for a linear model, f_c(x) = <w_c, x>, from w_c = 0, without a limit on the norms.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, Algorithm 1 with alpha_j = 1/j and the rows "Linear, WARP" of table 5. The paper does not
say whether norms are constrained here. Negatives are the labels that the image does not carry, Y - 1 is their number.
"""

from pydantic import Field

from vsebench.kernels.linear_ranking import linear_epoch
from vsebench.kernels.warp import Trials, new_trials
from vsebench.methods.base import Progress
from vsebench.methods.from_features import FeatureSettings, LinearMethod
from vsebench.problem import Problem


class LinearSettings(FeatureSettings):
    """Settings of a linear model trained by gradient steps."""

    learning_rate: float = Field(gt=0)  # gamma, constant


class LinearWarp(LinearMethod):
    """WARP for a linear model. A step without a violator among its trials changes nothing."""

    settings_type = LinearSettings

    def __init__(self, problem: Problem, settings: LinearSettings) -> None:
        super().__init__(problem, settings)
        self.settings = settings
        self.trials = self.new_trials(self.seen.labels.n_labels)

    def new_trials(self, n_labels: int) -> Trials:
        """Return how negatives are tried, and how steps are weighted."""
        return new_trials(n_labels, None)

    def epoch(self) -> Progress:
        loss, trials = linear_epoch(
            self.weights, self.rows, self.positives, self.trials, self.steps, self.settings.learning_rate, self.rng
        )
        return Progress(loss, trials)


METHOD = LinearWarp
