"""Retrieve images by a word: rank the test images for each label, and list the images that are ranked first.

Images are ranked by score, and also by cosine if the model has vectors of images and labels. Tasks are skipped if test
images also have training labels, because a model could find an image by these labels.

Scores and cosines rank images differently, because the norm of an image's vector affects an inner product but not a
cosine. Both rank the labels of an image in the same order if all label vectors have the same length.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", section 4.2. The paper
ranks by the normalised inner product and does not measure the quality of the rankings.
"""

import numpy as np
import polars as pl

from vsebench.core.schemas import CASE, Schema
from vsebench.data.problem import Mask, Matrix
from vsebench.evaluation.analyses.base import AnalysedCase, Reads, normalise_rows

SCHEMA: Schema = CASE | {
    "by": pl.String,  # "score", or "cosine" of the image's and the label's vector
    "label": pl.String,
    "images": pl.Int32,  # number of test images with the label
    "average_precision": pl.Float64,
    "r_precision": pl.Float64,
    "first": pl.List(pl.String),  # ids of the first ten images
    "hits": pl.List(pl.Boolean),  # whether these images have the label
}
READS = Reads(model=("model.npz",), dataset=("labels.parquet", "images.parquet"), features=True)
SHOWN = 10  # number of images listed per label
RETRIEVED: Schema = {
    "label": pl.Int32,
    "images": pl.Int32,
    "average_precision": pl.Float64,
    "r_precision": pl.Float64,
    "first": pl.List(pl.Int64),
    "hits": pl.List(pl.Boolean),
}


def analyse(case: AnalysedCase) -> pl.DataFrame | None:
    test = case.test
    if test.known.n_pairs:
        return None
    numbers = {"score": case.scores} | ({} if case.vectors is None else {"cosine": cosines(*case.vectors)})
    rankings = [
        retrieve(values, test.right.mask(), test.candidates).with_columns(by=pl.lit(by))
        for by, values in numbers.items()
    ]
    names, ids = case.dataset.labels.select("label", "name"), case.dataset.images["id"].gather(test.images)
    rankings_by_name = pl.concat(rankings).join(names, on="label", how="left", maintain_order="left")
    first = pl.Series([ids.gather(rows).to_list() for rows in rankings_by_name["first"]], dtype=pl.List(pl.String))
    return rankings_by_name.with_columns(label="name", first=first)


def cosines(images: Matrix, labels: Matrix) -> Matrix:
    """Return the cosine of each image vector with each label vector, (q, n_labels) for q images.

    The cosine with a vector of zeros is 0.
    """
    return normalise_rows(images) @ normalise_rows(labels).T


def retrieve(scores: Matrix, right: Mask, candidates: Mask) -> pl.DataFrame:
    """Rank the images for each candidate label that at least one image has.

    Among images with equal scores, images without the label come first. Remaining ties are broken by the order of the
    rows.

    Parameters
    ----------
    scores : (q, n_labels)
    right : (q, n_labels) bool, the correct labels of the images
    candidates : (n_labels,) bool

    Returns
    -------
    A table with one row per label and the columns

    - `label`;
    - `images`: the number R of images with the label;
    - `average_precision`;
    - `r_precision`: the share of the first R images that have the label;
    - `first`: the first ten images, as row numbers of `scores`;
    - `hits`: whether each of these ten images has the label.
    """
    rows = []
    for label in np.flatnonzero(right.any(axis=0) & candidates):
        order = np.lexsort((right[:, label], -scores[:, label]))
        hits = right[order, label]
        hit_ranks = np.flatnonzero(hits) + 1
        rows.append(
            {
                "label": int(label),
                "images": len(hit_ranks),
                "average_precision": float(np.mean(np.arange(1, len(hit_ranks) + 1) / hit_ranks)),
                "r_precision": float(hits[: len(hit_ranks)].mean()),
                "first": order[:SHOWN].tolist(),
                "hits": hits[:SHOWN].tolist(),
            }
        )
    return pl.DataFrame(rows, schema=RETRIEVED)
