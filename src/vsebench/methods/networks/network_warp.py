"""WARP on image features as the loss of a network: for each positive, trials look for a violator of the margin.

Sources: Weston, Bengio and Usunier, "WSABIE: scaling up to large vocabulary image annotation", IJCAI 2011; Gong and
others, "Deep convolutional ranking for multilabel image annotation", 2013, Eq. 4.
"""

import numpy as np
from numpy.typing import NDArray

from vsebench.data.problem import Matrix, Problem
from vsebench.data.streams import Stream
from vsebench.kernels.losses.trial_hinge import trial_hinge_loss
from vsebench.kernels.random_numbers import new_state
from vsebench.kernels.rank_loss import rank_losses
from vsebench.methods.base import Progress
from vsebench.methods.networks.training import NetworkMethod, NetworkSettings


class NetworkWarp(NetworkMethod):
    """A network with the WARP loss."""

    def __init__(self, problem: Problem, settings: NetworkSettings) -> None:
        super().__init__(problem, settings)
        self.rank_loss = rank_losses(self.seen.labels.n_labels)
        self.slopes = np.empty(self.seen.labels.n_labels)
        self.rng = new_state(problem.seed, Stream.NEGATIVES)
        self.n_trials = 0

    def epoch(self) -> Progress:
        self.n_trials = 0
        loss = super().epoch().loss
        return Progress(loss, self.n_trials / self.seen.labels.n_pairs)

    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        loss, n_trials = trial_hinge_loss(
            scores, images, self.offsets, self.labels, self.rank_loss, self.slopes, self.rng
        )
        self.n_trials += n_trials
        return float(loss)


METHOD = NetworkWarp
