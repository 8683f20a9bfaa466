"""Metrics of the recommended labels: their number, how evenly they are recommended, and their frequency in training.

The metrics do not depend on whether the labels are correct. They describe a method and do not measure its quality:
labels drawn at random have the largest coverage and the smallest Gini coefficient. A label is recommended for an image
if it is in the image's predicted set, such as the first k labels of its list.
"""

from math import inf

import numpy as np
import polars as pl

from vsebench.evaluation.metrics.base import (
    EqualLabelsMetric,
    PopularityMetric,
    SetMetric,
    SetsOfImages,
    Values,
    mean_over_labels,
    share,
    within,
)


class CatalogueCoverage(EqualLabelsMetric):
    """The share of all labels that are recommended for at least one image.

    Source: Herlocker, Konstan, Terveen and Riedl, "Evaluating collaborative filtering recommender systems", ACM TOIS
    22, 2004.
    """

    is_quality = False

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return mean_over_labels((predicted > 0).astype(float))

    def lost_without(self, sets: SetsOfImages) -> Values:
        return sets.lost(lambda hits, predicted, right: (predicted > 0) / predicted.size)


class Gini(SetMetric):
    """The Gini coefficient of how often each label is recommended.

    For n labels, the coefficient is

        sum over labels of (2 r - n - 1) x / (n sum of x),

    where x is the number of images that a label is recommended for, and r is the label's position (from 1) in ascending
    order of x. The coefficient is 0 if all labels are recommended equally often, or if no label is recommended. If only
    one label is recommended, the coefficient is 1 - 1 / n. Source: Fleder and Hosanagar, "Blockbuster culture's next
    rise or fall", Management Science 55, 2009.
    """

    is_quality = False
    recentred = True

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        n = predicted.shape[-1]
        weights = 2 * np.arange(1, n + 1) - n - 1
        return share((np.sort(predicted, axis=-1) * weights).sum(axis=-1), n * predicted.sum(axis=-1))


class AveragePopularity(PopularityMetric):
    """The mean number of training images of the first k labels of the list.

    If the list has fewer than k labels, all of them count. An image with an empty list has the value 0.

    Source: Yin, Cui, Li, Yao and Chen, "Challenging the long tail recommendation", VLDB 2012.
    """

    is_quality = False
    largest = inf
    is_count = True

    def value(self) -> pl.Expr:
        return pl.col("frequency").filter(within(self.cutoff)).mean().fill_null(0.0)
