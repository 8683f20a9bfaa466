"""LSEP on image features: log(1 + sum of exp(f_v - f_u)) over an image's pairs of a positive u and a negative v.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 7, with all
pairs. With `weighted`, a pair has a weight that depends on its positive's rank (section 3.2).
"""

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.lsep import lsep_loss
from vsebench.kernels.rank_loss import rank_losses
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with


class LsepSettings(NetworkSettings):
    """Settings of a network with the LSEP loss."""

    # Whether a pair is multiplied by 1 + 1/2 + ... + 1/r, r the rank of its positive among all labels.
    weighted: bool = False


class Lsep(Loss):
    """The LSEP loss over all pairs."""

    settings_type = LsepSettings

    def prepare(self) -> None:
        self.rank_loss = rank_losses(self.n_labels)

    def __call__(self, scores: Matrix, images: Images) -> float:
        weighted = self.settings.weighted
        return float(lsep_loss(scores, images, *self.lists, self.rank_loss, weighted, self.room))


METHOD = network_with(Lsep)
