"""WARP on image features as the loss of a network: negatives are drawn for each positive until one violates the margin.

Sources: Weston, Bengio and Usunier, "WSABIE: scaling up to large vocabulary image annotation", IJCAI 2011; Gong and
others, "Deep convolutional ranking for multilabel image annotation", 2013, Eq. 4.
"""

from vsebench.data.problem import Matrix
from vsebench.data.streams import Stream
from vsebench.kernels.losses.trial_hinge import trial_hinge_loss
from vsebench.kernels.random_numbers import new_state
from vsebench.methods.networks.training import Images, Loss, network_with


class NetworkWarp(Loss):
    """The WARP loss, which also counts its trials."""

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


METHOD = network_with(NetworkWarp)
