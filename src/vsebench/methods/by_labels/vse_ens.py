"""VSE-ens: the hinge loss on highly ranked negatives, drawn from lists of all labels, each sorted by one factor.

Source: Guo, Zhai, Yuan, Liu and Wang, "VSE-ens: Visual-Semantic Embeddings with Efficient Negative Sampling",
Eq. 5 to 9 and Algorithm 1. The paper leaves some choices open. Here lambda is inside the exponent of Eq. 5 and is given
as a share of the number of labels |A|; the lists are sorted before the first draw and again after every `sort_every`
|A| ln |A| steps; and if a positive is drawn, the draw is repeated.
"""

import math

import numpy as np
from pydantic import Field

from vsebench.data.chunks import even_chunks
from vsebench.data.problem import Problem
from vsebench.kernels.sgd.sorted_lists import SortedLists, refresh_lists
from vsebench.kernels.sgd.vse_ens import new_draws, vse_ens_epoch
from vsebench.kernels.vectors import LANES, aligned
from vsebench.methods.base import Progress
from vsebench.methods.by_labels.sgd import SgdMethod, SgdSettings

ENOUGH_LABELS = 1000  # number of labels; with fewer, sorting is faster on one thread


class VseEnsSettings(SgdSettings):
    """Settings of VSE-ens."""

    rank_scale: float = Field(gt=0)  # lambda / |A|: rank r is drawn with a probability proportional to exp(-r / lambda)
    sort_every: float = Field(default=1.0, gt=0)  # the lists are sorted again after `sort_every` |A| ln |A| steps


class VseEns(SgdMethod):
    """VSE-ens."""

    settings_type = VseEnsSettings
    settings: VseEnsSettings

    def __init__(self, problem: Problem, settings: VseEnsSettings) -> None:
        train = problem.training.labels
        super().__init__(problem, settings)
        smallest = np.uint16 if train.n_labels <= 1 << 16 else np.int32  # small, so that the lists stay in the cache
        order = np.empty((settings.factors, train.n_labels), dtype=smallest)
        self.lists = SortedLists(order, aligned(self.labels.shape[1]))
        self.draws = new_draws(self.labels.shape[1])
        self.list_life = max(1, int(settings.sort_every * train.n_labels * math.log(train.n_labels)))
        self.steps_left = 0

    def epoch(self) -> Progress:
        loss = 0.0
        done = 0
        while done < self.steps:
            if self.steps_left == 0:
                self._refresh_lists()
                self.steps_left = self.list_life
            steps = min(self.steps_left, self.steps - done)
            loss += vse_ens_epoch(
                self.embedding, self.pipeline, self.lists, self.draws, steps,
                self.settings.rank_scale * self.train.n_labels, self.rates, self.rng,
            )  # fmt: skip
            done += steps
            self.steps_left -= steps
        return Progress(loss / self.steps, trials=1.0)  # a step uses the first negative that it draws

    def _refresh_lists(self) -> None:
        def work(start: int, stop: int) -> None:
            refresh_lists(start, stop, self.labels, self.lists)

        n_labels, n_factors = self.labels.shape
        if n_labels < ENOUGH_LABELS:
            work(0, n_factors)
        else:
            self.workers.run(work, even_chunks(n_factors, LANES))


METHODS = {"vse_ens": VseEns}
