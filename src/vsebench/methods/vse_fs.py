"""VSE-fs: least squares over all (image, label) pairs by coordinate descent.

Source: Zhai, Guo, Yuan, Liu and Wang, "VSE-fs: Fast Full-Sample Visual Semantic Embedding", Eq. 1, 2 and Algorithm 1.
The updates are in `vsebench.kernels.full_sample`. With gamma = 0 every half-iteration lowers the loss; with gamma > 0
the image half does, and the label half lowers it with the extended embeddings P held still.
"""

from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.kernels.full_sample import LANES, positive_loss, refresh_images, sweep_images, sweep_labels
from vsebench.labels import LabelMatrix
from vsebench.methods.base import Embeddings, EpochReport, FactorSettings, Matrix, Method, normal_start
from vsebench.parallel import Chunks, Workers, even_chunks

IMAGES_A_CHUNK = 1024  # their embeddings stay in a core's cache over the blocks of factors
LABEL_CHUNKS = 64


class VseFsSettings(FactorSettings):
    """Settings of VSE-fs, in the paper's letters."""

    beta_0: float = Field(gt=0)  # total weight of the non-positive pairs of an image
    alpha: float = Field(ge=0)  # exponent of a label's popularity in its weight beta_c
    gamma: float = Field(ge=0)  # share of the positive labels' vectors in an image's vector
    regularisation: float = Field(ge=0)  # lambda
    weights: Literal["ones", "counts"]  # w_ic: 1, or how often the label is on the image
    deviation: float = Field(gt=0)  # of the normal distribution that embeddings start from


class Model(Method):
    """VSE-fs. One epoch is one iteration: all images, then all labels."""

    settings_type = VseFsSettings

    def __init__(self, train: LabelMatrix, settings: VseFsSettings, seed: int, workers: Workers) -> None:
        self.train, self.settings, self.workers = train, settings, workers
        rng = np.random.default_rng([seed, 1])
        padded = -(-settings.factors // LANES) * LANES  # added factors start at 0 and stay there
        self.images = np.zeros((train.n_images, padded), dtype=np.float32)
        self.labels = np.zeros((train.n_labels, padded), dtype=np.float32)
        self.images[:, : settings.factors] = normal_start(train.n_images, settings.factors, settings.deviation, rng)
        self.labels[:, : settings.factors] = normal_start(train.n_labels, settings.factors, settings.deviation, rng)
        self.users = np.empty_like(self.images)
        ones = settings.weights == "ones"
        self.weights = np.ones(train.n_pairs, np.float32) if ones else train.counts.astype(np.float32)
        self.beta = label_weights(train, settings.beta_0, settings.alpha)
        self.scores = np.empty(train.n_pairs, dtype=np.float32)
        self.degrees = np.diff(train.offsets).astype(np.float32)
        self.column_pairs = np.argsort(train.labels, kind="stable")
        self.column_images = train.images[self.column_pairs]
        self.column_offsets = np.zeros(train.n_labels + 1, dtype=np.int64)
        np.cumsum(np.bincount(train.labels, minlength=train.n_labels), out=self.column_offsets[1:])
        self.image_chunks = even_chunks(train.n_images, IMAGES_A_CHUNK)
        self.label_chunks = chunks_of_equal_work(self.column_offsets, LABEL_CHUNKS)
        self._refresh()

    def epoch(self) -> EpochReport:
        self._sweep_images()
        self._sweep_labels()
        self._refresh()
        return EpochReport(self._loss())

    def scorer(self) -> Embeddings:
        k = self.settings.factors
        return Embeddings(np.ascontiguousarray(self.users[:, :k]), np.ascontiguousarray(self.labels[:, :k]))

    def _refresh(self) -> None:
        """Bring u_i and the scores in line with the embeddings, once an epoch, so that no rounding piles up."""

        def task(start: int, stop: int) -> None:
            refresh_images(
                start, stop, self.users, self.images, self.labels, self.train.offsets, self.train.labels,
                np.float32(self.settings.gamma), self.scores,
            )  # fmt: skip

        self.workers.run(task, self.image_chunks)

    def _sweep_images(self) -> None:
        hessian = (self.labels * self.beta[:, None]).T @ self.labels  # H^C
        norms = self._label_norms()

        def task(start: int, stop: int) -> None:
            for f0 in range(0, self.images.shape[1], LANES):
                columns = hessian[:, f0 : f0 + LANES]
                pull = self.users[start:stop] @ columns
                sweep_images(
                    start, stop, f0, pull, self.users, self.images, self.labels, self.train.offsets, self.train.labels,
                    self.weights, self.beta, norms, np.ascontiguousarray(columns[f0 : f0 + LANES]),
                    np.float32(self.settings.gamma), np.float32(self.settings.regularisation), self.scores,
                )  # fmt: skip

        self.workers.run(task, self.image_chunks)

    def _sweep_labels(self) -> None:
        hessian = self._image_hessian()

        def task(start: int, stop: int) -> None:
            sweep_labels(
                start, stop, self.users, self.labels, self.column_offsets, self.column_images, self.column_pairs,
                self.weights, self.beta, self.degrees, hessian, np.float32(self.settings.gamma),
                np.float32(self.settings.regularisation), self.scores,
            )  # fmt: skip

        self.workers.run(task, self.label_chunks)

    def _image_hessian(self) -> Matrix:
        """H^I = sum_i u_i u_i', summed over fixed chunks so that the threads do not matter."""
        parts: dict[int, Matrix] = {}

        def task(start: int, stop: int) -> None:
            parts[start] = self.users[start:stop].T @ self.users[start:stop]

        self.workers.run(task, self.image_chunks)
        total = np.zeros((self.users.shape[1], self.users.shape[1]), dtype=np.float32)
        for start, _ in self.image_chunks:
            total += parts[start]
        return total

    def _label_norms(self) -> Matrix:
        norms: Matrix = np.einsum("cf,cf->c", self.labels, self.labels)
        return norms

    def _loss(self) -> float:
        """Eq. 1, with every label's exclusion vector up to date."""
        positives = positive_loss(
            self.scores, self.weights, self.train.labels, self.train.offsets, self.beta, self._label_norms(),
            self.settings.gamma,
        )  # fmt: skip
        label_hessian = (self.labels * self.beta[:, None]).T @ self.labels
        everything = np.einsum("fg,fg->", label_hessian, self._image_hessian(), dtype=np.float64)
        norms = np.einsum("if,if->", self.images, self.images, dtype=np.float64) + self._label_norms().sum()
        return float(positives + everything + self.settings.regularisation * norms)


def label_weights(train: LabelMatrix, beta_0: float, alpha: float) -> NDArray[np.float32]:
    """Return beta_c = beta_0 chi_c^alpha / sum chi^alpha (section 3.1.1), (n_labels,) float32.

    A label that never occurs weighs nothing where alpha > 0.
    """
    popularity = np.bincount(train.labels, minlength=train.n_labels).astype(np.float64)
    share = (popularity / max(popularity.sum(), 1)) ** alpha
    weights: NDArray[np.float32] = (beta_0 * share / share.sum()).astype(np.float32)
    return weights


def chunks_of_equal_work(offsets: NDArray[np.int64], n_chunks: int) -> Chunks:
    """Cut the rows behind `offsets` into at most `n_chunks` pieces with about the same number of pairs."""
    targets = np.linspace(0, offsets[-1], n_chunks + 1)[1:-1]
    cuts = np.unique(np.concatenate([[0], np.searchsorted(offsets, targets), [len(offsets) - 1]]))
    return [(int(start), int(stop)) for start, stop in pairwise(cuts)]
