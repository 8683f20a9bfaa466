"""Losses on all labels, for networks whose scores are inner products with fixed or trained word vectors.

s_il = <f(x_i), v_l> is the score of label l for image i, where f(x_i) are the network's outputs for the features x_i,
and v_l is the label's vector.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content".
"""

from typing import Literal

import numpy as np

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.label_losses import binary_loss
from vsebench.kernels.losses.pair_losses import pair_logistic_loss
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with
from vsebench.methods.words.label_tables import JointSettings, JointVectors, no_cosines_with
from vsebench.methods.words.word_vectors import WordSettings


class Fast0TagSettings(JointSettings, NetworkSettings, WordSettings):
    """Settings of the logistic loss on all pairs of a positive and a negative label."""


class XEntSettings(JointSettings, NetworkSettings, WordSettings):
    """Settings of the cross-entropy over all labels."""

    # What is added to a label's score: nothing, or the logarithm of the share of training images that have the label.
    offset: Literal["none", "frequency"] = "none"

    _no_offset_of_cosines = no_cosines_with("offset")


class XEnt(Loss):
    """X-Ent: the binary cross-entropy of all labels, Eq. S1 and S2.

        L_i = - sum over the image's labels l of log sig(s_il) - sum over all other labels of log sig(-s_il),
        s_il = <f(x_i), v_l> + o_l,   o_l = 0, or log(c_l / n) with `offset: frequency`

    L_i is the loss of image i, and sig is the sigmoid; the module defines f(x_i) and v_l. n is the number of training
    images, and c_l is the number of those with label l. With `joint`, the vectors v_l are trained too, and the method
    is Opt+X-Ent. Without constraints on the scores, the minimum is at s_il = log(p / (1 - p)). Here, p = P(l in Y | x)
    is the probability that l is one of the image's labels Y. Labels are therefore ranked by probability. The offset o_l
    is our addition: without it, the network needs several epochs just to learn that most labels are rare.
    """

    settings_type = XEntSettings
    table_type = JointVectors

    def prepare(self) -> None:
        if self.settings.offset == "frequency":
            self.table.added = np.log(self.table.frequency() / self.table.labels.n_rows)

    def __call__(self, outputs: Matrix, images: Images) -> float:
        scores = self.table.scores(outputs)
        total = binary_loss(scores, images, *self.lists)
        self.table.step(scores, outputs)
        return float(total)


class Fast0Tag(Loss):
    """Fast0Tag: the logistic loss on all pairs of a positive and a negative label.

        L_i = 1 / (n_i (L - n_i)) sum over the image's labels p and all other labels n of log(1 + exp(s_in - s_ip))

    L_i is the loss of image i, and the module defines the scores s_il. n_i is the number of the image's labels, and L
    is the number of all labels. The time to compute L_i grows with the number of pairs, n_i (L - n_i). In the papers,
    the label vectors are fixed. Training them too (`joint`) is our addition.

    Source: Zhang, Gong and Shah, "Fast zero-shot image tagging", CVPR 2016, Eq. 6. Ni and others print the loss as Eq.
    3, without the factor 1 / (n_i (L - n_i)).
    """

    settings_type = Fast0TagSettings
    table_type = JointVectors

    def prepare(self) -> None:
        self.more_scratch = np.empty((2, self.n_labels))

    def __call__(self, outputs: Matrix, images: Images) -> float:
        scores = self.table.scores(outputs)
        total = pair_logistic_loss(scores, images, *self.lists, *self.more_scratch, self.scratch)
        self.table.step(scores, outputs)
        return float(total)


METHODS = {"x_ent": network_with(XEnt), "fast0tag": network_with(Fast0Tag)}
