"""Softmax regression on image features as the loss of a network: -log softmax(f)_u for every label u of an image.

Sources: Gong and others, "Deep convolutional ranking for multilabel image annotation", 2013, Eq. 2, with the mean over
an image's labels (`averaged`); Li, Song and Luo, "Improving pairwise ranking for multi-label image classification",
CVPR 2017, Eq. 29, print the sum.
"""

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.cross_entropy import softmax_loss
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with


class SoftmaxSettings(NetworkSettings):
    """Settings of a network with the softmax loss."""

    averaged: bool = True  # whether an image's sum is divided by its number of labels


class NetworkSoftmax(Loss):
    """The cross-entropy with the uniform distribution over an image's labels."""

    settings_type = SoftmaxSettings

    def __call__(self, scores: Matrix, images: Images) -> float:
        return float(softmax_loss(scores, images, *self.lists, self.settings.averaged))


METHOD = network_with(NetworkSoftmax)
