"""Losses of networks on image features that compare the scores f_u and f_v of a positive u and a negative v.

A loss that names no other source is from Li, Song and Luo, "Improving pairwise ranking for multi-label image
classification", CVPR 2017. Numbers of equations and sections refer to this paper.
"""

import numpy as np
from pydantic import Field

from vsebench.data.problem import Matrix
from vsebench.data.streams import Stream
from vsebench.kernels.losses.exponentials import bp_mll_loss, lsep_loss
from vsebench.kernels.losses.pair_losses import hinge_loss, lsep_sampled_loss, trial_hinge_loss
from vsebench.kernels.random_numbers import new_state
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, PairSettings, network_with


class BpMllSettings(NetworkSettings):
    """Settings of a network with the BP-MLL loss."""

    averaged: bool = True  # whether the sum over an image's pairs is divided by their number
    bounded: bool = False  # whether tanh limits scores to (-1, 1) in training; models rank without tanh


class SampledSettings(NetworkSettings):
    """Settings of a network with the LSEP loss over a sample of pairs."""

    pairs: int = Field(default=1000, ge=1)  # maximum number of pairs per image, t in Eq. 9
    scaled: bool = False  # whether the sum is scaled up from the sample to all pairs


class Lsep(Loss):
    """LSEP: log(1 + sum of exp(f_v - f_u)), with a sum over all pairs of a positive u and a negative v.

    This is Eq. 7, where f_k is the score of label k. With `weighted`, the weight of a pair depends on the rank of u
    (section 3.2).
    """

    settings_type = PairSettings

    def __call__(self, scores: Matrix, images: Images) -> float:
        weighted = self.settings.weighted
        return float(lsep_loss(scores, images, *self.lists, self.rank_loss, weighted, self.scratch))


class LsepSampled(Loss):
    """LSEP over a sample of each image's pairs of a positive and a negative, drawn again in every epoch (Eq. 9).

    The sum over a sample is smaller than the sum over all pairs. The setting `scaled` corrects this, but the paper does
    not.
    """

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


class BpMll(Loss):
    """BP-MLL: the sum of exp(f_v - f_u) over all pairs of a positive u and a negative v.

    f_k is the score of label k. With `bounded`, a hyperbolic tangent is first applied to the scores. With `averaged`,
    the sum is divided by the number of the image's pairs. Without these two settings, the loss is Eq. 12.

    Source: Zhang and Zhou, "Multilabel neural networks with applications to functional genomics and text
    categorization", IEEE TKDE 18(10), 2006, Eq. 3, with both settings.
    """

    settings_type = BpMllSettings

    def __call__(self, scores: Matrix, images: Images) -> float:
        if self.settings.bounded:
            np.tanh(scores, out=scores)
            slope_of_tanh = 1 - scores * scores
        total = bp_mll_loss(scores, images, *self.lists, self.settings.averaged, self.scratch)
        if self.settings.bounded:
            scores *= slope_of_tanh
        return float(total)


class RankingHinge(Loss):
    """The ranking hinge: the sum of max(0, 1 + f_v - f_u) over all pairs of a positive u and a negative v.

    This is Eq. 6, where f_k is the score of label k. With `weighted`, the weight of a pair depends on the true rank of
    u, as in the authors' code for WARP.
    """

    settings_type = PairSettings

    def __call__(self, scores: Matrix, images: Images) -> float:
        weighted = self.settings.weighted
        return float(hinge_loss(scores, images, *self.lists, self.rank_loss, weighted, self.scratch))


class NetworkWarp(Loss):
    """WARP: for each positive, negatives are drawn until one violates the margin.

    A negative v violates the margin of a positive u if 1 + f_v > f_u, where f_k is the score of label k.

    Sources: Weston, Bengio and Usunier, "WSABIE: scaling up to large vocabulary image annotation", IJCAI 2011; Gong and
    others, "Deep convolutional ranking for multilabel image annotation", 2013, Eq. 4.
    """

    def prepare(self) -> None:
        self.rng = new_state(self.seed, Stream.NEGATIVES)
        self.n_trials = 0

    def __call__(self, scores: Matrix, images: Images) -> float:
        total, n_trials = trial_hinge_loss(scores, images, *self.lists, self.rank_loss, self.scratch, self.rng)
        self.n_trials += n_trials
        return float(total)

    def trials(self) -> float:
        n_trials, self.n_trials = self.n_trials, 0
        return n_trials / int(self.table.labels.n_pairs)


METHODS = {
    "lsep": network_with(Lsep),
    "lsep_sampled": network_with(LsepSampled),
    "bp_mll": network_with(BpMll),
    "ranking_hinge": network_with(RankingHinge),
    "network_warp": network_with(NetworkWarp),
}
