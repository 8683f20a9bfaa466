"""Compute how far the negatives that fitted models of VSE-ens draw are from those of the rank sampler."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.schemas import CASE, Schema
from vsebench.data.problem import Matrix
from vsebench.evaluation.analyses.base import AnalysedCase, Reads
from vsebench.models import Embeddings

SCHEMA: Schema = CASE | {  # total variation from draws by rank
    "image": pl.Int32,
    "lists": pl.Float64,  # of draws from the sorted lists of VSE-ens
    "uniform": pl.Float64,  # of uniform draws
}
READS = Reads(model=("model.npz", "run.json"))
IMAGES = 500  # evenly spread over those with a training label


def analyse(case: AnalysedCase) -> pl.DataFrame:
    """Return the distances of some images with a training label."""
    model, settings = case.model, case.record["selection"]["settings"]
    if not isinstance(model, Embeddings) or "rank_scale" not in settings:
        raise UserError(f"{case}: it is no row of the method vse_ens; name another row in the paper's file")
    known = np.flatnonzero(case.training.n_labels_of_row)
    images = known[np.unique(np.linspace(0, len(known) - 1, IMAGES).astype(np.int32))].astype(np.int32)
    of_lists, of_uniform = distances(model.image[images], model.label, settings["rank_scale"] * len(model.label))
    return pl.DataFrame({"image": images, "lists": of_lists, "uniform": of_uniform})


def distances(images: Matrix, labels: Matrix, rank_scale: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how far two samplers are from the rank sampler, for each image, before a positive is drawn again.

    The rank sampler draws the label in place r, from 0 on, of the labels ordered by <v_i, v_c>, with probability
    proportional to exp(-r / lambda) (Eq. 5). VSE-ens draws a factor f with probability proportional to |v_if| sigma_f,
    then a place with the same probabilities in the labels ordered by v_cf, from the other end where v_if < 0 (Eq. 6 to
    8, Algorithm 1). The distance is the total variation: half the sum of absolute differences, from 0 (the same) to 1
    (no label in common).

    Parameters
    ----------
    images : (n, K) float32, v_i
    labels : (n_labels, K) float32, v_c
    rank_scale : lambda of Eq. 5, in places

    Returns
    -------
    of_lists : (n,) float64, of the draws of VSE-ens
    of_uniform : (n,) float64, of draws with the same probability for each label

    Source: Guo, Zhai, Yuan, Liu and Wang, "VSE-ens: Visual-Semantic Embeddings with Efficient Negative Sampling".
    """
    by_place = np.exp(-np.arange(len(labels)) / rank_scale)
    by_place /= by_place.sum()
    wanted = by_place[places(images @ labels.T)]
    of_lists = np.abs(drawn(images, labels, by_place) - wanted).sum(axis=1) / 2
    of_uniform = np.abs(1 / len(labels) - wanted).sum(axis=1) / 2
    return of_lists, of_uniform


def drawn(images: Matrix, labels: Matrix, by_place: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities with which VSE-ens draws each label, (n, n_labels), from those of the places."""
    in_lists = places(labels.T)
    weights = np.abs(images) * labels.std(axis=0).astype(np.float64)
    totals = weights.sum(axis=1, keepdims=True)
    last = np.zeros_like(weights)
    last[:, -1] = 1  # what the kernel's search comes to where all weights are 0
    shares = np.divide(weights, totals, out=last, where=totals > 0)
    upright = images > 0
    found: NDArray[np.float64] = (shares * upright) @ by_place[in_lists] + (shares * ~upright) @ by_place[
        len(labels) - 1 - in_lists
    ]
    return found


def places(scores: Matrix) -> NDArray[np.int64]:
    """Return the place of each column when those of a row are ordered from the highest down; ties by number."""
    order = np.argsort(-scores, axis=1, kind="stable")
    found = np.empty_like(order)
    np.put_along_axis(found, order, np.arange(scores.shape[1])[None, :], axis=1)
    return found
