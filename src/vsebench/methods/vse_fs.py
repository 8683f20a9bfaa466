"""VSE-fs: least squares over all (image, label) pairs by coordinate descent.

Source: Zhai, Guo, Yuan, Liu and Wang, "VSE-fs: Fast Full-Sample Visual Semantic Embedding", Eq. 1, 2 and Algorithm 1.
The updates are in `vsebench.kernels.full_sample`. With gamma = 0 every half-iteration lowers the loss; with gamma > 0
the image half does, and the label half lowers it with the extended embeddings P held still.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.chunks import Chunks, even_chunks
from vsebench.kernels.full_sample import AHEAD, follow_all, positive_loss, sweep_images, sweep_labels
from vsebench.kernels.lanes import LANES, aligned, filled_up
from vsebench.methods.base import FactorSettings, Method, Progress
from vsebench.methods.start import padded_start
from vsebench.models import Embeddings
from vsebench.problem import LabelMatrix, Matrix, Problem
from vsebench.streams import Stream, generator

IMAGES_A_CALL = 512  # their vectors stay in a core's cache between the sweep and the product for H^I
IMAGE_CHUNKS = 64
IMAGES_A_DRAW = 1 << 14


class VseFsSettings(FactorSettings):
    """Settings of VSE-fs, in the paper's letters."""

    beta_0: float = Field(gt=0)  # total weight of the non-positive pairs of an image
    alpha: float = Field(ge=0)  # exponent of a label's popularity in its weight beta_c
    gamma: float = Field(ge=0)  # share of the positive labels' vectors in an image's vector
    regularisation: float = Field(ge=0)  # lambda
    weights: Literal["ones", "counts"]  # w_ic: 1, or how often the label is on the image
    deviation: float = Field(gt=0)  # of the normal distribution that embeddings start from


@dataclass(frozen=True)
class Rows:
    """The positives by images, those with few labels first.

    Attributes
    ----------
    order : (n_images,) int64, the image that stands at each place
    offsets : (n_images + 1,) int64, where the positives of each place start
    labels : (n_pairs,) int32
    weights : (n_pairs,) float32, w_ic
    """

    order: NDArray[np.int64]
    offsets: NDArray[np.int64]
    labels: NDArray[np.int32]
    weights: Matrix

    @classmethod
    def of(cls, train: LabelMatrix, weights: str) -> "Rows":
        degrees = np.diff(train.offsets)
        order = stable_order(degrees)
        offsets = np.concatenate([[0], np.cumsum(degrees[order])])
        pairs = np.repeat(train.offsets[order] - offsets[:-1], degrees[order]) + np.arange(train.n_pairs)
        ones = np.ones(train.n_pairs, dtype=np.float32)
        w = ones if weights == "ones" else train.count_of_pair[pairs].astype(np.float32)
        return cls(order, offsets, train.label_of_pair[pairs], w)


@dataclass(frozen=True)
class Columns:
    """The positives by labels, in whole tiles of LANES places for each label.

    Attributes
    ----------
    degrees : (n_labels,) int64, how many images carry a label
    tiles : (n_labels + 1,) int64, the first tile of each label
    places : (n_pairs,) int32, where each positive of the rows stands
    images : (n_places + AHEAD,) int32, the place of the image among the rows
    weights, roots : (n_places,) float32, w_ic and a_i = gamma |C_i|^(-1/2); 0 at places left over
    """

    degrees: NDArray[np.int64]
    tiles: NDArray[np.int64]
    places: NDArray[np.int32]
    images: NDArray[np.int32]
    weights: Matrix
    roots: Matrix

    @classmethod
    def of(cls, rows: Rows, n_labels: int, gamma: float) -> "Columns":
        degrees = np.bincount(rows.labels, minlength=n_labels)
        tiles = np.concatenate([[0], np.cumsum(-(-degrees // LANES))])
        by_label = stable_order(rows.labels)
        places = np.empty(len(by_label), dtype=np.int32)
        skipped = tiles[:-1] * LANES - np.cumsum(degrees) + degrees
        places[by_label] = np.arange(len(by_label)) + np.repeat(skipped, degrees)
        images = np.zeros(tiles[-1] * LANES + AHEAD, dtype=np.int32)
        weights, roots = aligned(tiles[-1] * LANES), aligned(tiles[-1] * LANES)
        row_degrees = np.diff(rows.offsets)
        images[places] = np.repeat(np.arange(len(row_degrees), dtype=np.int32), row_degrees)
        weights[places] = rows.weights
        roots[places] = np.repeat((gamma / np.sqrt(np.maximum(row_degrees, 1))).astype(np.float32), row_degrees)
        return cls(degrees, tiles, places, images, weights, roots)


class VseFs(Method):
    """VSE-fs. One epoch is one iteration: all images, then all labels.

    Inside, images stand in the order of `rows`. The work is cut into pieces that do not depend on each other; the sums
    over images have a fixed order, so the number of threads changes nothing.
    """

    settings_type = VseFsSettings
    needs = frozenset({"known_labels"})

    def __init__(self, problem: Problem, settings: VseFsSettings) -> None:
        train = problem.training.labels
        self.settings, self.workers = settings, problem.workers
        self.rows = Rows.of(train, settings.weights)
        self.columns = Columns.of(self.rows, train.n_labels, settings.gamma)
        rng = generator(problem.seed, Stream.START)
        self.blocks = self._start_of_images(train.n_rows, rng)
        self.labels = padded_start(train.n_labels, settings.factors, settings.deviation, rng)
        self.before = np.zeros_like(self.labels)  # the labels that the u_i in `blocks` belong to
        self.beta = label_weights(train, settings.beta_0, settings.alpha)
        self.scores = aligned(len(self.columns.weights))
        # The images with most labels first, so that no thread is left with them at the end.
        size = filled_up(math.ceil(train.n_rows / IMAGE_CHUNKS))
        self.image_chunks = even_chunks(train.n_rows, size)[::-1]
        self.label_chunks = chunks_of_equal_work(self.columns.tiles, problem.workers.threads)

    def epoch(self) -> Progress:
        """Go over all images, then over all labels; the loss is that between the halves, when all is up to date."""
        image_hessian, image_norms = self._sweep_images()
        loss = self._loss(image_hessian, image_norms)
        self._sweep_labels(image_hessian)
        return Progress(loss)

    def model(self) -> Embeddings:
        k = self.settings.factors
        image = np.empty((self.blocks.shape[1], k), dtype=np.float32)
        moved = self._moved()

        def task(start: int, stop: int) -> None:
            users = aligned(stop - start, self.labels.shape[1])
            follow_all(
                start, stop, self.blocks, moved, self.rows.offsets, self.rows.labels,
                np.float32(self.settings.gamma), users,
            )  # fmt: skip
            image[self.rows.order[start:stop]] = users[:, :k]

        self.workers.run(task, self.image_chunks)
        return Embeddings(image, np.ascontiguousarray(self.labels[:, :k]))

    def _start_of_images(self, n_images: int, rng: np.random.Generator) -> Matrix:
        """Draw the v_i in the order of the data; some images at a time, to hold them in memory only once.

        They are the u_i as long as all labels are 0.
        """
        blocks = aligned(filled_up(self.settings.factors) // LANES, n_images, LANES)
        places = np.empty(n_images, dtype=np.int64)
        places[self.rows.order] = np.arange(n_images)
        for first, last in even_chunks(n_images, IMAGES_A_DRAW):
            start = padded_start(last - first, self.settings.factors, self.settings.deviation, rng)
            blocks[:, places[first:last]] = start.reshape(last - first, -1, LANES).swapaxes(0, 1)
        return blocks

    def _sweep_images(self) -> tuple[Matrix, float]:
        """Update the images; return H^I = sum_i u_i u_i' and |V_I|^2."""
        hessian = self._label_hessian()
        norms = self._label_norms()
        moved = self._moved()
        self.before = self.labels.copy()
        parts: dict[int, tuple[Matrix, float]] = {}

        def task(start: int, stop: int) -> None:
            product = np.zeros_like(hessian)
            users = aligned(IMAGES_A_CALL, self.labels.shape[1])
            norm = 0.0
            for first in range(start, stop, IMAGES_A_CALL):
                last = min(first + IMAGES_A_CALL, stop)
                norm += sweep_images(
                    first, last, self.blocks, self.labels, moved, self.rows.offsets, self.rows.labels,
                    self.columns.places, self.rows.weights, self.beta, norms, hessian,
                    np.float32(self.settings.gamma), np.float32(self.settings.regularisation), self.scores, users,
                )  # fmt: skip
                part = users[: last - first]
                product += part.T @ part
            parts[start] = product, norm

        self.workers.run(task, self.image_chunks)
        image_hessian = aligned(*hessian.shape)
        for start, _ in self.image_chunks:
            image_hessian += parts[start][0]
        return image_hessian, sum(parts[start][1] for start, _ in self.image_chunks)

    def _sweep_labels(self, image_hessian: Matrix) -> None:
        def task(start: int, stop: int) -> None:
            sweep_labels(
                start, stop, self.blocks, self.labels, self.before, self.columns.degrees, self.columns.tiles,
                self.columns.images, self.columns.weights, self.columns.roots, self.beta, image_hessian,
                np.float32(self.settings.regularisation), self.scores,
            )  # fmt: skip

        self.workers.run(task, self.label_chunks)

    def _moved(self) -> Matrix:
        """Return how far the labels went since the images were updated last."""
        moved = aligned(*self.labels.shape)
        np.subtract(self.labels, self.before, out=moved)
        return moved

    def _label_hessian(self) -> Matrix:
        """H^C = sum_c beta_c v_c v_c'."""
        weighted: Matrix = self.labels * self.beta[:, None]
        product: Matrix = weighted.T @ self.labels
        return product

    def _label_norms(self) -> Matrix:
        norms: Matrix = np.einsum("cf,cf->c", self.labels, self.labels)
        return norms

    def _loss(self, image_hessian: Matrix, image_norms: float) -> float:
        """Eq. 1, before the labels move."""
        norms = self._label_norms()
        positives = positive_loss(
            self.columns.tiles, self.columns.weights, self.columns.roots, self.scores, self.beta, norms
        )
        everything = np.einsum("fg,fg->", self._label_hessian(), image_hessian, dtype=np.float64)
        return float(positives + everything + self.settings.regularisation * (image_norms + float(norms.sum())))


def stable_order(numbers: NDArray[np.int32] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the stable order of numbers from 0 on; NumPy has a radix sort for those of at most 16 bits."""
    smallest = np.min_scalar_type(int(numbers.max(initial=0)))
    return np.argsort(numbers.astype(smallest), kind="stable")


def label_weights(train: LabelMatrix, beta_0: float, alpha: float) -> NDArray[np.float32]:
    """Return beta_c = beta_0 chi_c^alpha / sum chi^alpha (section 3.1.1), (n_labels,) float32.

    A label that never occurs weighs nothing where alpha > 0.
    """
    popularity = np.bincount(train.label_of_pair, minlength=train.n_labels).astype(np.float64)
    share = (popularity / max(popularity.sum(), 1)) ** alpha
    weights: NDArray[np.float32] = (beta_0 * share / share.sum()).astype(np.float32)
    return weights


def chunks_of_equal_work(offsets: NDArray[np.int64], n_chunks: int) -> Chunks:
    """Cut the rows behind `offsets` into at most `n_chunks` pieces with about the same number of pairs."""
    targets = np.linspace(0, offsets[-1], n_chunks + 1)[1:-1]
    cuts = np.unique(np.concatenate([[0], np.searchsorted(offsets, targets), [len(offsets) - 1]]))
    return [(int(start), int(stop)) for start, stop in pairwise(cuts)]


METHOD = VseFs
