"""WARP as LightFM trains it, with Adagrad and a bias for each label: what the benchmarks compare with LightFM."""

from pydantic import Field

from vsebench.data.problem import Problem
from vsebench.kernels.sgd.adagrad import SquaredGradients
from vsebench.kernels.sgd.warp import new_trials
from vsebench.kernels.sgd.warp_adaptive import warp_adaptive_epoch
from vsebench.kernels.vectors import aligned
from vsebench.methods.base import Progress
from vsebench.methods.by_labels.sgd import SgdMethod, SgdSettings, with_biases
from vsebench.models import Embeddings


class WarpAdaptiveSettings(SgdSettings):
    """Settings of WARP with Adagrad and biases."""

    trials: int | None = Field(ge=1)  # maximum number of trials per step; `null`: the number of negatives


class WarpAdaptive(SgdMethod):
    """WARP with Adagrad and biases. A step without a violator among its trials changes nothing."""

    settings_type = WarpAdaptiveSettings
    settings: WarpAdaptiveSettings

    def __init__(self, problem: Problem, settings: WarpAdaptiveSettings) -> None:
        train = problem.training.labels
        super().__init__(problem, settings)
        self.biases = aligned(train.n_labels)
        self.squares = SquaredGradients(*(aligned(*a.shape) for a in (self.images, self.labels, self.biases)))
        for squares in self.squares:
            squares += 1  # as in LightFM: no learning rate is ever above eta
        self.trials = new_trials(train.n_labels, settings.trials)

    def epoch(self) -> Progress:
        loss, trials = warp_adaptive_epoch(
            self.embedding, self.biases, self.squares, self.pipeline, self.trials, self.steps, self.rates, self.rng,
        )  # fmt: skip
        return Progress(loss, trials)

    def model(self) -> Embeddings:
        return with_biases(super().model(), self.biases)


METHOD = WarpAdaptive
