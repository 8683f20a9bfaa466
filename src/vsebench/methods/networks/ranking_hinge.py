"""The ranking hinge on image features: max(0, 1 + f_v - f_u) over all pairs of a positive u and a negative v.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 6. With
`weighted`, a pair has a weight that depends on its positive's true rank, as in the authors' code for WARP.
"""

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.pairs import hinge_loss
from vsebench.methods.networks.training import Images, Loss, PairSettings, network_with


class RankingHinge(Loss):
    """The hinge over all pairs."""

    settings_type = PairSettings

    def __call__(self, scores: Matrix, images: Images) -> float:
        weighted = self.settings.weighted
        return float(hinge_loss(scores, images, *self.lists, self.rank_loss, weighted, self.scratch))


METHOD = network_with(RankingHinge)
