"""Linear maps of image features that minimise a convex loss by L-BFGS, for `softmax` and `logistic`.

    minimise   mean over the training images of loss(x V + b) + a / 2 |V|^2

V is d x n_labels. The intercepts b are not penalised. Both start at 0.
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

# Takes the scores of images, (m, n_labels) float32, and the images' labels. Returns the sum of the losses and its
# derivatives with respect to the scores, which may overwrite the scores.
Loss: TypeAlias = Callable[[Matrix, LabelMatrix], tuple[float, Matrix]]

SCORES_A_CHUNK = 1 << 22  # number of scores in memory at once (16 MiB)
CORRECTIONS = 10  # pairs of steps and gradients that L-BFGS keeps


class ConvexSettings(FeatureSettings):
    """Settings of a linear map with a convex loss."""

    regularisation: float = Field(gt=0)  # a, the penalty on squared weights, which is added to the mean loss
    iterations: int = Field(ge=1)  # maximum number of iterations of L-BFGS


class Objective:
    """The mean loss plus the penalty, as a function of a flat array of all weights and intercepts.

    Parameters
    ----------
    rows : (n, d) float32, dense or CSR
    labels : n rows
    loss : the loss of a chunk of images
    regularisation : a
    """

    def __init__(self, rows: Rows, labels: LabelMatrix, loss: Loss, regularisation: float) -> None:
        self.shape = (rows.shape[1] + 1, labels.n_labels)  # the last row holds the intercepts
        chunks = even_chunks(rows.shape[0], max(SCORES_A_CHUNK // labels.n_labels, 1))
        self.chunks = [(rows[start:stop], labels.slice(start, stop)) for start, stop in chunks]
        self.n_images, self.loss, self.regularisation = rows.shape[0], loss, regularisation

    def __call__(self, flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the value and gradient, (size,) float64; products are in float32, sums over chunks in float64."""
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
    """Return the linear map that minimises the objective."""
    from scipy.optimize import minimize  # the import takes a tenth of a second, and Snakemake imports this module

    objective = Objective(seen.rows, seen.labels, loss, settings.regularisation)
    options = {"maxiter": settings.iterations, "maxfun": 2 * settings.iterations, "maxcor": CORRECTIONS}
    minimum = minimize(objective, np.zeros(np.prod(objective.shape)), method="L-BFGS-B", jac=True, options=options)
    label = minimum.x.reshape(objective.shape).T
    return LinearMap(np.ascontiguousarray(label, dtype=np.float32), seen.normalisation)
