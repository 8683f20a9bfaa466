"""Decisions by a small network that is trained on a fitted model's image vectors or scores.

The fitted model itself does not change. Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image
classification", CVPR 2017, section 3.3. In the authors' code, too, the network reads image vectors (of the last hidden
layer), scores, or both.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from scipy.special import expit

from vsebench.data.problem import Mask, Matrix
from vsebench.data.streams import Stream, generator
from vsebench.evaluation.decisions.base import Decision, DecisionSettings, Labelled, Scored, ThresholdDecision
from vsebench.evaluation.ranking import ranks_from_zero
from vsebench.methods.networks.layers import Layers, LayerSettings, batches, units_after


class HeadSettings(DecisionSettings, LayerSettings):
    """Settings of the network and of early stopping."""

    hidden: tuple[Annotated[int, Field(ge=1)], ...] = Field(default=(100, 10), strict=False)
    learning_rate: float = Field(default=1e-3, gt=0)
    epochs: int = Field(default=240, ge=1)  # maximum number of epochs
    patience: int = Field(default=8, ge=1)  # training stops after this many epochs without a better validation value
    # Which outputs of the fitted model the network reads; `zeros`: the vectors with all numbers replaced by 0, so that
    # the network's outputs are the same for all images.
    inputs: Literal["vectors", "scores", "both", "zeros"] = "vectors"


class Head:
    """A network that reads a fitted model's image vectors, its scores, or both."""

    def __init__(self, settings: HeadSettings, hidden: tuple[int, ...], seed: int) -> None:
        self.settings, self.hidden, self.seed = settings, hidden, seed

    def train(
        self,
        first: Scored,
        n_outputs: int,
        loss: Callable[[Matrix, NDArray[np.int64]], float],
        value: Callable[[], float],
    ) -> dict[str, Any]:
        """Train the network, keep its parameters from the best epoch, and return a record of the training.

        The record contains the best epoch (`epoch`), the limit on epochs (`limit`), and whether training may have ended
        too early (`at_limit`): it reached the limit while the validation value might still have improved.

        Parameters
        ----------
        loss : returns the summed loss of m images, given the network's outputs for them, (m, n_outputs), and their row
            numbers, (m,). The function overwrites the outputs with the derivatives of the loss.
        value : returns the validation value of the network with its current parameters; larger is better
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
        at_limit = epoch - best_epoch < self.settings.patience
        return {"epoch": best_epoch, "limit": self.settings.epochs, "at_limit": at_limit}

    def outputs(self, images: Scored) -> Matrix:
        """Return the outputs of the network, as a float32 array of shape (n, n_outputs)."""
        *hidden, last = self.layers
        return np.asarray(units_after(self.inputs(images), hidden) @ last[:-1] + last[-1])

    def inputs(self, images: Scored) -> Matrix:
        """Return the inputs of the network, as a float32 array with one row per image."""
        if self.settings.inputs == "zeros":
            return np.zeros_like(images.vectors)
        read = {"vectors": [images.vectors], "scores": [images.scores], "both": [images.vectors, images.scores]}
        return np.hstack(read[self.settings.inputs])


class LabelCountSettings(HeadSettings):
    # smallest number of labels to predict; none: 0 if a training image has no label, otherwise 1
    smallest: int | None = Field(default=None, ge=0)
    # largest number of labels to predict; none: the 99.5 % quantile of the training images' numbers of labels
    largest: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _in_order(self) -> "LabelCountSettings":
        if self.smallest is not None and self.largest is not None and self.smallest > self.largest:
            raise PydanticCustomError("order", "smallest: must not be larger than `largest`")
        return self


class LabelCount(Decision):
    """The first k labels of an image's list, where k is the number that the network finds most probable.

    The network's output is a softmax over the numbers of labels from `smallest` to `largest`. This range is 1 to 4 in
    the paper (Li, Song and Luo, CVPR 2017). In training, true numbers outside the range are clipped to it. The epoch is
    chosen by the mean absolute error of the predicted number of labels on the validation images.
    """

    settings_type = LabelCountSettings
    trains = True

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        settings, counts = self.settings, first.right.sum(axis=1)
        self.smallest = min(1, int(counts.min())) if settings.smallest is None else settings.smallest
        largest = int(np.percentile(counts, 99.5, method="higher")) if settings.largest is None else settings.largest
        self.largest = max(self.smallest, largest)
        classes = np.clip(counts, self.smallest, self.largest) - self.smallest
        right = valid.right.sum(axis=1)
        self.head = Head(settings, settings.hidden, self.tuning.seed)

        def loss(outputs: Matrix, images: NDArray[np.int64]) -> float:
            outputs -= outputs.max(axis=1, keepdims=True)
            own = np.arange(len(images)), classes[images]
            log_share = outputs[own] - np.log(np.exp(outputs).sum(axis=1))
            np.exp(outputs, out=outputs)
            outputs /= outputs.sum(axis=1, keepdims=True)
            outputs[own] -= 1
            return float(-log_share.sum())

        n_classes = self.largest - self.smallest + 1
        trained = self.head.train(first, n_classes, loss, lambda: -float(np.abs(self.counts(valid) - right).mean()))
        return {"smallest": self.smallest, "largest": self.largest} | trained

    def counts(self, images: Scored) -> NDArray[np.int64]:
        """Return the predicted number of labels of each image, as an array of shape (n,)."""
        return np.asarray(self.head.outputs(images).argmax(axis=1) + self.smallest)

    def decide(self, images: Scored) -> Mask:
        return ranks_from_zero(images.scores) < self.counts(images)[:, np.newaxis]


class ClassThresholdSettings(HeadSettings):
    # Size of each hidden layer in multiples of the number of labels, as in the authors' code; replaces `hidden`.
    hidden_per_label: tuple[Annotated[int, Field(ge=1)], ...] | None = Field(default=None, strict=False)


class ClassThreshold(ThresholdDecision):
    """The labels that score above a threshold, which the network predicts for each image and label.

    Let f_k(x) be the fitted model's score of the label k for the image x, and t_k(x) the threshold. y_k is 1 if the
    image has the label and 0 if not. The loss of the image is

        L = -sum over labels k of [y_k log s_k + (1 - y_k) log(1 - s_k)],   s_k = sigmoid(f_k(x) - t_k(x))

    These are Eqs. 15 and 16 of Li, Song and Luo (CVPR 2017) with a correction: here, the minus sign and the label index
    apply to both terms. The epoch is chosen by the metric for which the decision is tuned.
    """

    settings_type = ClassThresholdSettings
    tunes = True
    trains = True

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        settings, n_labels = self.settings, first.scores.shape[1]
        sizes = settings.hidden_per_label
        hidden = settings.hidden if sizes is None else tuple(size * n_labels for size in sizes)
        self.head = Head(settings, hidden, self.tuning.seed)

        def loss(outputs: Matrix, images: NDArray[np.int64]) -> float:
            logits = first.scores[images] - outputs
            right = first.right[images]
            outputs[...] = right - expit(logits)
            return float(np.logaddexp(0, np.where(right, -logits, logits)).sum())

        trained = self.head.train(first, n_labels, loss, lambda: self.tuning.value(self.decide(valid), valid.right))
        return {"hidden": list(hidden)} | trained

    def thresholds(self, images: Scored) -> Matrix:
        return self.head.outputs(images)


DECISIONS = {"label_count": LabelCount, "class_threshold": ClassThreshold}
