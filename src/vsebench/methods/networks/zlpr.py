"""ZLPR on image features: log(1 + sum of exp(f_v)) + log(1 + sum of exp(-f_u)), u the positives, v the negatives.

Positives are pushed above 0 and negatives below it, so "score above 0" decides which labels an image carries.

Source: Su and others, "ZLPR: a novel loss for multi-label classification", 2022; a baseline that is in none of the
papers.
"""

import numpy as np
from numpy.typing import NDArray

from vsebench.data.problem import Matrix, Problem
from vsebench.kernels.losses.zlpr import zlpr_loss
from vsebench.methods.networks.training import NetworkMethod, NetworkSettings


class Zlpr(NetworkMethod):
    """A network with the ZLPR loss."""

    def __init__(self, problem: Problem, settings: NetworkSettings) -> None:
        super().__init__(problem, settings)
        self.terms = np.empty(self.seen.labels.n_labels)

    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        return float(zlpr_loss(scores, images, self.offsets, self.labels, self.terms))


METHOD = Zlpr
