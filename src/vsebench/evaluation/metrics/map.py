"""Mean average precision: the mean over an image's held-out labels of the precision at the label's place.

The precision at a label is right / (right + above + tied): ties with negatives count against it, and held-out labels
with the same score count for each other. Without a cut-off this is the label ranking average precision (LRAP) of
scikit-learn, except for images without a label, which are left out here. With a cut-off, labels after place k add 0 and
the sum is still divided by the number of held-out labels, as in trec_eval's map_cut.
"""

import polars as pl

from vsebench.evaluation.metrics.base import RankMetric, within


class Map(RankMetric):
    """Average precision of an image."""

    takes_cutoff = "optional"

    def value(self) -> pl.Expr:
        precision = pl.col("right") / (pl.col("right") + pl.col("above") + pl.col("tied"))
        return pl.when(within(self.cutoff)).then(precision).otherwise(0.0).sum() / pl.len()


METRIC = Map
