"""Softmax regression on image features as the loss of a network: -log softmax(f)_u for every label u of an image.

Sources: Gong and others, "Deep convolutional ranking for multilabel image annotation", 2013, Eq. 2, the mean over the
labels of an image (`averaged`); Li, Song and Luo, "Improving pairwise ranking for multi-label image classification",
CVPR 2017, Eq. 29, print the sum.
"""

import numpy as np
from numpy.typing import NDArray

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.cross_entropy import softmax_loss
from vsebench.methods.networks.training import NetworkMethod, NetworkSettings


class SoftmaxSettings(NetworkSettings):
    """Settings of a network with the softmax loss."""

    averaged: bool = True  # over an image's labels


class NetworkSoftmax(NetworkMethod):
    """A network with the softmax loss."""

    settings_type = SoftmaxSettings
    settings: SoftmaxSettings

    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        return float(softmax_loss(scores, images, self.offsets, self.labels, self.settings.averaged))


METHOD = NetworkSoftmax
