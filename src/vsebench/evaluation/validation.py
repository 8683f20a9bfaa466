"""The mean of a metric over validation images, which training computes after every epoch."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.data.problem import HeldOut
from vsebench.evaluation.metrics import mean_metric, values
from vsebench.evaluation.ranking import RANKED, ranks_table

MOST_LABELS = 2**21 - 2  # with more labels, the numbers that `RememberedMean` makes of counts would not fit into int64
NEAR_TOP = 512  # number of top ranks whose metric is computed in advance


class MeanOfImages:
    """The mean of a metric over all images with a held-out label."""

    def __init__(self, metric: str, held_out: HeldOut) -> None:
        self.metric, self.held_out = metric, held_out

    def __call__(self, counts: NDArray[np.int32]) -> float:
        """Return the mean, given the counts from `evaluation.ranking.count_ranks`."""
        return mean_metric(ranks_table(self.held_out, counts), self.metric)


class RememberedMean(MeanOfImages):
    """The mean of a metric over images with one held-out label each.

    The metric is computed only once for each distinct rank: there are far fewer distinct ranks than images, and most
    ranks occur again in the next epoch. Here, a rank is a number that encodes three counts of `schemas.RANKS`. Its
    digits in base (number of labels + 2) are tied + 1, negatives and above + 1. For a new rank without ties, the metric
    is also computed for the first ranks with the same number of negatives, because these are likely to occur soon.
    """

    def __init__(self, metric: str, held_out: HeldOut) -> None:
        super().__init__(metric, held_out)
        self.base = held_out.right.n_labels + 2
        self.ranks = np.empty(0, dtype=np.int64)  # the ranks whose metric is known, ascending
        self.values = np.empty(0)

    def __call__(self, counts: NDArray[np.int32]) -> float:
        above, tied, _, negatives = counts.astype(np.int64)
        ranks, of_image = np.unique(((tied + 1) * self.base + negatives) * self.base + above + 1, return_inverse=True)
        self.remember(np.setdiff1d(ranks, self.ranks, assume_unique=True))
        return float(np.mean(self.values[np.searchsorted(self.ranks, ranks)][of_image]))

    def remember(self, ranks: NDArray[np.int64]) -> None:
        """Compute and keep the metric for new ranks, and for further ranks near the top."""
        if len(ranks) == 0:
            return
        pairs = np.unique(ranks // self.base)
        without_ties = pairs[pairs // self.base == 1]
        near_top = without_ties[:, np.newaxis] * self.base + 1 + np.arange(min(NEAR_TOP, self.base - 1))
        ranks = np.setdiff1d(np.union1d(ranks, near_top), self.ranks, assume_unique=True)
        self.values = np.concatenate([self.values, self.compute(ranks)])
        self.ranks = np.concatenate([self.ranks, ranks])
        order = np.argsort(self.ranks)
        self.ranks, self.values = self.ranks[order], self.values[order]

    def compute(self, ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return, for each rank, the metric of an image whose label has this rank."""
        pairs, above = np.divmod(ranks, self.base)
        tied, negatives = np.divmod(pairs, self.base)
        columns = {"above": above - 1, "tied": tied - 1, "right": np.ones_like(above), "negatives": negatives}
        frame = pl.DataFrame({"image": np.arange(len(ranks)), "label": np.zeros_like(above), **columns}).cast(RANKED)
        hidden = [pl.when(pl.col("above") >= 0).then(pl.col(name)).alias(name) for name in ("right", "tied", "above")]
        return values(frame.with_columns(hidden), [self.metric])[:, 0]


def mean_over(metric: str, held_out: HeldOut) -> MeanOfImages:
    """Return the function that computes the mean of a metric over the held-out images."""
    one_label_each = bool((held_out.right.n_labels_of_row <= 1).all())
    return (RememberedMean if one_label_each and held_out.right.n_labels <= MOST_LABELS else MeanOfImages)(
        metric, held_out
    )
