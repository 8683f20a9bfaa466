"""Predicted and correct label sets: their counts per image and per label, and their metrics."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from vsebench.core.errors import UserError
from vsebench.evaluation.metrics.base import ImageSetMetric, SetMetric, Values, load_metric
from vsebench.evaluation.significance import draw_counts


@dataclass(frozen=True)
class LabelSets:
    """Label sets of images.

    Attributes
    ----------
    hits, predicted, right : (n_images, n_labels) CSR float64, 1 where a label is both predicted and correct, is
        predicted, and is correct
    """

    hits: sparse.csr_array
    predicted: sparse.csr_array
    right: sparse.csr_array

    @classmethod
    def of_pairs(cls, predicted: pl.DataFrame, right: pl.DataFrame, images: pl.Series, n_labels: int) -> "LabelSets":
        """Return the sets of `images` (unique), given tables of unique pairs with the columns image and label."""
        numbers = pl.DataFrame({"image": images, "number": np.arange(len(images))})
        shape = len(images), n_labels
        predicted_matrix, right_matrix = (
            _matrix(pairs.join(numbers, on="image"), shape) for pairs in (predicted, right)
        )
        return cls(predicted_matrix.multiply(right_matrix).tocsr(), predicted_matrix, right_matrix)

    @classmethod
    def of_masks(cls, predicted: NDArray[np.bool_], right: NDArray[np.bool_]) -> "LabelSets":
        """Return the sets from (n_images, n_labels) arrays."""
        return cls(*(sparse.csr_array(mask.astype(float)) for mask in (predicted & right, predicted, right)))

    @property
    def n_images(self) -> int:
        return int(self.right.shape[0])

    def value(self, name: str) -> float:
        """Return a set metric over all images."""
        metric = load_metric(name)
        if isinstance(metric, SetMetric):
            return float(metric.value(*self.of_labels(np.ones((self.n_images, 1))))[0])
        return float(self.image_values([name]).mean())

    def image_values(self, names: Sequence[str]) -> Values:
        """Return image metrics, (n_images, n_metrics)."""
        counts = [matrix.sum(axis=1) for matrix in (self.hits, self.predicted, self.right)]
        return np.stack([_of_images(name).value(*counts) for name in names], axis=1)

    def of_labels(self, weights: Values) -> tuple[Values, Values, Values]:
        """Return counts per label with image weights `weights[i, b]`: hits, predicted, right.

        `weights` is (n_images, m); the counts are (m, n_labels) each.
        """
        hits, predicted, right = (_counts(matrix, weights) for matrix in (self.hits, self.predicted, self.right))
        return hits, predicted, right


def resampled(models: Sequence[LabelSets], names: Sequence[str], resamples: int) -> list[Values]:
    """Return bootstrap values of metrics by label, (resamples, n_metrics) per model, by resampling images.

    The models' sets must have the same images and correct labels; every resample draws the same images for all.
    """
    metrics = [load_metric(name) for name in names]
    samples = [np.empty((resamples, len(names))) for _ in models]
    for block, counts in draw_counts(models[0].n_images, resamples):
        weights = np.ascontiguousarray(counts.T)  # SciPy would copy it for each product
        right = _counts(models[0].right, weights)
        for model, values in zip(models, samples, strict=True):
            hits, predicted = _counts(model.hits, weights), _counts(model.predicted, weights)
            for column, metric in enumerate(metrics):
                assert isinstance(metric, SetMetric)
                values[block, column] = metric.value(hits, predicted, right)
    return samples


def _counts(matrix: sparse.csr_array, weights: Values) -> Values:
    """Return counts per label, (m, n_labels), with image weights `weights[i, b]`."""
    return np.ascontiguousarray((matrix.T @ weights).T)


def _matrix(pairs: pl.DataFrame, shape: tuple[int, int]) -> sparse.csr_array:
    rows, columns = (pairs[name].to_numpy() for name in ("number", "label"))
    return sparse.csr_array((np.ones(len(pairs)), (rows, columns)), shape=shape)


def _of_images(name: str) -> ImageSetMetric:
    metric = load_metric(name)
    if not isinstance(metric, ImageSetMetric):
        raise UserError(f"{name} cannot be computed from an image's label set; use a metric such as exact_match")
    return metric
