"""LSEP on image features: log(1 + sum of exp(f_v - f_u)) over an image's pairs of a positive u and a negative v.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 7, with all
pairs. With `weighted`, a pair has a weight that depends on its positive's rank (section 3.2).
"""

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.exponentials import lsep_loss
from vsebench.methods.networks.training import Images, Loss, PairSettings, network_with


class Lsep(Loss):
    """The LSEP loss over all pairs."""

    settings_type = PairSettings

    def __call__(self, scores: Matrix, images: Images) -> float:
        weighted = self.settings.weighted
        return float(lsep_loss(scores, images, *self.lists, self.rank_loss, weighted, self.scratch))


METHOD = network_with(Lsep)
