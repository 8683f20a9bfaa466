"""WARP as WSABIE defines it: random trials up to the first violator, the hinge weighted by the estimated rank.

Source: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Algorithm 1 and Eq. 5 with alpha_j = 1/j. WSABIE keeps rows inside a ball (`maximum_norm`), the VSE papers shrink them
instead (`regularisation`). Where an image has several labels, negatives are the labels that it does not carry, and
Y - 1 is their number.
"""

import numpy as np
from pydantic import Field

from vsebench.kernels.lanes import aligned
from vsebench.kernels.pairwise import warp_epoch
from vsebench.methods.base import Progress
from vsebench.methods.sgd import SgdMethod, SgdSettings, with_biases
from vsebench.models import Embeddings
from vsebench.problem import Problem


class WarpSettings(SgdSettings):
    """Settings of WARP."""

    trials: int | None = Field(ge=1)  # most trials of a step; none: as many as there are negatives
    maximum_norm: float = Field(ge=0)  # C in Eq. 2 and 3; 0: no limit
    adaptive: bool = False  # as LightFM has it: a rate for each number (Adagrad), and a bias for each label


class Warp(SgdMethod):
    """WARP. A step without a violator inside the cap changes nothing."""

    settings_type = WarpSettings
    settings: WarpSettings

    def __init__(self, problem: Problem, settings: WarpSettings) -> None:
        train = problem.training.labels
        super().__init__(problem, settings)
        self.biases = aligned(train.n_labels)
        parameters = (self.images, self.labels, self.biases)
        shapes = [a.shape if settings.adaptive else (0, *a.shape[1:]) for a in parameters]
        self.squares = [aligned(*shape) for shape in shapes]
        for squares in self.squares:
            squares += 1  # as in LightFM: no rate is above the first one
        self.cap = settings.trials or train.n_labels
        self.rank_loss = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, train.n_labels + 1))])  # L(k)

    def epoch(self) -> Progress:
        loss, trials = warp_epoch(
            self.images, self.labels, self.biases, *self.squares, self.pairs, self.row_labels,
            self.rank_loss, self.steps, self.cap, self.settings.learning_rate, self.settings.regularisation,
            self.settings.maximum_norm, self.rng,
        )  # fmt: skip
        return Progress(loss, trials)

    def model(self) -> Embeddings:
        model = super().model()
        return with_biases(model, self.biases) if self.settings.adaptive else model


METHOD = Warp
