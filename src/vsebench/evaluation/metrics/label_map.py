"""Mean average precision over labels: each label ranks all test images, and its average precision is taken.

The precision at an image is right / (right + above + tied), where `right` counts the images with the label that score
at least as high. Labels without a test image are left out.
"""

import polars as pl

from vsebench.evaluation.metrics.base import LabelMetric


class LabelMap(LabelMetric):
    """Average precision of a label."""

    takes_cutoff = "never"

    def value(self) -> pl.Expr:
        return (pl.col("right") / (pl.col("right") + pl.col("above") + pl.col("tied"))).mean()


METRIC = LabelMap
