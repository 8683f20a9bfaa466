"""Mean average precision over labels, for which each label ranks all test images.

The precision at the n-th image with the label is n / (n + above + tied). Images without the label come before images
with the label and the same score, which follow each other. Labels without a test image are left out.
"""

import polars as pl

from vsebench.evaluation.metrics.base import LabelMetric


class LabelMap(LabelMetric):
    """Average precision of a label."""

    takes_cutoff = "never"

    def value(self) -> pl.Expr:
        before = pl.col("above") + pl.col("tied")
        number = before.rank("ordinal")
        return (number / (number + before)).mean()
