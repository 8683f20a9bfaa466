"""Compute the total variation distance between the negative sampling of fitted VSE-ens models and sampling by rank."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.schemas import CASE, Schema
from vsebench.data.problem import Matrix
from vsebench.evaluation.analyses.base import AnalysedCase, Reads
from vsebench.evaluation.ranking import ranks_from_zero
from vsebench.models import Embeddings

SCHEMA: Schema = CASE | {
    "image": pl.Int32,
    "lists": pl.Float64,  # distance of VSE-ens, which draws from sorted lists, from the sampler by rank
    "uniform": pl.Float64,  # distance of the uniform sampler from the sampler by rank
}
READS = Reads(model=("model.npz", "run.json"))
IMAGES = 500  # number of images to use, evenly spread over the images with a training label


def analyse(case: AnalysedCase) -> pl.DataFrame:
    model, settings = case.model, case.record["selection"]["settings"]
    if not isinstance(model, Embeddings) or "rank_scale" not in settings:
        raise UserError(
            f"{case}: the method is not vse_ens; in the paper's file in config/papers, name a variant of vse_ens"
        )
    known = np.flatnonzero(case.training.n_labels_of_row)
    images = known[np.unique(np.linspace(0, len(known) - 1, IMAGES).astype(np.int32))].astype(np.int32)
    of_lists, of_uniform = distances(model.image[images], model.label, settings["rank_scale"] * len(model.label))
    return pl.DataFrame({"image": images, "lists": of_lists, "uniform": of_uniform})


def distances(images: Matrix, labels: Matrix, rank_scale: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distances of two samplers of labels, VSE-ens and uniform, from the rank sampler, for each image.

    All three samplers can also draw a positive.

    The rank sampler orders the labels by <v_i, v_c>, the inner product of the vectors of image i and label c. It draws
    the label at rank r, counted from 0, with probability proportional to exp(-r / lambda) (Eq. 5).

    VSE-ens draws a factor f with probability proportional to |v_if| sigma_f, where sigma_f is the standard deviation of
    v_cf over the labels. It then sorts the labels by v_cf, largest first, or smallest first if v_if < 0. From this
    list, it draws a label with the rank sampler's probability for the label's rank (Eq. 6 to 8, Algorithm 1).

    The distance is the total variation: half the sum of absolute differences of the labels' probabilities. It ranges
    from 0 (equal distributions) to 1 (no label in common).

    Parameters
    ----------
    images : (n, K) float32, v_i
    labels : (n_labels, K) float32, v_c
    rank_scale : lambda of Eq. 5, in ranks

    Returns
    -------
    of_lists : (n,) float64, distances of VSE-ens
    of_uniform : (n,) float64, distances of the uniform sampler

    Source: Guo, Zhai, Yuan, Liu and Wang, "VSE-ens: Visual-Semantic Embeddings with Efficient Negative Sampling".
    """
    by_rank = np.exp(-np.arange(len(labels)) / rank_scale)
    by_rank /= by_rank.sum()
    by_rank_sampler = by_rank[ranks_from_zero(images @ labels.T)]
    of_lists = np.abs(sampling_probabilities(images, labels, by_rank) - by_rank_sampler).sum(axis=1) / 2
    of_uniform = np.abs(1 / len(labels) - by_rank_sampler).sum(axis=1) / 2
    return of_lists, of_uniform


def sampling_probabilities(images: Matrix, labels: Matrix, by_rank: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability with which VSE-ens draws each label for each image, (n, n_labels).

    `by_rank`, (n_labels,), contains the probability of each rank. `distances` explains the other arguments.
    """
    in_lists = ranks_from_zero(labels.T)
    weights = np.abs(images) * labels.std(axis=0).astype(np.float64)
    totals = weights.sum(axis=1, keepdims=True)
    last = np.zeros_like(weights)
    last[:, -1] = 1  # the kernel draws the last factor if all weights are 0
    shares = np.divide(weights, totals, out=last, where=totals > 0)
    upright = images > 0
    forward, backward = by_rank[in_lists], by_rank[len(labels) - 1 - in_lists]
    return np.asarray((shares * upright) @ forward + (shares * ~upright) @ backward)
