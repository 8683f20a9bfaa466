"""BP-MLL on image features: the sum of exp(f_v - f_u) over an image's pairs of a positive u and a negative v.

Sources: Zhang and Zhou, "Multilabel neural networks with applications to functional genomics and text categorization",
IEEE TKDE 18(10), 2006, Eq. 3, where an image's sum is divided by its number of pairs (`averaged`) and a hyperbolic
tangent is applied to the scores first (`bounded`); Li, Song and Luo, "Improving pairwise ranking for multi-label image
classification", CVPR 2017, Eq. 12, print the loss without either.
"""

import numpy as np

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.exponentials import bp_mll_loss
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with


class BpMllSettings(NetworkSettings):
    """Settings of a network with the BP-MLL loss."""

    averaged: bool = True  # whether an image's sum is divided by its number of pairs
    bounded: bool = False  # whether a hyperbolic tangent bounds scores to (-1, 1) in training, which changes no rank


class BpMll(Loss):
    """The BP-MLL loss over all pairs."""

    settings_type = BpMllSettings

    def __call__(self, scores: Matrix, images: Images) -> float:
        if self.settings.bounded:
            np.tanh(scores, out=scores)
            slope_of_tanh = 1 - scores * scores
        total = bp_mll_loss(scores, images, *self.lists, self.settings.averaged, self.scratch)
        if self.settings.bounded:
            scores *= slope_of_tanh
        return float(total)


METHOD = network_with(BpMll)
