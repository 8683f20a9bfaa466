"""Predicted and correct label sets, and their metrics."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from vsebench.evaluation.metrics.base import (
    ImageSetMetric,
    SetMetric,
    SetsOfImages,
    Values,
    load_metric,
    metric_of_kind,
)
from vsebench.evaluation.significance import draw_counts


@dataclass(frozen=True)
class LabelSets(SetsOfImages):
    """The predicted and the correct label sets of images, as CSR matrices."""

    @classmethod
    def of_pairs(cls, predicted: pl.DataFrame, right: pl.DataFrame, images: pl.Series, n_labels: int) -> "LabelSets":
        """Return the label sets of `images`, given the tables `predicted` and `right` of pairs (image, label).

        `images` must not contain an image twice, and a table must not contain a pair twice.
        """
        numbers = pl.DataFrame({"image": images, "number": np.arange(len(images))})
        shape = len(images), n_labels
        chosen, correct = (_matrix(pairs.join(numbers, on="image"), shape) for pairs in (predicted, right))
        return cls(chosen.multiply(correct).tocsr(), chosen, correct)

    @classmethod
    def of_masks(cls, predicted: NDArray[np.bool_], right: NDArray[np.bool_]) -> "LabelSets":
        """Return the label sets, given two masks of shape (n_images, n_labels)."""
        return cls(*(sparse.csr_array(mask.astype(float)) for mask in (predicted & right, predicted, right)))

    @property
    def n_images(self) -> int:
        return int(self.right.shape[0])

    def value(self, name: str) -> float:
        """Return the metric `name` of the label sets of all images."""
        metric = load_metric(name)
        if isinstance(metric, SetMetric):
            return float(metric.value(*self.of_labels(np.ones((self.n_images, 1))))[0])
        return float(self.image_values([name]).mean())

    def image_values(self, names: Sequence[str]) -> Values:
        """Return the metrics `names` of each image, as an array of shape (n_images, n_metrics)."""
        counts = [matrix.sum(axis=1) for matrix in (self.hits, self.predicted, self.right)]
        kind = ImageSetMetric, "an image's label set", "exact_match"
        return np.stack([metric_of_kind(name, *kind).value(*counts) for name in names], axis=1)

    def of_labels(self, weights: Values) -> tuple[Values, Values, Values]:
        """Return, for each label, the numbers of hits, of predictions, and of images that have the label.

        A hit is a correct prediction. The m columns of `weights`, of shape (n_images, m), are alternative weights with
        which images are counted. Each result has shape (m, n_labels).
        """
        hits, predicted, right = (_counts(matrix, weights) for matrix in (self.hits, self.predicted, self.right))
        return hits, predicted, right


def resampled(models: Sequence[LabelSets], names: Sequence[str], resamples: int) -> list[Values]:
    """Return the values of set metrics on bootstrap resamples of the images.

    For each model, the values have shape (resamples, n_metrics). All models must have the same images and correct
    labels. Each resample draws the same images for all models.
    """
    kind = SetMetric, "label sets of images", "macro_f1"
    metrics = [metric_of_kind(name, *kind) for name in names]
    samples = [np.empty((resamples, len(names))) for _ in models]
    for block, counts in draw_counts(models[0].n_images, resamples):
        weights = np.ascontiguousarray(counts.T)  # otherwise, SciPy would copy the array for each product
        right = _counts(models[0].right, weights)
        for model, values in zip(models, samples, strict=True):
            hits, predicted = _counts(model.hits, weights), _counts(model.predicted, weights)
            for column, metric in enumerate(metrics):
                values[block, column] = metric.value(hits, predicted, right)
    return samples


def _counts(matrix: sparse.csr_array, weights: Values) -> Values:
    """Return, for each label, the sum of the weights of the images that have it.

    `matrix` has shape (n_images, n_labels), `weights` has shape (n_images, m), and the sums have shape (m, n_labels).
    """
    return np.ascontiguousarray((matrix.T @ weights).T)


def _matrix(pairs: pl.DataFrame, shape: tuple[int, int]) -> sparse.csr_array:
    rows, columns = (pairs[name].to_numpy() for name in ("number", "label"))
    return sparse.csr_array((np.ones(len(pairs)), (rows, columns)), shape=shape)
