"""Softmax and logistic regression: linear maps of image features, fitted by minimising a convex loss with L-BFGS.

    minimise   mean over the training images of loss(x V + b) + a / 2 |V|^2

x contains the d features of an image, and a is the setting `regularisation`. The weights V are d x n_labels. The
n_labels intercepts b are not penalised. Two steps make L-BFGS converge for features of any scale and offset. First,
dense columns of features are centred and divided by their standard deviation, and sparse columns are divided by the
root of their mean square. Second, each weight is multiplied by roughly the square root of the curvature of the loss.
This factor is sqrt(p (1 - p) c + a / divisor^2), where p is the share of the images that have the label, `divisor` is
the number by which the column was divided, and c is the mean square of the column after the division. The minimisation
starts at V = 0 and b = log(p / (1 - p)).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.sparse import csr_array, issparse

from vsebench.data.chunks import even_chunks
from vsebench.data.features import Normalisation, Rows
from vsebench.data.problem import LabelMatrix, Matrix
from vsebench.methods.base import Size, Solved
from vsebench.methods.by_features.linear_map import LinearMap
from vsebench.methods.by_features.seen import FeatureControl, FeatureSettings, Seen, see

# Takes scores of images, (m, n_labels) float32, and the images' labels. Returns the sum of the losses and its
# derivative with respect to each score, which may overwrite the scores.
Loss: TypeAlias = Callable[[Matrix, LabelMatrix], tuple[float, Matrix]]
Values: TypeAlias = NDArray[np.float64]

SCORES_A_CHUNK = 1 << 22  # number of scores in memory at once (16 MiB)
CORRECTIONS = 10  # pairs of steps and gradients that L-BFGS keeps
SMALL_GRADIENT = 1e-5  # L-BFGS ends when no component of the gradient is larger; the minimum is then about as close
ACCEPTED_GRADIENT = 1e-4  # largest component at a result that counts as the minimum; rounding can end L-BFGS early


class ConvexSettings(FeatureSettings):
    """Settings of a linear map with a convex loss."""

    regularisation: float = Field(gt=0)  # the penalty a; the squared weights, times a / 2, are added to the mean loss
    iterations: int = Field(ge=1)  # maximum number of iterations of L-BFGS


@dataclass(frozen=True)
class Objective:
    """The sum of the mean loss and the penalty, as a function of one flat array.

    The flat array contains all weights and then all intercepts, each multiplied by its number in `scale`.

    Attributes
    ----------
    rows : (n, d) float32, dense or CSR, the features of the images
    labels : n rows, the images' labels
    loss : returns the sum of the losses of some of the images, and its derivative with respect to the scores
    penalty : (d, 1) float64. Each squared weight of feature j is multiplied by penalty[j] / 2
    scale : (d + 1, n_labels) float64, the factor of each weight. The last row contains the factors of the intercepts
    """

    rows: Rows
    labels: LabelMatrix
    loss: Loss
    penalty: Values
    scale: Values

    def __call__(self, flat: Values) -> tuple[float, Values]:
        """Return the value of the objective at `flat`, and the gradient.

        `flat` and the gradient have shape ((d + 1) n_labels,) and are float64. Matrix products are computed in float32,
        and sums over chunks of images in float64.
        """
        weight = self.weight(flat)
        features, intercept = weight[:-1].astype(np.float32), weight[-1].astype(np.float32)
        total, gradient = 0.0, np.zeros_like(weight)
        for start, stop in even_chunks(self.rows.shape[0], max(SCORES_A_CHUNK // self.labels.n_labels, 1)):
            rows = self.rows[start:stop]
            scores = rows @ features
            scores += intercept
            value, slope = self.loss(scores, self.labels.slice(start, stop))
            total += value
            gradient[:-1] += rows.T @ slope
            gradient[-1] += slope.sum(axis=0, dtype=np.float64)
        gradient /= self.rows.shape[0]
        gradient[:-1] += self.penalty * weight[:-1]
        value = total / self.rows.shape[0] + float((self.penalty * weight[:-1] ** 2).sum()) / 2
        return value, (gradient / self.scale).ravel()

    def weight(self, flat: Values) -> Values:
        """Return the weights and intercepts in the flat array, divided by their factors in `scale`.

        The result has shape (d + 1, n_labels). The last row contains the intercepts.
        """
        weight: Values = flat.reshape(self.scale.shape) / self.scale
        return weight


class ConvexControl(FeatureControl):
    """The base class of methods that fit a linear map by minimising a convex loss.

    After the fit, `solved` states how the minimisation ended.
    """

    settings_type = ConvexSettings
    settings: ConvexSettings

    @classmethod
    def least_memory(cls, size: Size, settings: ConvexSettings) -> int:
        return 2 * 8 * CORRECTIONS * size.features * size.labels  # what L-BFGS keeps

    def minimise(self, seen: Seen, loss: Loss) -> LinearMap:
        """Return the linear map that minimises the sum of the mean loss of the images and the penalty."""
        from scipy.optimize import minimize  # the import takes 0.1 seconds, and Snakemake imports this module

        rows, normalisation, deviation = of_unit_deviation(seen)
        n_images, n_labels = seen.labels.n_rows, seen.labels.n_labels
        counts = np.bincount(seen.labels.label_of_pair, minlength=n_labels)
        shares = (counts / n_images).clip(0.5 / n_images, 1 - 0.5 / n_images)
        penalty = self.settings.regularisation / deviation[:, None] ** 2
        curvature = np.outer([*mean_squares(rows), 1], shares * (1 - shares))
        curvature[:-1] += penalty
        objective = Objective(rows, seen.labels, loss, penalty, np.sqrt(curvature))
        start = np.zeros_like(curvature)
        start[-1] = np.log(shares / (1 - shares)) * objective.scale[-1]
        most = self.settings.iterations
        options = {"maxiter": most, "maxfun": 2 * most, "maxcor": CORRECTIONS, "gtol": SMALL_GRADIENT, "ftol": 0}
        minimum = minimize(objective, start.ravel(), method="L-BFGS-B", jac=True, options=options)
        gradient = float(np.abs(minimum.jac).max())
        self.solved = Solved(gradient <= ACCEPTED_GRADIENT, int(minimum.nit), gradient)
        weight = objective.weight(minimum.x)
        if normalisation is seen.normalisation:  # nothing was centred, so the deviations can be moved into the weights
            weight[:-1] /= deviation[:, None]
        return LinearMap(np.ascontiguousarray(weight.T, dtype=np.float32), normalisation)


class Softmax(ConvexControl):
    """Softmax regression, whose loss is the cross-entropy with the uniform distribution over an image's labels.

        loss of an image = -sum over its labels c of 1/|P| log(exp(s_c) / sum_k exp(s_k)),   s = x V + b

    P is the set of the image's labels, and the sum over k is over all labels. x contains the features of the image, V
    the weights, and b the intercepts. This is multinomial logistic regression. It is not one of the baselines in
    Weston, Bengio and Usunier, "Large scale image annotation", 2010. Images without features or without a label are
    left out of the fit.
    """

    def model(self) -> LinearMap:
        return self.minimise(see(self.problem, self.settings, only_labelled=True), cross_entropy)


class Logistic(ConvexControl):
    """Logistic regression for each label, whose loss is the sum of the binary log-losses of all labels.

        loss of an image = sum over all labels c of log(1 + exp(-t_c s_c)),   s = x V + b

    t_c is 1 if the image has label c and -1 otherwise. x contains the features of the image, V the weights, and b the
    intercepts. Images without features are left out of the fit.

    Source: Cox, "The regression analysis of binary sequences", J. R. Stat. Soc. B 20, 1958; here applied to each label.
    """

    def model(self) -> LinearMap:
        return self.minimise(see(self.problem, self.settings), log_losses)


def cross_entropy(scores: Matrix, labels: LabelMatrix) -> tuple[float, Matrix]:
    """Return the sum of the images' losses in softmax regression, and its derivative with respect to each score.

    `scores` is (m, n_labels) float32. The derivative, of the same shape and dtype, overwrites `scores`. Every image
    must have a label.
    """
    pairs = (labels.image_of_pair, labels.label_of_pair)
    shares = np.repeat(1 / labels.n_labels_of_row, labels.n_labels_of_row)
    scores -= scores.max(axis=1, keepdims=True)
    value = -float(shares @ scores[pairs])
    np.exp(scores, out=scores)
    sums = scores.sum(axis=1, keepdims=True)
    value += float(np.log(sums).sum(dtype=np.float64))
    scores /= sums
    scores[pairs] -= shares.astype(np.float32)
    return value, scores


def log_losses(scores: Matrix, labels: LabelMatrix) -> tuple[float, Matrix]:
    """Return the sum of the images' losses in logistic regression, and its derivative with respect to each score.

    `scores` is (m, n_labels) float32. The derivative has the same shape and dtype.
    """
    pairs = (labels.image_of_pair, labels.label_of_pair)
    smaller = np.exp(-np.abs(scores))  # several times as fast as NumPy's logaddexp and SciPy's expit
    value = np.maximum(scores, 0).sum(dtype=np.float64) + np.log1p(smaller).sum(dtype=np.float64)
    value -= scores[pairs].sum(dtype=np.float64)
    slope = np.where(scores >= 0, np.float32(1), smaller)
    slope /= 1 + smaller
    slope[pairs] -= 1
    return float(value), slope


def of_unit_deviation(seen: Seen) -> tuple[Rows, Normalisation, Values]:
    """Scale the columns of the features; return the scaled features, their normalisation, and the divisors.

    Dense columns are centred and divided by their standard deviation. The returned normalisation includes this as the
    step `standard`. Sparse columns are divided by the root of their mean square, and are not centred, so that they stay
    sparse. The returned normalisation does not include this division. The divisors are (d,) float64.
    """
    if not issparse(seen.rows):
        normalisation, rows = seen.normalisation.with_standard(seen.rows)
        return rows, normalisation, normalisation.learnt[-1]["deviation"].astype(np.float64)
    deviation = np.sqrt(mean_squares(seen.rows))
    deviation[deviation == 0] = 1
    return csr_array(seen.rows.multiply(1 / deviation), dtype=np.float32), seen.normalisation, deviation


def mean_squares(rows: Rows) -> Values:
    """Return the mean square of each column, an array of shape (d,)."""
    if issparse(rows):
        sums = np.bincount(rows.indices, rows.data.astype(np.float64) ** 2, minlength=rows.shape[1])
    else:
        sums = np.einsum("ij,ij->j", rows, rows, dtype=np.float64)
    squares: Values = sums / rows.shape[0]
    return squares


METHODS = {"softmax": Softmax, "logistic": Logistic}
