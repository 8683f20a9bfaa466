"""A network in training: its layers, their derivatives, and the optimiser.

Hidden layers have rectified linear activations (ReLU), unless stated otherwise, and dropout follows each of them.
Weights are initialised as in He and others, with a tenth of the scale in the last layer; intercepts start at 0 unless
the loss sets other values.

Sources: He, Zhang, Ren and Sun, "Delving deep into rectifiers", ICCV 2015; Srivastava and others, "Dropout", JMLR 15,
2014.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.yaml_files import Strict
from vsebench.data.chunks import even_chunks
from vsebench.data.features import Rows
from vsebench.data.problem import Matrix
from vsebench.kernels.losses.optimisers import adamw_step, momentum_step
from vsebench.kernels.vectors import aligned, padded_size

Optimiser = Literal["adamw", "sgd"]

LAST_LAYER = 0.1  # scale of the last layer's initial weights, relative to the other layers


class LayerSettings(Strict):
    """Settings of a network's training."""

    # Number of activations (units) of each hidden layer; a network without hidden layers is a linear map.
    hidden: tuple[Annotated[int, Field(ge=1)], ...] = Field(default=(), strict=False)
    # `adamw`; or `sgd`: stochastic gradient descent with a momentum of 0.9, where `decay` acts as an L2 penalty
    optimiser: Optimiser = "adamw"
    learning_rate: float = Field(gt=0)  # the optimiser's learning rate, the same in all steps
    decay: float = Field(default=1e-4, ge=0)  # decay of weights and trained label vectors; intercepts do not decay
    dropout: float = Field(default=0.0, ge=0, lt=1)  # share of the hidden activations set to 0 in a step
    batch: int = Field(default=100, ge=1)  # number of images per step

    @model_validator(mode="after")
    def _units_to_drop(self) -> "LayerSettings":
        if self.dropout and not self.hidden:
            raise PydanticCustomError("dropout", "dropout: without hidden layers, nothing can be dropped; set it to 0")
        return self


@dataclass(frozen=True)
class Parameter:
    """A trained array, its gradient, and the optimiser's running means.

    Attributes
    ----------
    value, gradient : arrays of the same shape, float32; views of the first two rows of `flat` without the padding
    flat : (4, size) float32: values, gradients, and the optimiser's means of gradients and of their squares, padded
        with zeros
    decay : weight decay of the value
    optimiser : the optimiser that takes the steps; `sgd` does not use means of squares
    """

    value: Matrix
    gradient: Matrix
    flat: Matrix
    decay: float
    optimiser: Optimiser

    @classmethod
    def of(cls, start: NDArray[np.floating], decay: float, optimiser: Optimiser) -> "Parameter":
        """Return a parameter with the initial value `start`."""
        flat = aligned(4, padded_size(start.size))
        value, gradient = (flat[row, : start.size].reshape(start.shape) for row in (0, 1))
        value[...] = start
        return cls(value, gradient, flat, decay, optimiser)

    def step(self, number: int, learning_rate: float) -> None:
        """Take a step of the optimiser; `number` is the number of the step, counted from 1."""
        if self.optimiser == "adamw":
            adamw_step(*self.flat, number, learning_rate, self.decay)
        else:
            momentum_step(*self.flat[:3], learning_rate, self.decay)


@dataclass(frozen=True)
class Activation:
    """The activation function of a hidden layer.

    Attributes
    ----------
    apply : overwrites the function's inputs, float32, with the activations
    derivative : returns the derivatives with respect to these inputs, computed from the activations
    """

    apply: Callable[[Matrix], Matrix]
    derivative: Callable[[Any], Any]


RECTIFIED = Activation(lambda units: np.maximum(units, 0, out=units), lambda units: units > 0)
# Only for networks without dropout: the derivative of a dropped activation would be 1.
TANH = Activation(lambda units: np.tanh(units, out=units), lambda units: 1 - units * units)


def weights_memory(sizes: Sequence[int]) -> int:
    """Return the bytes that a network's weights take in training, from its numbers of inputs, activations and outputs.

    These include the gradients, the optimiser's two means, and the model's copy of the weights.
    """
    return 5 * 4 * sum(inputs * units for inputs, units in pairwise(sizes))


class Layers:
    """The layers of a network, with gradients and the optimiser's state."""

    def __init__(
        self,
        sizes: Sequence[int],
        settings: LayerSettings,
        start: np.random.Generator,
        dropout: np.random.Generator,
        activation: Activation = RECTIFIED,
    ) -> None:
        """Draw the initial weights; `sizes` are the numbers of inputs, activations of hidden layers, and outputs."""
        self.settings, self.dropout, self.activation = settings, dropout, activation
        self.n_steps = 0
        scales = [np.sqrt(2 / inputs) for inputs in sizes[:-1]]
        scales[-1] *= LAST_LAYER
        self.weights = [
            self.parameter(scale * start.standard_normal((inputs, units), dtype=np.float32), settings.decay)
            for scale, inputs, units in zip(scales, sizes[:-1], sizes[1:], strict=True)
        ]
        self.intercepts = [self.parameter(np.zeros(units), 0.0) for units in sizes[1:]]

    def parameter(self, start: NDArray[np.floating], decay: float) -> Parameter:
        return Parameter.of(start, decay, self.settings.optimiser)

    def step(self, inputs: Rows, loss: Callable[[Matrix], float]) -> float:
        """Take a step on the mean loss of a batch, and return the sum of the losses of the batch's images.

        Parameters
        ----------
        inputs : (m, d), dense or CSR
        loss : returns the sum of the images' losses for outputs (m, n_outputs) float32, which it overwrites with the
            derivatives
        """
        layers, slope = self.forward(inputs)
        total = loss(slope)
        slope /= slope.shape[0]
        self.backward(layers, slope)
        self.move()
        return total

    def forward(self, inputs: Rows) -> tuple[list[Rows], Matrix]:
        """Return a list of the inputs and the hidden layers' activations, and the outputs, (m, n_outputs)."""
        layers: list[Rows] = [inputs]
        for weights, intercepts in zip(self.weights[:-1], self.intercepts[:-1], strict=True):
            units = layers[-1] @ weights.value
            units += intercepts.value
            self.activation.apply(units)
            layers.append(self.drop(units))
        outputs = layers[-1] @ self.weights[-1].value
        outputs += self.intercepts[-1].value
        return layers, outputs

    def backward(self, layers: Sequence[Rows], slope: Matrix) -> Matrix:
        """Compute the gradients; return the derivatives with respect to the first layer's outputs, before activation.

        layers : as returned by `forward`; slope : (m, n_outputs), the loss's derivatives with respect to the outputs
        """
        for layer in reversed(range(len(layers))):
            self.weights[layer].gradient[...] = layers[layer].T @ slope
            self.intercepts[layer].gradient[...] = slope.sum(axis=0)
            if layer:
                slope = slope @ self.weights[layer].value.T
                # The derivative is 0 where an activation is 0: it was dropped, or its input was below 0.
                slope *= self.activation.derivative(layers[layer]) / np.float32(1 - self.settings.dropout)
        return slope

    def move(self) -> None:
        """Take a step of the optimiser with the current gradients."""
        self.n_steps += 1
        for parameter in (*self.weights, *self.intercepts):
            parameter.step(self.n_steps, self.settings.learning_rate)

    def drop(self, units: Matrix) -> Matrix:
        """Set a random share of the activations to 0, and scale the others to keep the expected sum."""
        if self.settings.dropout:
            kept = self.dropout.random(units.shape, dtype=np.float32) >= self.settings.dropout
            units *= kept / np.float32(1 - self.settings.dropout)
        return units

    def arrays(self) -> list[Matrix]:
        """Return copies of the layers, (inputs + 1, units) float32 each: weights and, as the last row, intercepts."""
        return [
            np.vstack([weights.value, intercepts.value])
            for weights, intercepts in zip(self.weights, self.intercepts, strict=True)
        ]


def batches(n_images: int, size: int, order: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Return the batches of an epoch, of at most `size` images each, in a new random order."""
    shuffled = order.permutation(n_images)
    return (shuffled[start:stop] for start, stop in even_chunks(n_images, size))


def units_after(inputs: Rows, layers: Sequence[Matrix]) -> Rows:
    """Return the activations of the last hidden layer, (n, units), without dropout.

    inputs : (n, d), dense or CSR; layers : weights and, as the last row, intercepts, (inputs + 1, units) each
    """
    for layer in layers:
        inputs = np.maximum(inputs @ layer[:-1] + layer[-1], 0)
    return inputs
