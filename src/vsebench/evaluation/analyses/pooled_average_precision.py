"""Compute the contribution of each image to the average precision over all pairs of a test image and a label.

Suppose that image i counts w_i times in the ranking of all pairs (`pooled_precision`). The average precision A is then
a function of these weights. The value of image i is A + n dA / dw_i, where n is the number of images, and A and its
derivative are taken at weights of 1. The mean of the values is A, since A does not change if all weights are multiplied
by the same number. The variance of the values, divided by n, estimates the variance of A over samples of images. This
estimate is called the infinitesimal jackknife (Efron, The jackknife, the bootstrap and other resampling plans, 1982).
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.schemas import CASE, Schema
from vsebench.data.problem import Mask, Matrix
from vsebench.evaluation.analyses.base import AnalysedCase, Reads, normalised_scores

SCHEMA: Schema = CASE | {
    "normalised": pl.Boolean,  # whether the scores are normalised, as in `pooled_precision`
    "image": pl.Int32,
    "value": pl.Float64,  # the mean over images is the average precision
}
READS = Reads(model=("model.npz",), features=True)


def analyse(case: AnalysedCase) -> pl.DataFrame:
    right, candidates = case.test.right.mask(), ~case.test.known.mask()
    tables = []
    for normalised, scores in ((False, case.scores), (True, normalised_scores(case.scores))):
        values = values_of_images(scores, right, candidates)
        tables.append(pl.DataFrame({"image": case.test.images, "value": values}).with_columns(normalised=normalised))
    return pl.concat(tables)


def values_of_images(scores: Matrix, right: Mask, candidates: Mask) -> NDArray[np.float64]:
    """Return the value of each image, as the module's docstring defines it.

    The arguments have shape (n, n_labels), and the result has shape (n,). Pairs that are not candidates are left out.

    Let N_s be the number of pairs with ranks up to s, and H_s the number of correct pairs among them. The average
    precision is the mean of H_s / N_s over the ranks s of the correct pairs. A pair at rank q counts in N_s if s >= q,
    and also in H_s if it is correct. Pairs with equal scores all get the last of the ranks that they occupy.
    """
    image = np.nonzero(candidates)[0]
    order = np.argsort(-scores[candidates], kind="stable")
    ranked, hit, image = scores[candidates][order], right[candidates][order], image[order]
    start = np.flatnonzero(np.diff(ranked, prepend=np.inf))  # the first pair of each group of equal scores
    hits, pairs = np.add.reduceat(hit, start, dtype=np.float64), np.diff(start, append=len(ranked))
    below = np.cumsum(pairs)
    precision = np.cumsum(hits) / below
    total = hits.sum()
    average = float(hits @ precision) / total
    gained = np.cumsum((hits / below)[::-1])[::-1]  # sums over all groups from this one on
    lost = np.cumsum((hits * precision / below)[::-1])[::-1]
    group = np.repeat(np.arange(len(start)), pairs)
    influence = hit * (precision[group] - average + gained[group]) - lost[group]
    by_image = np.bincount(image, weights=influence, minlength=len(scores)) / total
    return np.asarray(average + len(scores) * by_image)
