"""Binary cross-entropy on image features as the loss of a network: log(1 + exp(f_k)) - y_k f_k for every label k.

The last layer's intercepts start at the log odds of the labels' frequencies. The loss is that of logistic regression.
This baseline is in none of the papers.
"""

import numpy as np

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.cross_entropy import binary_loss
from vsebench.methods.networks.training import Images, Loss, network_with


class Bce(Loss):
    """The binary cross-entropy of all labels."""

    def prepare(self) -> None:
        labels = self.table.labels
        frequency = np.bincount(labels.label_of_pair, minlength=self.n_labels) + 0.5
        self.intercepts = np.log(frequency / (labels.n_rows + 1 - frequency))

    def __call__(self, scores: Matrix, images: Images) -> float:
        return float(binary_loss(scores, images, *self.lists))


METHOD = network_with(Bce)
