"""What `softmax` and `logistic` share: a linear map of image features that minimises a convex loss by L-BFGS.

    minimise   mean over the training images of loss(x V + b) + a / 2 |V|^2

V is d x n_labels, b are the intercepts, which are not penalised. Both begin at 0.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.data.chunks import even_chunks
from vsebench.data.features import Rows
from vsebench.data.problem import LabelMatrix, Matrix
from vsebench.methods.by_features.linear_map import LinearMap
from vsebench.methods.by_features.seen import FeatureSettings, Seen

# From scores of images, (m, n_labels) float32, and their labels: the sum of the images' losses, and its derivative by
# each score, which may be written into the scores.
Loss: TypeAlias = Callable[[Matrix, LabelMatrix], tuple[float, Matrix]]

SCORES_A_CHUNK = 1 << 22  # scores that are held at once (16 MiB)
CORRECTIONS = 10  # pairs of steps and gradients that L-BFGS keeps


class ConvexSettings(FeatureSettings):
    """Settings of a linear map with a convex loss."""

    regularisation: float = Field(gt=0)  # a, the penalty of squared weights, beside the mean loss
    iterations: int = Field(ge=1)  # of L-BFGS, at most


class Objective:
    """The mean loss with its penalty, of the weights and intercepts as one row of numbers.

    Parameters
    ----------
    rows : (n, d) float32, dense or CSR
    labels : n rows
    loss : of some images
    regularisation : a
    """

    def __init__(self, rows: Rows, labels: LabelMatrix, loss: Loss, regularisation: float) -> None:
        self.shape = (rows.shape[1] + 1, labels.n_labels)  # the last row are the intercepts
        chunks = even_chunks(rows.shape[0], max(SCORES_A_CHUNK // labels.n_labels, 1))
        self.chunks = [(rows[start:stop], labels.slice(start, stop)) for start, stop in chunks]
        self.n_images, self.loss, self.regularisation = rows.shape[0], loss, regularisation

    def __call__(self, flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return value and gradient, (size,) float64; products are in float32, sums over chunks in float64."""
        weight = flat.reshape(self.shape)
        features, intercept = weight[:-1].astype(np.float32), weight[-1].astype(np.float32)
        total, gradient = 0.0, np.zeros(self.shape)
        for rows, labels in self.chunks:
            scores = rows @ features
            scores += intercept
            value, slope = self.loss(scores, labels)
            total += value
            gradient[:-1] += rows.T @ slope
            gradient[-1] += slope.sum(axis=0, dtype=np.float64)
        gradient /= self.n_images
        gradient[:-1] += self.regularisation * weight[:-1]
        penalty = self.regularisation / 2 * np.vdot(weight[:-1], weight[:-1])
        return float(total / self.n_images + penalty), gradient.ravel()


def fit_linear(seen: Seen, settings: ConvexSettings, loss: Loss) -> LinearMap:
    """Return the linear map that minimises a loss over the images."""
    from scipy.optimize import minimize  # takes a tenth of a second, and Snakemake reads this file

    objective = Objective(seen.rows, seen.labels, loss, settings.regularisation)
    options = {"maxiter": settings.iterations, "maxfun": 2 * settings.iterations, "maxcor": CORRECTIONS}
    found = minimize(objective, np.zeros(np.prod(objective.shape)), method="L-BFGS-B", jac=True, options=options)
    label = found.x.reshape(objective.shape).T
    return LinearMap(np.ascontiguousarray(label, dtype=np.float32), seen.normalisation)
