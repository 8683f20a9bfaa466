"""Mean average precision over labels: each label ranks all test images, and its average precision is taken.

The precision at the n-th image with the label is n / (n + above + tied): images without the label that score the same
come before it, and images with the label and the same score come one after the other. Labels without a test image
are left out.
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


METRICS = {"label_map": LabelMap}
