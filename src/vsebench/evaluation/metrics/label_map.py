"""Mean average precision over labels, in which all test images are ranked for each label.

The precision at the n-th image with the label is n / (n + above + tied), where `above` images without the label have a
higher score and `tied` have the same score. Among images with the same score, images without the label come first.
Labels without a test image are left out.
"""

import polars as pl

from vsebench.evaluation.metrics.base import LabelMetric


class LabelMap(LabelMetric):
    """Average precision of a label, for which all test images are ranked."""

    takes_cutoff = "never"

    def value(self) -> pl.Expr:
        before = pl.col("above") + pl.col("tied")
        number = before.rank("ordinal")
        return (number / (number + before)).mean()
