"""What methods share that train a network on image features; they differ by their loss alone.

Hidden layers with rectified units and dropout after each, batches of images in a new order each epoch, and AdamW.
Weights begin as He and others propose, the last layer's at a tenth of that, intercepts at 0. Sources: He, Zhang, Ren
and Sun, "Delving deep into rectifiers", ICCV 2015; Srivastava and others, "Dropout", JMLR 15, 2014.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.chunks import even_chunks
from vsebench.features import Rows
from vsebench.kernels.adamw import adamw_step
from vsebench.kernels.vectors import LANES, aligned, padded_size
from vsebench.methods.base import Method, Progress
from vsebench.methods.network import Network
from vsebench.methods.seen import FeatureSettings, see
from vsebench.problem import Matrix, Problem
from vsebench.streams import Stream, generator

LAST_LAYER = 0.1  # its start, as a share of the other layers'


class NetworkSettings(FeatureSettings):
    """Settings of a network."""

    # Units of each hidden layer; without one the network is a linear map.
    hidden: tuple[Annotated[int, Field(ge=1)], ...] = Field(default=(), strict=False)
    learning_rate: float = Field(gt=0)
    decay: float = Field(default=1e-4, ge=0)  # of the weights, not of the intercepts
    dropout: float = Field(default=0.0, ge=0, lt=1)  # the share of hidden units that are left out of a batch
    batch: int = Field(default=100, ge=1)  # images

    @model_validator(mode="after")
    def _units_to_drop(self) -> "NetworkSettings":
        if self.dropout and not self.hidden:
            raise PydanticCustomError("dropout", "dropout: a network without a hidden layer has no units to drop")
        return self


@dataclass(frozen=True)
class Parameter:
    """An array that is learnt, its gradient, and what AdamW remembers of it.

    Attributes
    ----------
    value, gradient : the same shape, float32; views of the first numbers of `flat`
    flat : (4, size) float32: values, gradients, means and squares, padded with zeros
    decay : of the value
    """

    value: Matrix
    gradient: Matrix
    flat: Matrix
    decay: float

    @classmethod
    def of(cls, start: NDArray[np.floating], decay: float) -> "Parameter":
        """Return a parameter that begins at `start`."""
        flat = aligned(4, padded_size(start.size))
        value, gradient = (flat[row, : start.size].reshape(start.shape) for row in (0, 1))
        value[...] = start
        return cls(value, gradient, flat, decay)

    def step(self, number: int, learning_rate: float) -> None:
        """Take AdamW's step, `number` from 1."""
        adamw_step(*self.flat, number, learning_rate, self.decay)


class NetworkMethod(Method):
    """A network; a method names its loss. Images without features are left out."""

    needs = frozenset({"features"})
    settings_type = NetworkSettings

    def __init__(self, problem: Problem, settings: NetworkSettings) -> None:
        self.settings = settings
        self.seen = see(problem, settings)
        labels = self.seen.labels
        self.offsets = labels.offsets
        self.labels = np.concatenate([labels.label_of_pair, np.zeros(LANES, dtype=np.int32)])  # kernels read beyond
        self.order, self.dropout = (generator(problem.seed, stream) for stream in (Stream.ORDER, Stream.DROPOUT))
        self.n_steps = 0
        start = generator(problem.seed, Stream.START)
        sizes = [int(self.seen.rows.shape[1]), *settings.hidden, labels.n_labels]
        scales = [np.sqrt(2 / inputs) for inputs in sizes[:-1]]
        scales[-1] *= LAST_LAYER
        self.weights = [
            Parameter.of(scale * start.standard_normal((inputs, units), dtype=np.float32), settings.decay)
            for scale, inputs, units in zip(scales, sizes[:-1], sizes[1:], strict=True)
        ]
        self.intercepts = [Parameter.of(np.zeros(units), 0.0) for units in sizes[1:]]

    @abstractmethod
    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        """Return the sum of the losses of some images; write its derivatives over their scores, (m, n_labels)."""

    def epoch(self) -> Progress:
        """Go once over the images, in a new order."""
        n_images = self.seen.labels.n_rows
        order = self.order.permutation(n_images)
        batches = even_chunks(n_images, self.settings.batch)
        total = sum(self.step(order[start:stop]) for start, stop in batches)
        return Progress(total / n_images)

    def step(self, images: NDArray[np.int64]) -> float:
        """Take a step on the mean loss of some images, and return the sum."""
        layers: list[Rows] = [self.seen.rows[images]]
        for weights, intercepts in zip(self.weights[:-1], self.intercepts[:-1], strict=True):
            units = layers[-1] @ weights.value
            units += intercepts.value
            np.maximum(units, 0, out=units)
            layers.append(self.drop(units))
        slope = layers[-1] @ self.weights[-1].value
        slope += self.intercepts[-1].value
        total = self.loss(slope, images)
        slope /= len(images)
        for layer in reversed(range(len(layers))):
            self.weights[layer].gradient[...] = layers[layer].T @ slope
            self.intercepts[layer].gradient[...] = slope.sum(axis=0)
            if layer:
                slope = slope @ self.weights[layer].value.T
                # A unit that is 0 passes nothing on: it was dropped, or its input was below 0.
                slope *= (layers[layer] > 0) / np.float32(1 - self.settings.dropout)
        self.n_steps += 1
        for parameter in (*self.weights, *self.intercepts):
            parameter.step(self.n_steps, self.settings.learning_rate)
        return total

    def drop(self, units: Matrix) -> Matrix:
        """Set a random share of the units to 0 and scale the others, so that sums stay the same on average."""
        if self.settings.dropout:
            kept = self.dropout.random(units.shape, dtype=np.float32) >= self.settings.dropout
            units *= kept / np.float32(1 - self.settings.dropout)
        return units

    def model(self) -> Network:
        layers = [
            np.vstack([weights.value, intercepts.value])
            for weights, intercepts in zip(self.weights, self.intercepts, strict=True)
        ]
        return Network(layers[:-1], np.ascontiguousarray(layers[-1].T), self.seen.normalisation)
