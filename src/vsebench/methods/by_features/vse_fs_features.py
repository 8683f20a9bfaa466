"""VSE-fs on image features: an image's vector is a linear map of the image's features.

The map is fitted by least squares over all pairs of an image and a label.

    u_i = E' x_i,   s_ic = <u_i, v_c>
    loss = sum over positives of (1 - s_ic)^2 + sum over other pairs of beta_c s_ic^2 + lambda (m |E|^2 + |V|^2)

Here x_i are the features of image i, E is the linear map, v_c is the vector of label c, and s_ic is the score of the
label. The rows of V are the v_c.

Source: Zhai, Guo, Yuan, Liu and Wang, "VSE-fs: Fast Full-Sample Visual Semantic Embedding", section 3.4. As future
work, the paper mentions the score <v_i + gamma p_i, v_c> - excl + <E x_i, v_c>. Here p_i depends on the known labels of
the image, and `excl` removes the contribution of label c itself to p_i. The paper gives neither updates, nor a
regularisation of E, nor results. Choices made here:

- Only the last term of this score is used, because a new image has neither a vector v_i nor known labels for p_i.
- The weight w_ic of a positive is 1. beta_0 is divided among the labels as in `vse_fs` (section 3.1.1), and beta_c is
  the share of label c.
- The penalty on E has the additional factor m, the mean squared length of the images' features. So the same lambda
  suits features of any scale.
- E starts at 0, and the labels' vectors are drawn from N(0, deviation^2).
- An epoch first updates E by steps of conjugate gradients. Then it updates the labels' vectors by one sweep of
  coordinate descent, with the kernel of `vse_fs`. Each step and each update of a coordinate minimises the loss along
  one direction, so no epoch increases the loss.

Let H^C = sum_c beta_c v_c v_c'. The rows of X are the x_i. The matrices R and Y have a row per image and a column per
label. For a positive, R contains (1 - beta_c) s_ic, and Y contains 1; all other entries are 0. Half the gradient with
respect to E is

    X' (X E H^C + R V - Y V) + lambda m E

A step takes O(nnz(X) K + n K^2 + |P| K) operations, where K is the number of factors, and nnz(X) is the number of
non-zeros in X. This is linear in the number of images, n, and in the number of positives, |P|, because only positive
pairs are visited.
"""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import sparse

from vsebench.data.features import Rows
from vsebench.data.problem import Matrix, Problem
from vsebench.data.streams import Stream, generator
from vsebench.kernels.full_sample import positive_loss, sweep_labels
from vsebench.kernels.vectors import LANES, aligned, padded_size
from vsebench.methods.base import FactorSettings, Method, Progress, Size
from vsebench.methods.by_features.linear_map import EmbeddedFeatures
from vsebench.methods.by_features.seen import FeatureSettings, see
from vsebench.methods.by_labels.full_sample import (
    chunks_of_equal_work,
    in_blocks,
    label_penalties,
    rows_and_columns,
)
from vsebench.methods.by_labels.start import padded_start

PAIRS_PER_CALL = 1 << 16


class VseFsFeaturesSettings(FactorSettings, FeatureSettings):
    """Settings of VSE-fs on image features, named as in the paper."""

    beta_0: float = Field(gt=0)  # the sum over all labels of beta_c, the weight of each pair that is not a positive
    alpha: float = Field(ge=0)  # exponent of a label's popularity in its weight beta_c
    regularisation: float = Field(ge=0)  # lambda, the penalty on the squares of the labels' vectors and of the map
    deviation: float = Field(gt=0)  # standard deviation of the normal distribution of the initial label vectors
    steps: int = Field(ge=1)  # number of steps of conjugate gradients per epoch


class VseFsFeatures(Method):
    """VSE-fs on image features, fitted to the training images that have features."""

    settings_type = VseFsFeaturesSettings
    needs = frozenset({"features"})

    def __init__(self, problem: Problem, settings: VseFsFeaturesSettings) -> None:
        self.seen, self.settings, self.workers = see(problem, settings), settings, problem.workers
        train = self.seen.labels
        ones = np.ones(train.n_pairs, dtype=np.float32)
        self.rows, self.columns = rows_and_columns(train, np.arange(train.n_rows), ones, 0.0)
        self.penalties = label_penalties(train, settings.beta_0, settings.alpha)
        start = generator(problem.seed, Stream.START)
        self.labels = padded_start(train.n_labels, settings.factors, settings.deviation, start)
        self.map = np.zeros((self.seen.rows.shape[1], self.labels.shape[1]), dtype=np.float32)  # E
        self.vectors = np.zeros((train.n_rows, self.labels.shape[1]), dtype=np.float32)  # X E
        self.map_regularisation = settings.regularisation * mean_squared_length(self.seen.rows)  # lambda m
        self.label_scales = np.ones(train.n_labels, dtype=np.float32)
        self.chunks = chunks_of_equal_work(self.columns.tiles, problem.workers.threads)

    @classmethod
    def least_memory(cls, size: Size, settings: VseFsFeaturesSettings) -> int:
        vectors = size.images + size.features + size.labels
        return 4 * settings.factors * (vectors + settings.factors)  # the last term is for H^C

    def epoch(self) -> Progress:
        """Update the map, then the labels' vectors, and report the loss after both updates."""
        self._update_map()
        return Progress(self._update_labels())

    def model(self) -> EmbeddedFeatures:
        k = self.settings.factors
        label = np.ascontiguousarray(self.labels[:, :k])
        return EmbeddedFeatures(np.ascontiguousarray(self.map[:, :k]), label, self.seen.normalisation)

    def _update_map(self) -> None:
        """Take steps of conjugate gradients on E, starting from its current value."""
        residual = -self._half_gradient()
        direction = residual.copy()
        square = float(np.vdot(residual, residual))
        for _ in range(self.settings.steps):
            images = self.seen.rows @ direction
            product = self._curvature(direction, images)
            along = float(np.vdot(direction, product))
            if not (square > 0 and along > 0):
                return  # the minimum is reached
            step = np.float32(square / along)
            self.map += step * direction
            self.vectors += step * images
            residual -= step * product
            previous, square = square, float(np.vdot(residual, residual))
            direction *= np.float32(square / previous)
            direction += residual

    def _half_gradient(self) -> Matrix:
        """Return half the gradient of the loss with respect to E, (d, K)."""
        ones = self._at_positives(np.ones(len(self.rows.labels), dtype=np.float32))
        return self._curvature(self.map, self.vectors) - self._summed(ones @ self.labels)

    def _curvature(self, change: Matrix, images: Matrix) -> Matrix:
        """Return half of the second derivative of the loss, times a change of E.

        `change` and the result have shape (d, K). `images`, (n, K), is X times the change.
        """
        weighted = self.labels * self.penalties[:, np.newaxis]
        excess = (1 - self.penalties[self.rows.labels]) * self._scores(images)
        of_vectors = images @ (weighted.T @ self.labels) + self._at_positives(excess) @ self.labels
        product: Matrix = self._summed(of_vectors) + np.float32(self.map_regularisation) * change
        return product

    def _summed(self, of_vectors: Matrix) -> Matrix:
        """Return X' times the matrix `of_vectors`, (n, K)."""
        return np.ascontiguousarray(self.seen.rows.T @ of_vectors)

    def _at_positives(self, values: NDArray[np.float32]) -> sparse.csr_array:
        """Return a sparse matrix that contains `values`, (n_pairs,), at the positives.

        The matrix has a row per image and a column per label.
        """
        shape = (len(self.vectors), len(self.labels))
        return sparse.csr_array((values, self.rows.labels, self.rows.offsets), shape=shape)

    def _scores(self, images: Matrix) -> NDArray[np.float32]:
        """Return the inner product of the image's and the label's vector for each positive, (n_pairs,).

        `images`, (n, K), contains the vectors of the images.
        """
        image_of_pair, scores = self.seen.labels.image_of_pair, np.empty(len(self.rows.labels), dtype=np.float32)
        for first in range(0, len(scores), PAIRS_PER_CALL):
            pairs = slice(first, first + PAIRS_PER_CALL)
            vectors = images[image_of_pair[pairs]], self.labels[self.rows.labels[pairs]]
            np.einsum("pk,pk->p", *vectors, out=scores[pairs])
        return scores

    def _update_labels(self) -> float:
        """Update the vectors of all labels, and return the loss."""
        scores = aligned(len(self.columns.weights))
        scores[self.rows.slots] = self._scores(self.vectors)
        blocks = aligned(padded_size(self.settings.factors) // LANES, len(self.vectors), LANES)
        blocks[:] = self.vectors.reshape(len(self.vectors), -1, LANES).swapaxes(0, 1)
        hessian = self.vectors.T @ self.vectors
        in_kernel = in_blocks(hessian)
        before, regularisation = self.labels.copy(), np.float32(self.settings.regularisation)

        def work(start: int, stop: int) -> None:
            sweep_labels(
                start, stop, self.columns, blocks, before, self.penalties, in_kernel, regularisation,
                self.label_scales, scores, self.labels,
            )  # fmt: skip

        self.workers.run(work, self.chunks)
        norms: Matrix = np.einsum("cf,cf->c", self.labels, self.labels)
        everything = np.vdot((self.labels * self.penalties[:, np.newaxis]).T @ self.labels, hessian)
        lengths = self.map_regularisation * float(np.vdot(self.map, self.map))
        lengths += self.settings.regularisation * float(norms.sum())
        positives = float(positive_loss(self.columns, scores, self.penalties, norms))
        return positives + float(everything) + lengths


def mean_squared_length(rows: Rows) -> float:
    """Return the mean squared length of rows of features.

    `rows`, (n, d) float32, is dense or CSR.
    """
    values = rows.data if sparse.issparse(rows) else rows
    return float(np.square(values, dtype=np.float64).sum() / rows.shape[0])


METHODS = {"vse_fs_features": VseFsFeatures}
