"""The mean of a metric over validation images, which training computes after every epoch."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.data.problem import HeldOut
from vsebench.evaluation.metrics import mean_metric, values
from vsebench.evaluation.ranking import RANKED, ranks_table

MOST_LABELS = 2**21 - 2  # with more labels, the numbers that `RememberedMean` makes of counts would not fit into int64


class MeanOfImages:
    """The mean of a metric over all images with a held-out label."""

    def __init__(self, metric: str, held_out: HeldOut) -> None:
        self.metric, self.held_out = metric, held_out

    def __call__(self, counts: NDArray[np.int32]) -> float:
        """Return the mean, from what `evaluation.ranking.count_ranks` returns."""
        return mean_metric(ranks_table(self.held_out, counts), self.metric)


class RememberedMean(MeanOfImages):
    """The same for images with one held-out label each; the metric is computed once for each rank that occurs.

    There are far fewer ranks than images, and most ranks occur again in the next epoch. A rank is one number, made from
    the three counts above, tied and negatives: its three digits, to the base of the number of labels + 2.
    """

    def __init__(self, metric: str, held_out: HeldOut) -> None:
        super().__init__(metric, held_out)
        self.base = held_out.right.n_labels + 2
        self.ranks = np.empty(0, dtype=np.int64)  # those that occurred, ascending
        self.values = np.empty(0)

    def __call__(self, counts: NDArray[np.int32]) -> float:
        above, tied, _, negatives = counts.astype(np.int64)
        ranks, of_image = np.unique(((above + 1) * self.base + tied + 1) * self.base + negatives, return_inverse=True)
        self.remember(np.setdiff1d(ranks, self.ranks, assume_unique=True))
        return float(np.mean(self.values[np.searchsorted(self.ranks, ranks)][of_image]))

    def remember(self, ranks: NDArray[np.int64]) -> None:
        """Compute and keep the metric for new ranks."""
        if len(ranks) == 0:
            return
        rest, negatives = np.divmod(ranks, self.base)
        above, tied = (count - 1 for count in np.divmod(rest, self.base))
        is_miss = above < 0
        counts = {"above": above, "tied": tied, "right": np.ones_like(above)}
        frame = pl.DataFrame({"image": np.arange(len(ranks)), "label": 0, **counts, "negatives": negatives})
        hidden = [pl.when(~pl.Series(is_miss)).then(pl.col(name)).alias(name) for name in counts]
        of_ranks = values(frame.cast(RANKED).with_columns(hidden), [self.metric])[:, 0]
        places = np.searchsorted(self.ranks, ranks)
        self.ranks = np.insert(self.ranks, places, ranks)
        self.values = np.insert(self.values, places, of_ranks)


def mean_over(metric: str, held_out: HeldOut) -> MeanOfImages:
    """Return the function that computes the mean of a metric over the held-out images."""
    one_label_each = bool((held_out.right.n_labels_of_row <= 1).all())
    return (RememberedMean if one_label_each and held_out.right.n_labels <= MOST_LABELS else MeanOfImages)(
        metric, held_out
    )
