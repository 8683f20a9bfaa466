"""Coordinate descent on a least squares loss over all pairs of an image and a label, used by `vse_fs` and `ials`.

The updates are in `vsebench.kernels.full_sample`, which also explains gamma and p_i, and in
`vsebench.kernels.exact_images`. An iteration updates the images, then the labels. With gamma = 0, both updates lower
the loss. With gamma > 0, the update of the images lowers the loss, but the update of the labels lowers only the loss in
which all p_i are held fixed.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vsebench.data.chunks import even_chunks
from vsebench.data.problem import Matrix, Problem
from vsebench.data.streams import Stream, generator
from vsebench.kernels.exact_images import MOST_LABELS, minimise_images
from vsebench.kernels.full_sample import LabelSide, extend_images, positive_loss, sweep_images, sweep_labels
from vsebench.kernels.vectors import LANES, aligned, padded_size
from vsebench.methods.base import FactorSettings, Method, Progress, Size
from vsebench.methods.by_labels.full_sample import (
    chunks_of_equal_work,
    in_blocks,
    penalty_scales,
    rows_and_columns,
    stable_order,
)
from vsebench.methods.by_labels.start import padded_start, roomy, start_memory
from vsebench.models import Embeddings

IMAGES_PER_CALL = 512  # images per kernel call; their vectors stay in the cache until H^I is computed
IMAGE_CHUNKS = 64
IMAGES_PER_DRAW = 1 << 14


@dataclass(frozen=True)
class Objective:
    """The parameters of the loss that `vsebench.kernels.full_sample` defines.

    Attributes
    ----------
    weights : (n_pairs,) float32, w_ic, the weight of each positive, in the order of the label matrix
    penalties : (n_labels,) float32, beta_c, the weight of label c in all pairs that are not positives
    gamma : the weight of the labels' vectors in an image's extended vector
    regularisation : lambda, the penalty on squared vectors
    nu : the exponent in `penalty_scales`, which returns the factors m_i and m_c of the penalties
    """

    weights: NDArray[np.float32]
    penalties: NDArray[np.float32]
    gamma: float
    regularisation: float
    nu: float


def chunks_of_images(n_images: int) -> list[tuple[int, int]]:
    """Return the chunks of images as pairs (start, stop), which stand for the images `start` to `stop` - 1."""
    return even_chunks(n_images, padded_size(math.ceil(n_images / IMAGE_CHUNKS)))


class FullSample(Method):
    """Base class of methods that minimise an `Objective` by coordinate descent.

    An epoch updates all images, then all labels. The kernels process images with few labels first; the attribute
    `order` lists the images in this order. The work is divided into independent chunks, and sums over images have a
    fixed order, so results do not depend on the number of threads.
    """

    needs = frozenset({"known_labels"})

    def __init__(
        self, problem: Problem, factors: int, deviation: float, objective: Objective, exact: bool = False
    ) -> None:
        """Draw the initial embeddings from a normal distribution with the standard deviation `deviation`.

        If `exact`, an update sets the vector of each image with at most MOST_LABELS labels to the exact minimum of the
        loss. The vectors of other images, and of all images if not `exact`, are updated factor by factor.
        """
        train = problem.training.labels
        self.factors, self.workers = factors, problem.workers
        self.gamma, self.regularisation = objective.gamma, objective.regularisation
        self.order = stable_order(np.diff(train.offsets))
        few, self.exact = int((np.diff(train.offsets) <= MOST_LABELS).sum()), exact
        # The vectors of images before this one are set to the exact minimum if `exact`.
        self.n_exact = few if few == train.n_rows else few - few % LANES
        self.rows, self.columns = rows_and_columns(train, self.order, objective.weights, self.gamma)
        rng = generator(problem.seed, Stream.START)
        self.blocks = self._start_of_images(train.n_rows, deviation, rng)
        self.labels = padded_start(train.n_labels, factors, deviation, rng)
        self.previous = np.zeros_like(self.labels)  # label vectors with which the u_i in `blocks` were computed
        self.penalties = objective.penalties
        by_image, self.label_scales = penalty_scales(train, objective.weights, self.penalties, objective.nu)
        self.image_scales = aligned(padded_size(train.n_rows))  # in the kernels' order
        self.image_scales[: train.n_rows] = by_image[self.order]
        self.scores = aligned(len(self.columns.weights))
        # Chunks of images with many labels come first, so that no thread has to process one of them alone at the end.
        self.image_chunks = chunks_of_images(train.n_rows)[::-1]
        self.label_chunks = chunks_of_equal_work(self.columns.tiles, problem.workers.threads)

    @classmethod
    def least_memory(cls, size: Size, settings: FactorSettings) -> int:
        squares = 2 + len(chunks_of_images(size.images))  # H^C and H^I, which is the sum of one part per chunk
        return start_memory(size.images, size.labels, settings.factors) + 4 * squares * settings.factors**2

    def epoch(self) -> Progress:
        """Update all images, then all labels; the loss is computed between the two updates."""
        image_hessian, image_norms = self._sweep_images()
        loss = self._loss(image_hessian, image_norms)
        self._sweep_labels(image_hessian)
        return Progress(loss)

    def model(self) -> Embeddings:
        k = self.factors
        image = roomy(self.blocks.shape[1], k)
        changes, gamma = self._label_changes(), np.float32(self.gamma)

        def work(start: int, stop: int) -> None:
            extended = aligned(stop - start, self.labels.shape[1])
            extend_images(start, stop, self.blocks, changes, self.rows, gamma, extended)
            image[self.order[start:stop]] = extended[:, :k]

        self.workers.run(work, self.image_chunks)
        return Embeddings(image, np.ascontiguousarray(self.labels[:, :k]))

    def _start_of_images(self, n_images: int, deviation: float, rng: np.random.Generator) -> Matrix:
        """Return initial vectors of the images in the kernels' format and order, (K / 16, n_images, 16).

        The vectors are drawn in the order of the data set, in chunks to save memory.
        """
        blocks = roomy(padded_size(self.factors) // LANES, n_images, LANES)
        position = np.empty(n_images, dtype=np.int64)
        position[self.order] = np.arange(n_images)
        for first, last in even_chunks(n_images, IMAGES_PER_DRAW):
            start = padded_start(last - first, self.factors, deviation, rng)
            blocks[:, position[first:last]] = start.reshape(last - first, -1, LANES).swapaxes(0, 1)
        return blocks

    def _sweep_images(self) -> tuple[Matrix, float]:
        """Update all images, and return two sums over the images i: the sum of u_i u_i' and that of m_i |v_i|^2.

        Image i has the vector v_i, the extended vector u_i and the penalty factor m_i. The first sum, (K, K), is
        called H^I.
        """
        eigenvalues = self._diagonalise() if self.exact else None
        labels = LabelSide(
            self.labels, self._label_changes(), self.penalties, self._squared_norms(), in_blocks(self._label_hessian())
        )
        gamma, regularisation, k = np.float32(self.gamma), np.float32(self.regularisation), self.labels.shape[1]
        self.previous = self.labels.copy()
        parts: dict[int, tuple[Matrix, float]] = {}

        def update(first: int, last: int, extended: Matrix) -> float:
            numbers = gamma, regularisation, self.image_scales, self.blocks, self.scores
            if eigenvalues is None:
                norm: float = sweep_images(first, last, self.rows, labels, *numbers, extended)
                return norm
            middle = min(max(first, self.n_exact), last)
            norm = minimise_images(first, middle, self.rows, labels, eigenvalues, *numbers, extended)
            norm += sweep_images(middle, last, self.rows, labels, *numbers, extended[middle - first :])
            return norm

        def work(start: int, stop: int) -> None:
            product = np.zeros((k, k), dtype=np.float32)
            extended = aligned(IMAGES_PER_CALL, k)
            norm = 0.0
            for first in range(start, stop, IMAGES_PER_CALL):
                last = min(first + IMAGES_PER_CALL, stop)
                norm += update(first, last, extended)
                part = extended[: last - first]
                product += part.T @ part
            parts[start] = product, norm

        self.workers.run(work, self.image_chunks)
        image_hessian = aligned(k, k)
        for start, _ in self.image_chunks:
            image_hessian += parts[start][0]
        return image_hessian, sum(parts[start][1] for start, _ in self.image_chunks)

    def _diagonalise(self) -> Matrix:
        """Rotate all embeddings so that H^C becomes a diagonal matrix, and return its diagonal, (K,).

        Images that will be set to the exact minimum keep their old vectors, which are not read any more.
        """
        k = self.factors
        values, vectors = np.linalg.eigh(self._label_hessian()[:k, :k].astype(np.float64))
        rotation, diagonal = aligned(self.labels.shape[1], self.labels.shape[1]), aligned(self.labels.shape[1])
        rotation[:k, :k], diagonal[:k] = vectors, np.maximum(values, 0)
        self.labels[:] = self.labels @ rotation
        self.previous[:] = self.previous @ rotation

        def rotate(start: int, stop: int) -> None:
            rows = self.blocks[:, start:stop].swapaxes(0, 1).reshape(stop - start, -1) @ rotation
            self.blocks[:, start:stop] = rows.reshape(stop - start, -1, LANES).swapaxes(0, 1)

        n_others = self.blocks.shape[1] - self.n_exact
        others = even_chunks(n_others, IMAGES_PER_CALL)
        self.workers.run(lambda start, stop: rotate(self.n_exact + start, self.n_exact + stop), others)
        return diagonal

    def _sweep_labels(self, image_hessian: Matrix) -> None:
        regularisation, hessian = np.float32(self.regularisation), in_blocks(image_hessian)

        def work(start: int, stop: int) -> None:
            sweep_labels(
                start, stop, self.columns, self.blocks, self.previous, self.penalties, hessian, regularisation,
                self.label_scales, self.scores, self.labels,
            )  # fmt: skip

        self.workers.run(work, self.label_chunks)

    def _label_changes(self) -> Matrix:
        """Return how much each label's vector has changed since the last update of the images."""
        changes = aligned(*self.labels.shape)
        np.subtract(self.labels, self.previous, out=changes)
        return changes

    def _label_hessian(self) -> Matrix:
        """Return H^C, (K, K), the sum of beta_c v_c v_c' over all labels c with vectors v_c and weights beta_c."""
        weighted: Matrix = self.labels * self.penalties[:, None]
        product: Matrix = weighted.T @ self.labels
        return product

    def _squared_norms(self) -> Matrix:
        norms: Matrix = np.einsum("cf,cf->c", self.labels, self.labels)
        return norms

    def _loss(self, image_hessian: Matrix, image_norms: float) -> float:
        """Return the loss after the update of the images and before the update of the labels.

        The arguments are the two sums that `_sweep_images` returns.
        """
        norms = self._squared_norms()
        positives = positive_loss(self.columns, self.scores, self.penalties, norms)
        everything = np.einsum("fg,fg->", self._label_hessian(), image_hessian, dtype=np.float64)
        label_norms = float((self.label_scales * norms).sum())
        return float(positives + everything + self.regularisation * (image_norms + label_norms))
