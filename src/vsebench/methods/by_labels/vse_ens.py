"""VSE-ens: the hinge loss on highly ranked negatives, which are drawn from lists of labels.

There is one list per factor: all labels, sorted by this factor of their vectors.

Source: Guo, Zhai, Yuan, Liu and Wang, "VSE-ens: Visual-Semantic Embeddings with Efficient Negative Sampling",
Eq. 5 to 9 and Algorithm 1. The paper leaves some choices open. Here, lambda is inside the exponent of Eq. 5, and it is
given as a share of the number of labels |A|. The lists are sorted before the first draw, and again after every
`sort_every` |A| ln |A| steps. If a positive is drawn, the draw is repeated. If the labels are divided into parts, each
list contains the labels of one part, and |A| is their number.
"""

import math
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from vsebench.data.chunks import even_chunks
from vsebench.data.problem import Matrix, Problem
from vsebench.kernels.products import Embedding
from vsebench.kernels.sgd.pipeline import Pipeline
from vsebench.kernels.sgd.sampling import Streams
from vsebench.kernels.sgd.sorted_lists import SortedLists, refresh_lists
from vsebench.kernels.sgd.vse_ens import Draws, new_draws, vse_ens_epoch
from vsebench.kernels.vectors import LANES, aligned
from vsebench.methods.by_labels.strata import InParts, PartsSettings

ENOUGH_LABELS = 1000  # number of labels; with fewer, sorting is faster on one thread


class VseEnsSettings(PartsSettings):
    """Settings of VSE-ens."""

    rank_scale: float = Field(
        gt=0, le=1e6
    )  # lambda divided by the number of labels; rank r is drawn with a probability proportional to exp(-r / lambda)
    # The lists of labels are sorted again after every `sort_every` |A| ln |A| steps; |A| is the number of labels.
    sort_every: float = Field(default=1.0, gt=0)


@dataclass
class Lists:
    """Sorted lists of all labels, or of a part's labels, and the number of steps before they are sorted again."""

    sorted: SortedLists
    draws: Draws
    steps_left: int = 0

    @classmethod
    def of(cls, labels: Matrix, factors: int) -> "Lists":
        """Return new lists, not yet sorted, of the labels whose vectors are the rows of `labels`."""
        smallest = np.uint16 if len(labels) <= 1 << 16 else np.int32  # small, so that the lists stay in the cache
        order = np.empty((factors, len(labels)), dtype=smallest)
        return cls(SortedLists(order, aligned(labels.shape[1])), new_draws(labels.shape[1]))


class VseEns(InParts):
    """VSE-ens: the hinge loss on negatives that are drawn from sorted lists of the labels."""

    settings_type = VseEnsSettings
    settings: VseEnsSettings

    def __init__(self, problem: Problem, settings: VseEnsSettings) -> None:
        super().__init__(problem, settings)
        self.lists = Lists.of(self.labels, settings.factors)

    def take_steps(self, embedding: Embedding, pipeline: Pipeline, steps: int, streams: Streams) -> tuple[float, float]:
        lists = self.lists if embedding is self.embedding else Lists.of(embedding.labels, self.settings.factors)
        n_labels = len(embedding.labels)
        loss = 0.0
        done = 0
        while done < steps:
            if lists.steps_left == 0:
                self._refresh_lists(embedding.labels, lists.sorted)
                lists.steps_left = max(1, int(self.settings.sort_every * n_labels * math.log(n_labels)))
            next_steps = min(lists.steps_left, steps - done)
            loss += vse_ens_epoch(
                embedding, pipeline, lists.sorted, lists.draws, next_steps,
                self.settings.rank_scale * n_labels, self.rates, streams,
            )  # fmt: skip
            done += next_steps
            lists.steps_left -= next_steps
        return loss / steps, 1.0  # a step uses the first negative that it draws

    def _refresh_lists(self, labels: Matrix, lists: SortedLists) -> None:
        def work(start: int, stop: int) -> None:
            refresh_lists(start, stop, labels, lists)

        n_labels, n_factors = labels.shape
        if n_labels < ENOUGH_LABELS or self.strata:  # with parts, each thread sorts the lists of its own part
            work(0, n_factors)
        else:
            self.workers.run(work, even_chunks(n_factors, LANES))


METHODS = {"vse_ens": VseEns}
