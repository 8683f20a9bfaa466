"""Compute the full-sample loss of VSE-fs for embeddings, on their training labels."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.schemas import CASE, Schema
from vsebench.data.problem import LabelMatrix, Matrix
from vsebench.evaluation.analyses.base import AnalysedCase, Reads
from vsebench.models import Embeddings

SCHEMA: Schema = CASE | {"beta_0": pl.Float64, "loss": pl.Float64}  # loss per positive
READS = Reads(model=("model.npz", "run.json"))
BETAS = [1.0, 2.0, 4.0, 16.0, 128.0]  # values of beta_0
PAIRS = 1 << 16  # number of pairs whose vectors are in memory at the same time
ROUNDING = 1e-14  # a variance below this share of the mean square counts as 0


def analyse(case: AnalysedCase) -> pl.DataFrame:
    model = case.model
    if not isinstance(model, Embeddings):
        raise UserError(
            f"{case}: the model has no image vectors; in the paper's file in config/papers, name a method that has them"
        )
    extends = case.record["module"] == "vse_fs"  # the vector of an image includes the vectors of its labels as terms
    gamma = case.record["selection"]["settings"]["gamma"] if extends else 0.0
    losses = full_sample_losses(model.image, model.label, case.training, BETAS, gamma)
    return pl.DataFrame({"beta_0": BETAS, "loss": losses})


def full_sample_losses(
    image: Matrix, label: Matrix, training: LabelMatrix, betas: Sequence[float], gamma: float = 0.0
) -> list[float]:
    """Return the full-sample loss per positive for each beta_0, with a shift and a scale fitted to the scores.

    Let x_ic be the score of image i and label c, M the number of labels, and b = beta_0 / M. The loss is the minimum
    over the shift a and the scale s of

        sum over positives (1 - a - s x_ic)^2 + b sum over all other pairs (a + s x_ic)^2,

    divided by the number of positives. This is Eq. 1 of VSE-fs without the penalty, with w_ic = 1 and alpha = 0. The
    shift and the scale (of either sign) are fitted because methods with other losses do not aim at scores of 1 for
    positives and 0 for other pairs. Constant scores give n b / (1 + n b), where n is the number of other pairs per
    positive. Images without a training label are left out.

    The score x_ic is the inner product <v_i, v_c> of the vectors of the image and the label. With gamma (VSE-fs only),
    v_i includes a term gamma |C_i|^(-1/2) v_c for each positive c of the image; C_i is the set of the image's
    positives. As in training (`excl_c` of Eq. 2), <gamma |C_i|^(-1/2) v_c, v_c> is subtracted from x_ic if c is a
    positive.

    Parameters
    ----------
    image : (n_images, K) float32, v_i
    label : (n_labels, K) float32, v_c
    training : the positives, one row per image
    betas : values of beta_0
    gamma : weight of the positives' vectors in v_i

    Source: Zhai, Guo, Yuan, Liu and Wang, "VSE-fs: Fast Full-Sample Visual Semantic Embedding", Eq. 1 and 2.
    """
    sizes = training.n_labels_of_row
    rows, labels = np.repeat(np.arange(training.n_rows), sizes), training.label_of_pair
    v_image, v_label = image.astype(np.float64), label.astype(np.float64)
    raw = scores_of_pairs(v_image, v_label, rows, labels)
    of_positives = raw - gamma / np.sqrt(sizes[rows]) * np.einsum("cf,cf->c", v_label, v_label)[labels]
    labelled = v_image[sizes > 0]
    products = labelled.sum(axis=0) @ v_label.sum(axis=0), np.sum((labelled.T @ labelled) * (v_label.T @ v_label))
    everything = np.array([len(labelled) * len(label), *products]) + sums(of_positives) - sums(raw)
    return [_smallest(sums(of_positives), everything, beta_0 / len(label)) for beta_0 in betas]


def sums(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an array of three numbers: the number of scores, their sum, and the sum of their squares."""
    return np.array([len(scores), scores.sum(), scores @ scores])


def scores_of_pairs(
    image: NDArray[np.float64], label: NDArray[np.float64], rows: NDArray[np.int64], labels: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the inner product of the image's vector and the label's vector for each pair of an image and a label.

    The result has shape (n_pairs,). For each pair, `rows` contains the row of `image`, and `labels` contains the row of
    `label`. The pairs are processed in blocks to save memory.
    """
    parts = [
        np.einsum("pf,pf->p", image[rows[first : first + PAIRS]], label[labels[first : first + PAIRS]])
        for first in range(0, len(rows), PAIRS)
    ]
    return np.concatenate([np.empty(0), *parts])


def _smallest(positives: NDArray[np.float64], everything: NDArray[np.float64], b: float) -> float:
    """Return the smallest loss per positive over shifts and scales, from the `sums` of positives and of all pairs."""
    n, x, squares = positives + b * (everything - positives)
    mean = x / n
    variance, covariance = squares / n - mean**2, (positives[1] - positives[0] * mean) / n
    explained = covariance**2 / variance if variance > ROUNDING * squares / n else 0.0
    return float(1.0 - positives[0] / n - explained * n / positives[0])
