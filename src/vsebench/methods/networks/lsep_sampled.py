"""LSEP on image features over a sample of each image's pairs, drawn anew at every visit.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 9. The log
of a sampled sum is smaller than that of the whole one; `scaled` corrects the sum's size, which the paper does not.
"""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.data.problem import Matrix, Problem
from vsebench.data.streams import Stream
from vsebench.kernels.losses.lsep_sampled import lsep_sampled_loss
from vsebench.kernels.random_numbers import new_state
from vsebench.methods.networks.training import NetworkMethod, NetworkSettings


class SampledSettings(NetworkSettings):
    """Settings of a network with the LSEP loss over a sample of pairs."""

    pairs: int = Field(default=1000, ge=1)  # of an image, at most; t in Eq. 9
    scaled: bool = False  # whether the sum is scaled to all pairs


class LsepSampled(NetworkMethod):
    """A network with the LSEP loss over a sample of pairs."""

    settings_type = SampledSettings
    settings: SampledSettings

    def __init__(self, problem: Problem, settings: SampledSettings) -> None:
        super().__init__(problem, settings)
        n_labels, n_right = self.seen.labels.n_labels, self.seen.labels.n_labels_of_row
        self.ids = np.empty(int((n_right * (n_labels - n_right)).max()), dtype=np.int32)
        self.negatives, self.slopes = np.empty(n_labels, dtype=np.int32), np.empty(n_labels)
        self.rng = new_state(problem.seed, Stream.NEGATIVES)

    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        return float(
            lsep_sampled_loss(
                scores, images, self.offsets, self.labels, self.settings.pairs, self.settings.scaled, self.ids,
                self.negatives, self.slopes, self.rng,
            )
        )  # fmt: skip


METHOD = LsepSampled
