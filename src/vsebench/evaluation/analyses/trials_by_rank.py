"""Simulate WARP's steps on fitted models, and compare the number of scores per step with the WSABIE paper's bound."""

import numpy as np
import polars as pl

from vsebench.core.errors import UserError
from vsebench.core.schemas import CASE, Schema
from vsebench.data.problem import LabelMatrix, Matrix
from vsebench.evaluation.analyses.base import AnalysedCase, Reads
from vsebench.kernels.random_numbers import new_state
from vsebench.kernels.sgd.warp import new_trials
from vsebench.kernels.sgd.warp_trials import draw_trials
from vsebench.kernels.vectors import LANES, aligned, padded_size

SCHEMA: Schema = CASE | {
    "image": pl.Int32,
    "label": pl.Int32,
    "violators": pl.Int64,  # number of the image's negatives that violate the margin; the bound uses it as the rank
    "scores": pl.Float64,  # mean number of scores that a step computes: one for the label and one per trial
    "bound": pl.Float64,  # 1 + min(n / violators, n), where n is the image's number of negatives
}
READS = Reads(model=("model.npz",), features=True)
IMAGES = 500  # number of images to use, evenly spread over the test images
STEPS = 100  # number of steps drawn for each label of an image


def analyse(case: AnalysedCase) -> pl.DataFrame:
    if case.vectors is None:
        raise UserError(
            f"{case}: the model has no vectors; in the paper's file in config/papers, name a method that has them"
        )
    images, labels = case.vectors
    chosen = np.unique(np.linspace(0, len(images) - 1, IMAGES).astype(np.int32))
    found = trials_of_labels(images[chosen], labels, case.test.right.rows(chosen), case.case.seed)
    return found.with_columns(image=case.test.images[chosen[found["image"].to_numpy()]])


def trials_of_labels(images: Matrix, labels: Matrix, carried: LabelMatrix, seed: int) -> pl.DataFrame:
    """Return a table with a row for each label of each image, and the columns of SCHEMA that do not name the case.

    The column `image` contains the image's row in `images`.

    Parameters
    ----------
    images : (n, K) float32
    labels : (n_labels, K) float32
    carried : the labels of the images, n rows
    seed : seed of the draws
    """
    rows, positives = carried.image_of_pair, carried.label_of_pair
    scores = images @ labels.T
    violations = 1 - scores[rows, positives][:, None] + scores[rows] > 0
    violations &= ~carried.mask()[rows]
    violators, negatives = violations.sum(axis=1), carried.n_labels - carried.n_labels_of_row[rows]
    trials = np.zeros(len(rows), dtype=np.int64)
    unread = np.append(positives, np.zeros(LANES, dtype=np.int32))  # kernels read beyond the labels of a row
    state = new_state(seed)
    draw_trials(
        padded(images), padded(labels), rows, carried.offsets, unread, new_trials(len(labels)), state, STEPS, trials
    )
    bound = 1 + np.minimum(negatives / np.maximum(violators, 1), negatives)
    columns = {"image": rows, "label": positives, "violators": violators}
    return pl.DataFrame(columns | {"scores": 1 + trials / STEPS, "bound": bound})


def padded(vectors: Matrix) -> Matrix:
    """Return the vectors with zeros appended up to the number of factors that kernels need."""
    filled = aligned(len(vectors), padded_size(vectors.shape[1]))
    filled[:, : vectors.shape[1]] = vectors
    return filled
