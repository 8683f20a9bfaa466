"""Compute precision-recall curves over all pairs of a test image and a label.

All pairs are in one ranking, in which scores of different images are compared. However, a ranking loss does not
determine the level of an image's scores. Therefore each curve is also computed from normalised scores: each score minus
the log-sum-exp of all scores of its image.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, figure 3,
computed as in the authors' code.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.schemas import CASE, Schema
from vsebench.data.problem import Mask
from vsebench.evaluation.analyses.base import AnalysedCase, Reads, normalised_scores

SCHEMA: Schema = CASE | {
    "normalised": pl.Boolean,  # whether the scores are normalised
    "recall": pl.Float64,
    "precision": pl.Float64,
    "average_precision": pl.Float64,  # average precision of the whole curve
}
READS = Reads(model=("model.npz",), features=True)
LEVELS = np.linspace(0.02, 1.0, 50)  # values of recall


def analyse(case: AnalysedCase) -> pl.DataFrame:
    right, candidates = case.test.right.mask(), ~case.test.known.mask()
    curves = {
        normalised: pooled_precision(scores[candidates], right[candidates])
        for normalised, scores in ((False, case.scores), (True, normalised_scores(case.scores)))
    }
    return pl.concat(curve.with_columns(normalised=pl.lit(normalised)) for normalised, curve in curves.items())


def pooled_precision(scores: NDArray[np.float32], right: Mask) -> pl.DataFrame:
    """Return the precision at each recall in `LEVELS`, and the average precision.

    The precision is taken at the first position where the recall reaches the level. `scores` and `right` contain one
    value per pair of an image and a label, without the labels that are already known for the image. Pairs with equal
    scores all get the last of the positions that they occupy, as in scikit-learn's `average_precision_score`.
    """
    order = np.argsort(-scores, axis=None, kind="stable")
    ranked, hits = scores.reshape(-1)[order], np.cumsum(right.reshape(-1)[order])
    last = np.flatnonzero(np.diff(ranked, append=-np.inf))  # the last of each group of equal scores
    recall, precision = hits[last] / hits[-1], hits[last] / (last + 1)
    average = float(np.sum(np.diff(recall, prepend=0.0) * precision))
    reached = np.searchsorted(recall, LEVELS - 1e-12)
    return pl.DataFrame({"recall": LEVELS, "precision": precision[reached], "average_precision": average})
