"""Compute precision against recall over all pairs of a test image and a label, with scores compared across images.

A ranking loss says nothing of the level of an image's scores, so each curve is computed a second time with the log of
the sum of exponentials subtracted from the scores of an image.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, figure 3,
as in the authors' code.
"""

import argparse
import json

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.cases import add_cases_arguments, named_cases
from vsebench.core.schemas import POOLED_PRECISION
from vsebench.core.storage import write_table
from vsebench.data.problem import Mask, Matrix
from vsebench.evaluation.fitted import fitted
from vsebench.evaluation.retrieval import scores_of

LEVELS = np.linspace(0.02, 1.0, 50)  # of recall


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    add_cases_arguments(parser)
    parser.add_argument("--features", type=json.loads, required=True, help='JSON: {"dataset": path, ...}')


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    tables = []
    for case, model, test, own in fitted(named_cases(arguments), arguments.results, arguments.features):
        scores = scores_of(model, test, own)
        right, asked = test.right.mask(), ~test.known.mask()
        keys = {key: pl.lit(value) for key, value in case.keys.items()}
        for normalised in (False, True):
            curve = pooled_precision((level(scores) if normalised else scores)[asked], right[asked])
            tables.append(curve.with_columns(normalised=pl.lit(normalised), **keys))
    write_table(pl.concat(tables).select(*POOLED_PRECISION).cast(POOLED_PRECISION), POOLED_PRECISION, arguments.out)


def level(scores: Matrix) -> Matrix:
    """Return the scores of each image less the log of the sum of their exponentials, (n, n_labels)."""
    largest = scores.max(axis=1, keepdims=True)
    leveled: Matrix = scores - largest - np.log(np.exp(scores - largest).sum(axis=1, keepdims=True))
    return leveled


def pooled_precision(scores: NDArray[np.float32], right: Mask) -> pl.DataFrame:
    """Return the precision at the first place where each level of recall is reached, and the average precision.

    `scores` and `right` have a number for each pair of an image and a label that the image is not known to have. Pairs
    with the same score are at one place, the last of them, as scikit-learn's `average_precision_score` has it.
    """
    order = np.argsort(-scores, axis=None, kind="stable")
    ranked, hits = scores.reshape(-1)[order], np.cumsum(right.reshape(-1)[order])
    last = np.flatnonzero(np.diff(ranked, append=-np.inf))  # the last of each group of equal scores
    recall, precision = hits[last] / hits[-1], hits[last] / (last + 1)
    average = float(np.sum(np.diff(recall, prepend=0.0) * precision))
    reached = np.searchsorted(recall, LEVELS - 1e-12)
    return pl.DataFrame({"recall": LEVELS, "precision": precision[reached], "average_precision": average})
