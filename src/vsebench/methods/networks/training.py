"""The training of networks on image features: each epoch visits all images in a new order, in batches.

`network_with` makes a method from a loss. The class of the loss names the class of the method's settings. If the
network's outputs are not scores of labels, the class of the loss also names the subclass of `LabelTable` that says how
scores are computed from the outputs. The network itself is in `layers.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vsebench.data.features import Normalisation
from vsebench.data.problem import LabelMatrix, Matrix, Problem
from vsebench.data.streams import Stream, generator
from vsebench.kernels.rank_loss import rank_losses
from vsebench.kernels.vectors import LANES
from vsebench.methods.base import Method, Progress, Settings, Size
from vsebench.methods.by_features.seen import NormaliseSettings, see
from vsebench.methods.networks.layers import Layers, LayerSettings, batches, weights_memory
from vsebench.methods.networks.network import Network
from vsebench.models import Model

Images = NDArray[np.int64]


class NetworkSettings(NormaliseSettings, Settings, LayerSettings):
    """Settings of a network; losses may have further settings."""


class PairSettings(NetworkSettings):
    """Settings of a network with a loss over pairs of a positive and a negative label."""

    # Whether a pair of a positive and a negative has the weight 1 + 1/2 + ... + 1/r, where r is the positive's rank
    # among all labels.
    weighted: bool = False


class LabelTable:
    """The labels that a network learns; `model` turns the trained network into a model that scores labels.

    In this base class, every output is the score of a label.

    Attributes
    ----------
    needs, ranks_unseen, gives : as in `Fitter`, for methods with this table
    n_outputs : number of the network's outputs
    labels : the labels to learn for each image, numbered from 0
    lists
        The same labels in the kernels' format: a pair of arrays, offsets (n + 1,) int64 and labels int32. The labels of
        image i are labels[offsets[i]:offsets[i + 1]], in ascending order. The array of labels ends with LANES unused
        numbers.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"features"})
    ranks_unseen: ClassVar[bool] = False
    gives: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, problem: Problem, settings: Any, labels: LabelMatrix) -> None:
        self.labels, self.n_outputs = labels, labels.n_labels
        self.lists = labels.offsets, np.concatenate([labels.label_of_pair, np.zeros(LANES, dtype=np.int32)])

    def start_epoch(self) -> None:
        """Prepare for the next epoch."""

    def model(self, hidden: Sequence[Matrix], last: Matrix, normalisation: Normalisation) -> Model:
        """Return a model with the given layers, (inputs + 1, units) each; a layer's last row has its intercepts."""
        return Network(hidden, np.ascontiguousarray(last.T), normalisation)


class Loss(ABC):
    """The loss with which a network is trained.

    Attributes
    ----------
    settings_type, table_type : the classes of the method's settings and of its table of labels
    settings, seed : the settings and the seed of the method
    table : an instance of `table_type`; if it has label vectors, these can be trained too
    lists : the labels to learn for each image, in the format of `LabelTable.lists`
    n_labels : number of different labels to learn
    scratch : (n_labels,) float64, scratch memory of kernels for one image
    intercepts : initial intercepts of the last layer
    """

    settings_type: ClassVar[type[Settings]] = NetworkSettings
    table_type: ClassVar[type[LabelTable]] = LabelTable
    intercepts: NDArray[np.float64] | float = 0.0

    def __init__(self, table: Any, settings: Any, seed: int) -> None:
        self.table, self.settings, self.seed = table, settings, seed
        self.lists, self.n_labels = table.lists, table.labels.n_labels
        self.scratch = np.empty(self.n_labels)
        self.prepare()

    def prepare(self) -> None:  # noqa: B027
        """Compute what the loss needs besides its settings; by default, nothing."""

    @cached_property
    def rank_loss(self) -> NDArray[np.float64]:
        """The loss of each rank from 0 to n_labels, (n_labels + 1,) float64; see `rank_losses`."""
        return rank_losses(self.n_labels)

    @abstractmethod
    def __call__(self, outputs: Matrix, images: Images) -> float:
        """Return the sum of the losses of a batch of m images.

        `outputs`, (m, n_outputs), are the network's outputs for the batch. They are overwritten with the derivatives of
        the sum with respect to the outputs. `images`, (m,), are the images' numbers in `lists`.
        """

    def trials(self) -> float | None:
        """Return the mean number of negatives examined per positive since the last call, or None if not counted."""
        return None


class NetworkMethod(Method):
    """A network that is trained with a loss; images without features are left out of training."""

    loss_type: ClassVar[type[Loss]]

    def __init__(self, problem: Problem, settings: Any) -> None:
        self.settings, self.seen = settings, see(problem, settings)
        self.table = self.loss_type.table_type(problem, settings, self.seen.labels)
        self.loss = self.loss_type(self.table, settings, problem.seed)
        streams = Stream.START, Stream.ORDER, Stream.DROPOUT
        start, self.order, dropout = (generator(problem.seed, stream) for stream in streams)
        sizes = [int(self.seen.rows.shape[1]), *settings.hidden, self.table.n_outputs]
        self.layers = Layers(sizes, settings, start, dropout)
        self.layers.intercepts[-1].value[...] = self.loss.intercepts

    @classmethod
    def least_memory(cls, size: Size, settings: Any) -> int:
        sizes = [size.features, *settings.hidden]
        if cls.loss_type.table_type is LabelTable:  # with another table, the number of outputs can differ
            sizes.append(size.labels)
        return weights_memory(sizes)

    def epoch(self) -> Progress:
        """Train once on every image, in a new random order."""
        n_images = self.seen.labels.n_rows
        self.table.start_epoch()
        total = sum(map(self.step, batches(n_images, self.settings.batch, self.order)))
        return Progress(total / n_images, self.loss.trials())

    def step(self, images: Images) -> float:
        """Take a step on the mean loss of a batch, and return the sum of the losses of the batch's images."""
        return self.layers.step(self.seen.rows[images], lambda outputs: self.loss(outputs, images))

    def model(self) -> Model:
        *hidden, last = self.layers.arrays()
        return self.table.model(hidden, last, self.seen.normalisation)


def network_with(loss: type[Loss]) -> type[NetworkMethod]:
    """Return the method that trains a network with a loss; the method has the name and module of the loss."""
    table = loss.table_type
    attributes = {
        "__doc__": loss.__doc__,
        "__module__": loss.__module__,
        "loss_type": loss,
        "settings_type": loss.settings_type,
        "needs": table.needs,
        "ranks_unseen": table.ranks_unseen,
        "gives": table.gives | ({"trials"} if loss.trials is not Loss.trials else set()),
    }
    return type(loss.__name__, (NetworkMethod,), attributes)
