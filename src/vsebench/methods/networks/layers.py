"""A network in training: its layers, their derivatives, and the optimiser.

Each hidden layer is followed by its activation function, by default the rectifier (ReLU), and then by dropout. Weights
are initialised as in He and others, but those of the last layer have a tenth of the scale. Intercepts start at 0,
except where the loss sets other values for the last layer.

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
    """Settings of a network's layers and training."""

    # Number of activations (units) of each hidden layer; a network without hidden layers is a linear map.
    hidden: tuple[Annotated[int, Field(ge=1)], ...] = Field(default=(), strict=False)
    # `adamw`, or `sgd` for stochastic gradient descent with a momentum of 0.9. For `sgd`, `decay` is an L2 penalty.
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
    value, gradient : float32 arrays of the same shape, views of the first two rows of `flat` without the padding
    flat : (4, size) float32. The rows contain the values, the gradients, the optimiser's means of gradients, and its
        means of squared gradients, each padded with zeros
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
    apply : overwrites the inputs of the function, float32, with the activations
    derivative : takes activations, and returns the derivatives of the function at the inputs that gave these
        activations
    """

    apply: Callable[[Matrix], Matrix]
    derivative: Callable[[Any], Any]


RECTIFIED = Activation(lambda units: np.maximum(units, 0, out=units), lambda units: units > 0)
# Only for networks without dropout: the derivative of a dropped activation would be 1.
TANH = Activation(lambda units: np.tanh(units, out=units), lambda units: 1 - units * units)


def weights_memory(sizes: Sequence[int]) -> int:
    """Return the memory, in bytes, that a network's weights take in training.

    `sizes` are the numbers of inputs, of activations of each hidden layer, and of outputs. The memory includes that of
    the gradients, of the optimiser's two means, and of the model's copy of the weights.
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
        """Draw the initial weights with the generator `start`; dropout uses the generator `dropout`.

        `sizes` are the numbers of inputs, of activations of each hidden layer, and of outputs.
        """
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
        loss : a function of the outputs, (m, n_outputs) float32. It returns the sum of the images' losses, and
            overwrites the outputs with the derivatives of this sum
        """
        layers, slope = self.forward(inputs)
        total = loss(slope)
        slope /= slope.shape[0]
        self.backward(layers, slope)
        self.move()
        return total

    def forward(self, inputs: Rows) -> tuple[list[Rows], Matrix]:
        """Compute the network's outputs for a batch.

        The first result is a list of the inputs and of the activations of each hidden layer. The second result is the
        outputs, (m, n_outputs).
        """
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
        """Compute the gradients, and return the derivatives of the loss with respect to the first layer's outputs.

        These are the outputs before the activation function is applied.

        layers : as returned by `forward`
        slope : (m, n_outputs), the derivatives of the loss with respect to the network's outputs
        """
        for layer in reversed(range(len(layers))):
            multiply(layers[layer].T, slope, self.weights[layer].gradient)
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
        """Set a random share of the activations to 0, and scale up the others to keep the expected sum."""
        if self.settings.dropout:
            kept = self.dropout.random(units.shape, dtype=np.float32) >= self.settings.dropout
            units *= kept / np.float32(1 - self.settings.dropout)
        return units

    def arrays(self) -> list[Matrix]:
        """Return copies of the layers, (inputs + 1, units) float32 each; the last row of a layer has its intercepts."""
        return [
            np.vstack([weights.value, intercepts.value])
            for weights, intercepts in zip(self.weights, self.intercepts, strict=True)
        ]


def multiply(left: Rows, right: Matrix, product: Matrix) -> None:
    """Write the product of two matrices to `product`; `left` can be sparse."""
    if isinstance(left, np.ndarray):
        np.matmul(left, right, out=product)  # without a copy, an epoch of a large network takes 7 % less time
    else:
        product[...] = left @ right


def batches(n_images: int, size: int, order: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Return the batches of an epoch, arrays of at most `size` image numbers each, in a new random order."""
    shuffled = order.permutation(n_images)
    return (shuffled[start:stop] for start, stop in even_chunks(n_images, size))


def units_after(inputs: Rows, layers: Sequence[Matrix]) -> Rows:
    """Return the activations of the last hidden layer, (n, units), without dropout.

    inputs : (n, d), dense or CSR; returned unchanged if there are no hidden layers
    layers : the hidden layers, (inputs + 1, units) each; the last row of a layer contains its intercepts
    """
    for layer in layers:
        inputs = np.maximum(inputs @ layer[:-1] + layer[-1], 0)
    return inputs
