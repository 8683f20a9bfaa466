"""Losses of networks on image features, such as cross-entropies, that are not sums over pairs of labels.

f_k is the score of label k; y_k is 1 if the image has label k, else 0.
"""

import numpy as np
from pydantic import Field

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.exponentials import zlpr_loss
from vsebench.kernels.losses.label_losses import asymmetric_loss, binary_loss, softmax_loss
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with


class AsymmetricSettings(NetworkSettings):
    """Settings of a network with the asymmetric loss."""

    focus_positives: float = Field(default=0.0, ge=0)  # g; larger values give likely positives a smaller weight
    focus_negatives: float = Field(default=4.0, ge=0)  # h; larger values give unlikely negatives a smaller weight
    margin: float = Field(default=0.05, ge=0, lt=1)  # the loss of negatives with a probability below this margin is 0


class SoftmaxSettings(NetworkSettings):
    """Settings of a network with the softmax loss."""

    averaged: bool = True  # whether the sum over an image's labels is divided by their number


class Bce(Loss):
    """Binary cross-entropy, the loss of logistic regression.

    The loss of an image is the sum over all labels k of log(1 + exp(f_k)) - y_k f_k. Here, f_k is the score of label k,
    and y_k is 1 if the image has label k, else 0. The last layer's intercepts start at the log odds of the labels'
    frequencies. None of the papers that this project reproduces has this baseline.
    """

    def prepare(self) -> None:
        labels = self.table.labels
        frequency = np.bincount(labels.label_of_pair, minlength=self.n_labels) + 0.5
        self.intercepts = np.log(frequency / (labels.n_rows + 1 - frequency))

    def __call__(self, scores: Matrix, images: Images) -> float:
        return float(binary_loss(scores, images, *self.lists))


class Asymmetric(Bce):
    """The asymmetric loss: binary cross-entropy with less weight on labels that are predicted well.

        positives   -(1 - p)^g log p
        negatives   -q^h log(1 - q),   q = max(0, p - margin)

    p is the label's probability: the sigmoid of its score. g, h and margin are the settings `focus_positives`,
    `focus_negatives` and `margin`. With g = h and without a margin, this is the focal loss. None of the papers that
    this project reproduces includes these two losses.

    Sources: Ridnik and others, "Asymmetric loss for multi-label classification", ICCV 2021; Lin, Goyal, Girshick, He
    and Dollar, "Focal loss for dense object detection", ICCV 2017.
    """

    settings_type = AsymmetricSettings

    def __call__(self, scores: Matrix, images: Images) -> float:
        settings = self.settings
        exponents = settings.focus_positives, settings.focus_negatives
        return float(asymmetric_loss(scores, images, *self.lists, *exponents, settings.margin))


class NetworkSoftmax(Loss):
    """Softmax regression: the mean, or the sum, of -log softmax(f)_u over the labels u of an image.

    f are the scores of all labels for the image. With the setting `averaged`, the loss is the mean; without it, the
    sum.

    Sources: Gong and others, "Deep convolutional ranking for multilabel image annotation", 2013, Eq. 2, use the mean.
    Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 29, use the sum.
    """

    settings_type = SoftmaxSettings

    def __call__(self, scores: Matrix, images: Images) -> float:
        return float(softmax_loss(scores, images, *self.lists, self.settings.averaged))


class Zlpr(Loss):
    """ZLPR, a loss that separates the scores of positives and negatives at 0.

        L = log(1 + sum over the negatives v of exp(f_v)) + log(1 + sum over the positives u of exp(-f_u))

    f_k is the score of label k. Training moves the scores of positives above 0 and those of negatives below 0, so
    labels with scores above 0 are predicted.

    Source: Su and others, "ZLPR: a novel loss for multi-label classification", 2022. None of the papers that this
    project reproduces has this loss.
    """

    def __call__(self, scores: Matrix, images: Images) -> float:
        return float(zlpr_loss(scores, images, *self.lists, self.scratch))


METHODS = {
    "bce": network_with(Bce),
    "asymmetric": network_with(Asymmetric),
    "network_softmax": network_with(NetworkSoftmax),
    "zlpr": network_with(Zlpr),
}
