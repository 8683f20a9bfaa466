"""Binary cross-entropy on image features as the loss of a network: log(1 + exp(f_k)) - y_k f_k for every label k.

The last layer's intercepts begin at the log odds of the labels' frequencies. A baseline that is in none of the papers;
the loss is that of logistic regression.
"""

import numpy as np
from numpy.typing import NDArray

from vsebench.data.problem import Matrix, Problem
from vsebench.kernels.losses.cross_entropy import binary_loss
from vsebench.methods.networks.training import NetworkMethod, NetworkSettings


class Bce(NetworkMethod):
    """A network with the binary cross-entropy."""

    def __init__(self, problem: Problem, settings: NetworkSettings) -> None:
        super().__init__(problem, settings)
        labels = self.seen.labels
        carrying = np.bincount(labels.label_of_pair, minlength=labels.n_labels) + 0.5
        self.layers.intercepts[-1].value[...] = np.log(carrying / (labels.n_rows + 1 - carrying))

    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        return float(binary_loss(scores, images, self.offsets, self.labels))


METHOD = Bce
