"""WARP as WSABIE defines it: random trials up to the first violator, the hinge weighted by the estimated rank.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Algorithm 1 and Eq. 5 with alpha_j = 1/j. WSABIE keeps rows inside a ball (`maximum_norm`), the VSE papers shrink them
instead (`regularisation`). Where an image has several labels, negatives are the labels that it does not carry, and
Y - 1 is their number.
"""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.kernels.warp import warp_epoch
from vsebench.methods.base import Progress
from vsebench.methods.sgd import SgdMethod, SgdSettings
from vsebench.problem import Problem


class WarpSettings(SgdSettings):
    """Settings of WARP."""

    trials: int | None = Field(ge=1)  # most trials of a step; none: as many as there are negatives
    maximum_norm: float = Field(ge=0)  # C in Eq. 2 and 3; 0: no limit


class Warp(SgdMethod):
    """WARP. A step without a violator inside the cap changes nothing."""

    settings_type = WarpSettings
    settings: WarpSettings

    def __init__(self, problem: Problem, settings: WarpSettings) -> None:
        train = problem.training.labels
        super().__init__(problem, settings)
        self.max_trials = settings.trials or train.n_labels
        self.rank_loss = rank_losses(train.n_labels)

    def epoch(self) -> Progress:
        loss, trials = warp_epoch(
            self.embedding, self.positives, self.rank_loss, self.steps, self.max_trials, self.rates,
            self.settings.maximum_norm, self.rng,
        )  # fmt: skip
        return Progress(loss, trials)


def rank_losses(n_labels: int) -> NDArray[np.float64]:
    """Return L(k) = 1 + 1/2 + ... + 1/k for k from 0 to n_labels."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n_labels + 1))])


METHOD = Warp
