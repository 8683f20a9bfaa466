"""MultVAE: a variational autoencoder of an image's labels with a multinomial likelihood.

    x       the image's row of the label matrix, scaled to unit length; training drops a share of the labels at random
    m, v    means and log variances of K latent variables, which a first network computes from x
    z       = m + exp(v / 2) e in training, with e drawn from N(0, I); z = m when scores are computed
    f(z)    the scores of all labels, from a second network

    loss    - sum over the image's labels u of log softmax(f)_u + weight / 2 sum over k of (m_k^2 + exp(v_k) - v_k - 1)

The hidden layers of both networks have tanh activations. The second network has hidden layers of the same sizes as the
first, in reverse order. The last term of the loss is the divergence from the prior. Its weight grows linearly from 0 to
the setting `divergence` during the first `annealing` epochs.

Source: Liang, Krishnan, Hoffman and Jebara, "Variational autoencoders for collaborative filtering", WWW 2018. Weights
are initialised and updated like those of the other networks (`methods.networks.layers`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import sparse

from vsebench.data.problem import LabelMatrix, Matrix, Problem, Queries
from vsebench.data.streams import Stream, generator
from vsebench.kernels.losses.label_losses import softmax_loss
from vsebench.methods.base import Method, Progress, Settings, Size
from vsebench.methods.networks.layers import TANH, Layers, LayerSettings, batches, weights_memory
from vsebench.models import LARGEST_SCORE, Embedded, ModelOfFields, check_matrix, norm


class MultVaeSettings(Settings, LayerSettings):
    """Settings of MultVAE; `dropout` is the share of an image's labels that are dropped."""

    # Number of activations (units) of each hidden layer of the first network.
    hidden: tuple[Annotated[int, Field(ge=1)], ...] = Field(default=(600,), min_length=1, strict=False)
    latent: int = Field(ge=1)  # K, the number of latent variables
    divergence: float = Field(ge=0)  # the largest weight of the divergence from the prior
    annealing: int = Field(ge=0)  # number of epochs in which the weight of the divergence grows to its largest value


class MultVae(Method):
    """MultVAE; a label counts once per image."""

    settings_type = MultVaeSettings
    needs = frozenset({"known_labels"})

    def __init__(self, problem: Problem, settings: MultVaeSettings) -> None:
        labels = problem.training.labels
        self.settings, self.inputs = settings, unit_rows(labels)
        self.lists = labels.offsets, labels.label_of_pair
        streams = Stream.START, Stream.ORDER, Stream.DROPOUT, Stream.LATENT
        start, self.order, self.dropout, self.noise = (generator(problem.seed, stream) for stream in streams)
        layers = settings.model_copy(update={"dropout": 0.0})  # labels are dropped, not activations
        sizes = [labels.n_labels, *settings.hidden]
        self.encoder = Layers([*sizes, 2 * settings.latent], layers, start, self.dropout, TANH)
        self.decoder = Layers([settings.latent, *reversed(sizes)], layers, start, self.dropout, TANH)
        self.n_epochs = 0

    @classmethod
    def least_memory(cls, size: Size, settings: MultVaeSettings) -> int:
        sizes = [size.labels, *settings.hidden]
        return weights_memory([*sizes, 2 * settings.latent]) + weights_memory([settings.latent, *reversed(sizes)])

    def epoch(self) -> Progress:
        """Train once on every image, in a new random order; the weight of the divergence is updated for each step."""
        n_images = self.inputs.shape[0]
        parts = list(batches(n_images, self.settings.batch, self.order))
        total = 0.0
        for number, images in enumerate(parts):
            done = (self.n_epochs + number / len(parts)) / max(self.settings.annealing, 1)
            total += self.step(images, self.settings.divergence * (min(done, 1.0) if self.settings.annealing else 1.0))
        self.n_epochs += 1
        return Progress(total / n_images)

    def step(self, images: NDArray[np.int64], weight: float) -> float:
        """Take a gradient step on the mean loss of the images `images`, and return the sum of their losses.

        `weight` is the weight of the divergence from the prior.
        """
        encoded, outputs = self.encoder.forward(self.dropped(self.inputs[images]))
        mean, log_variance = np.split(outputs, 2, axis=1)
        noise = np.exp(log_variance / 2) * self.noise.standard_normal(mean.shape, dtype=np.float32)
        decoded, slope = self.decoder.forward(mean + noise)
        total = float(softmax_loss(slope, images, *self.lists, False))
        total += weight / 2 * float((mean**2 + np.exp(log_variance) - log_variance - 1).sum())
        size = np.float32(len(images))
        slope /= size
        by_latent = self.decoder.backward(decoded, slope) @ self.decoder.weights[0].value.T
        share = np.float32(weight) / size
        by_log_variance = (by_latent * noise + share * (np.exp(log_variance) - 1)) / 2
        self.encoder.backward(encoded, np.hstack([by_latent + share * mean, by_log_variance]))
        self.encoder.move()
        self.decoder.move()
        return total

    def dropped(self, rows: sparse.csr_array) -> sparse.csr_array:
        """Drop labels at random from `rows`, in place, and return `rows`.

        The values of the other labels are scaled up, so that the expected sum of a row stays the same.
        """
        kept = self.dropout.random(rows.nnz, dtype=np.float32) >= self.settings.dropout
        rows.data *= kept / np.float32(1 - self.settings.dropout)
        return rows

    def model(self) -> "LabelAutoencoder":
        *hidden, last = self.encoder.arrays()
        *further, scores = self.decoder.arrays()
        means = np.ascontiguousarray(last[:, : self.settings.latent])
        return LabelAutoencoder([*hidden, means, *further], np.ascontiguousarray(scores.T))


@dataclass(frozen=True)
class LabelAutoencoder(ModelOfFields, Embedded):
    """Scores labels by a network whose input is the vector of the image's known labels, scaled to unit length.

    Attributes
    ----------
    hidden : one matrix per layer before the scores, (inputs + 1, units) float32: the layer's weights and, in the last
        row, its intercepts. The number of layers is odd. The middle layer computes the latent variables and is linear;
        all other layers have tanh as activation
    label : (n_labels, units + 1) float32: the weights of each label, and its intercept
    """

    kind: ClassVar[str] = "label_autoencoder"
    biased: ClassVar[bool] = True
    hidden: Sequence[Matrix]
    label: Matrix

    def __post_init__(self) -> None:
        check_matrix(self.label, "label", (None, None))
        if len(self.hidden) % 2 == 0:
            raise ValueError(f"hidden: {len(self.hidden)} layers, but their number must be odd")
        rows_after = [*(len(layer) for layer in self.hidden[1:]), self.label.shape[1]]
        for number, (layer, rows) in enumerate(zip(self.hidden, rows_after, strict=True)):
            check_matrix(layer, f"hidden{number}", (None if number else len(self.label) + 1, rows - 1))

    def vectors(self, queries: Queries) -> Matrix:
        units: Matrix = unit_rows(queries.known)
        for number, layer in enumerate(self.hidden):
            units = units @ layer[:-1] + layer[-1]
            if number != len(self.hidden) // 2:
                np.tanh(units, out=units)
        return np.hstack([units, np.ones((len(units), 1), dtype=np.float32)])

    def largest_score(self) -> float:
        if not np.prod([norm(layer) for layer in self.hidden]) < LARGEST_SCORE:
            return float("nan")
        return norm(self.label) * float(np.sqrt(self.label.shape[1]))  # activations are from -1 to 1


def unit_rows(labels: LabelMatrix) -> sparse.csr_array:
    """Return the labels of each image as a vector of unit length, in the rows of a CSR matrix.

    The matrix is float32, (n_rows, n_labels). The row of an image without labels is zero.
    """
    sizes = labels.n_labels_of_row
    values = np.repeat(1 / np.sqrt(np.maximum(sizes, 1)), sizes).astype(np.float32)
    shape = (labels.n_rows, labels.n_labels)
    return sparse.csr_array((values, labels.label_of_pair, labels.offsets), shape=shape, copy=True)


METHODS = {"mult_vae": MultVae}
MODELS = {"label_autoencoder": LabelAutoencoder}
