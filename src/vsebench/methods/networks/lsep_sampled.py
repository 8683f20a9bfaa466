"""LSEP on image features over a sample of each image's pairs, drawn anew in every epoch.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 9. The sum
over a sample is smaller than the sum over all pairs; `scaled` corrects for that, which the paper does not.
"""

import numpy as np
from pydantic import Field

from vsebench.data.problem import Matrix
from vsebench.data.streams import Stream
from vsebench.kernels.losses.lsep_sampled import lsep_sampled_loss
from vsebench.kernels.random_numbers import new_state
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with


class SampledSettings(NetworkSettings):
    """Settings of a network with the LSEP loss over a sample of pairs."""

    pairs: int = Field(default=1000, ge=1)  # maximum number of pairs per image, t in Eq. 9
    scaled: bool = False  # whether the sum over the sample is scaled up to all pairs


class LsepSampled(Loss):
    """The LSEP loss over a sample of pairs."""

    settings_type = SampledSettings

    def prepare(self) -> None:
        n_right = self.table.labels.n_labels_of_row
        self.ids = np.empty(int((n_right * (self.n_labels - n_right)).max()), dtype=np.int32)
        self.negatives = np.empty(self.n_labels, dtype=np.int32)
        self.rng = new_state(self.seed, Stream.NEGATIVES)

    def __call__(self, scores: Matrix, images: Images) -> float:
        pairs, scaled = self.settings.pairs, self.settings.scaled
        scratch = self.ids, self.negatives, self.scratch
        return float(lsep_sampled_loss(scores, images, *self.lists, pairs, scaled, *scratch, self.rng))


METHOD = network_with(LsepSampled)
