"""LSEP on image features: log(1 + sum of exp(f_v - f_u)) over an image's pairs of a positive u and a negative v.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 7, with all
pairs. `weighted` gives a pair the weight of its positive's rank (section 3.2).
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vsebench.data.problem import Matrix, Problem
from vsebench.kernels.losses.lsep import lsep_loss
from vsebench.kernels.rank_loss import rank_losses
from vsebench.methods.networks.training import NetworkMethod, NetworkSettings


class LsepSettings(NetworkSettings):
    """Settings of a network with the LSEP loss."""

    # Whether a pair is multiplied by 1 + 1/2 + ... + 1/r, r the rank of its positive among all labels.
    weighted: bool = False


class Lsep(NetworkMethod):
    """A network with the LSEP loss."""

    settings_type: ClassVar[type[NetworkSettings]] = LsepSettings
    settings: LsepSettings

    def __init__(self, problem: Problem, settings: LsepSettings) -> None:
        super().__init__(problem, settings)
        self.rank_loss = rank_losses(self.seen.labels.n_labels)
        self.terms = np.empty(self.seen.labels.n_labels)

    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        return float(
            lsep_loss(
                scores, images, self.offsets, self.labels, self.rank_loss, self.settings.weighted,
                self.terms,
            )
        )  # fmt: skip


METHOD = Lsep
