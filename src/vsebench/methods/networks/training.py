"""What methods share that train a network on image features; they differ by their loss alone.

Batches of images in a new order each epoch, and AdamW; `layers` has the network.
"""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from vsebench.data.problem import Matrix, Problem
from vsebench.data.streams import Stream, generator
from vsebench.kernels.vectors import LANES
from vsebench.methods.base import Method, Progress
from vsebench.methods.by_features.seen import FeatureSettings, see
from vsebench.methods.networks.layers import Layers, LayerSettings, batches
from vsebench.methods.networks.network import Network


class NetworkSettings(FeatureSettings, LayerSettings):
    """Settings of a network."""


class NetworkTraining(Method):
    """The training of a network, whatever its outputs are; a method names its loss.

    Images without features are left out.
    """

    needs = frozenset({"features"})
    settings_type = NetworkSettings

    def __init__(self, problem: Problem, settings: NetworkSettings) -> None:
        self.settings = settings
        self.seen = see(problem, settings)
        labels = self.seen.labels
        self.offsets = labels.offsets
        self.labels = np.concatenate([labels.label_of_pair, np.zeros(LANES, dtype=np.int32)])  # kernels read beyond
        start, self.order, dropout = (
            generator(problem.seed, stream) for stream in (Stream.START, Stream.ORDER, Stream.DROPOUT)
        )
        self.layers = Layers(
            [int(self.seen.rows.shape[1]), *settings.hidden, self.n_outputs(labels.n_labels)], settings, start, dropout
        )

    @abstractmethod
    def n_outputs(self, n_labels: int) -> int:
        """Return the number of the last layer's outputs."""

    @abstractmethod
    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        """Return the sum of the losses of some images; write its derivatives over their outputs, (m, n_outputs)."""

    def epoch(self) -> Progress:
        """Go once over the images, in a new order."""
        n_images = self.seen.labels.n_rows
        return Progress(sum(map(self.step, batches(n_images, self.settings.batch, self.order))) / n_images)

    def step(self, images: NDArray[np.int64]) -> float:
        """Take a step on the mean loss of some images, and return the sum."""
        return self.layers.step(self.seen.rows[images], lambda scores: self.loss(scores, images))


class NetworkMethod(NetworkTraining):
    """A network whose outputs are the labels' scores."""

    def n_outputs(self, n_labels: int) -> int:
        """Return the number of scores."""
        return n_labels

    def model(self) -> Network:
        *hidden, last = self.layers.arrays()
        return Network(hidden, np.ascontiguousarray(last.T), self.seen.normalisation)
