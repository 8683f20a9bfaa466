"""The ranking hinge on image features: max(0, 1 + f_v - f_u) over all pairs of a positive u and a negative v.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 6. With
`weighted`, each pair is multiplied by a weight of its positive's true rank, as the authors' code does for WARP.
"""

import numpy as np
from numpy.typing import NDArray

from vsebench.data.problem import Matrix, Problem
from vsebench.kernels.losses.pair_hinge import hinge_loss
from vsebench.kernels.rank_loss import rank_losses
from vsebench.methods.networks.training import NetworkMethod, NetworkSettings


class HingeSettings(NetworkSettings):
    """Settings of a network with the hinge over pairs."""

    # Whether a pair is multiplied by 1 + 1/2 + ... + 1/r, r the rank of its positive among all labels.
    weighted: bool = False


class RankingHinge(NetworkMethod):
    """A network with the hinge over pairs."""

    settings_type = HingeSettings
    settings: HingeSettings

    def __init__(self, problem: Problem, settings: HingeSettings) -> None:
        super().__init__(problem, settings)
        self.rank_loss = rank_losses(self.seen.labels.n_labels)
        self.slopes = np.empty(self.seen.labels.n_labels)

    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        weighted = self.settings.weighted
        return float(hinge_loss(scores, images, self.offsets, self.labels, self.rank_loss, weighted, self.slopes))


METHOD = RankingHinge
