"""R-precision over labels: each label ranks all test images; the share of its own among as many as it has.

With R images that carry a label, it is the share of them among the first R. Images without the label that score the
same come before them. Labels without a test image are left out.
"""

import polars as pl

from vsebench.evaluation.metrics.base import LabelMetric


class LabelRPrecision(LabelMetric):
    """R-precision of a label."""

    takes_cutoff = "never"

    def value(self) -> pl.Expr:
        before = pl.col("above") + pl.col("tied")
        return (before + before.rank("ordinal") <= pl.len()).mean()


METRIC = LabelRPrecision
