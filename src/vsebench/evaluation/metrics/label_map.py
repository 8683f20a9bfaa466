"""Mean average precision over labels: all test images are ranked for each label.

The precision at the n-th image with the label is n / (n + above + tied). Here, `above` is the number of images without
the label that have a higher score than this image, and `tied` is the number of images without the label that have the
same score. Labels without a test image are left out.
"""

import polars as pl

from vsebench.evaluation.metrics.base import LabelMetric


class LabelMap(LabelMetric):
    """The average precision of a ranking of all test images for one label."""

    takes_cutoff = "never"

    def value(self) -> pl.Expr:
        before = pl.col("above") + pl.col("tied")
        number = before.rank("ordinal")
        return (number / (number + before)).mean()
