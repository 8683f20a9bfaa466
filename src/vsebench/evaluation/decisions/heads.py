"""The network of decisions that are trained on the image vectors of a fitted model, which stays unchanged.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, section 3.3; the
inputs in the authors' code are the same vectors (of the last hidden layer), the scores, or both.
"""

from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.data.problem import Matrix
from vsebench.data.streams import Stream, generator
from vsebench.evaluation.decisions.base import DecisionSettings, Scored
from vsebench.methods.networks.layers import Layers, LayerSettings, batches, units_after


class HeadSettings(DecisionSettings, LayerSettings):
    """Settings of the network and of early stopping."""

    hidden: tuple[Annotated[int, Field(ge=1)], ...] = Field(default=(100, 10), strict=False)
    learning_rate: float = Field(default=1e-3, gt=0)
    epochs: int = Field(default=40, ge=1)  # maximum
    patience: int = Field(default=5, ge=1)  # training stops after this many epochs without a better validation value
    # Outputs of the fitted model that the network reads; `zeros` are as many numbers as `vectors`, all of them 0, so
    # that its outputs are the same for all images.
    inputs: Literal["vectors", "scores", "both", "zeros"] = "vectors"


class Head:
    """A network on image vectors."""

    def __init__(self, settings: HeadSettings, hidden: tuple[int, ...], seed: int) -> None:
        self.settings, self.hidden, self.seed = settings, hidden, seed

    def train(
        self,
        first: Scored,
        n_outputs: int,
        loss: Callable[[Matrix, NDArray[np.int64]], float],
        value: Callable[[], float],
    ) -> int:
        """Train, keep the network of the best epoch, and return the number of this epoch.

        Parameters
        ----------
        loss : returns the summed loss of images, given their outputs (m, n_outputs) and numbers (m,), and overwrites
            the outputs with the derivatives of the loss
        value : returns the current value on the validation images; larger is better
        """
        inputs = self.inputs(first)
        start, order, dropout = (
            generator(self.seed, stream) for stream in (Stream.HEAD_START, Stream.HEAD_ORDER, Stream.HEAD_DROPOUT)
        )
        network = Layers([inputs.shape[1], *self.hidden, n_outputs], self.settings, start, dropout)
        best, best_epoch, kept = -np.inf, 0, network.arrays()
        for epoch in range(1, self.settings.epochs + 1):
            for images in batches(len(inputs), self.settings.batch, order):
                network.step(inputs[images], lambda outputs, images=images: loss(outputs, images))  # type: ignore[misc]
            self.layers = network.arrays()
            current = value()
            if current > best:
                best, best_epoch, kept = current, epoch, self.layers
            elif epoch - best_epoch >= self.settings.patience:
                break
        self.layers = kept
        return best_epoch

    def outputs(self, images: Scored) -> Matrix:
        """Return the outputs of the network, (n, n_outputs) float32."""
        *hidden, last = self.layers
        return np.asarray(units_after(self.inputs(images), hidden) @ last[:-1] + last[-1])

    def inputs(self, images: Scored) -> Matrix:
        """Return the inputs of the network, (n, d) float32."""
        if self.settings.inputs == "zeros":
            return np.zeros_like(images.vectors)
        read = {"vectors": [images.vectors], "scores": [images.scores], "both": [images.vectors, images.scores]}
        return np.hstack(read[self.settings.inputs])
