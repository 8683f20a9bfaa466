"""Rank the test images for each label, and list the first ones: how good a search for a word is, and what it finds.

Images are ranked by score, and by cosine where the model has vectors of images and labels. Places whose test images are
known have no lines, since a model would find an image by its other labels.

The norm of an image's vector counts in an inner product and not in a cosine, so the two rank the images differently,
though they rank the labels of an image alike where all labels' vectors have one length.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", section 4.2, which ranks
by the normalised inner product and prints no measure.
"""

import numpy as np
import polars as pl

from vsebench.core.schemas import CASE, Schema
from vsebench.data.problem import Mask, Matrix
from vsebench.evaluation.analyses.base import AnalysedCase, Reads, unit

SCHEMA: Schema = CASE | {
    "by": pl.String,  # what images are ranked by: score, or cosine of their vector with the label's
    "label": pl.String,
    "images": pl.Int32,  # test images with the label
    "average_precision": pl.Float64,
    "r_precision": pl.Float64,
    "first": pl.List(pl.String),  # ids of the first ten images
    "hits": pl.List(pl.Boolean),  # whether each of these has the label
}
READS = Reads(model=("model.npz",), dataset=("labels.parquet", "images.parquet"), features=True)
SHOWN = 10  # images of a word
RETRIEVED: Schema = {
    "label": pl.Int32,
    "images": pl.Int32,
    "average_precision": pl.Float64,
    "r_precision": pl.Float64,
    "first": pl.List(pl.Int64),
    "hits": pl.List(pl.Boolean),
}


def analyse(case: AnalysedCase) -> pl.DataFrame | None:
    """Return the ranking of the images for each label, labels by name and images by id."""
    test = case.test
    if test.known.n_pairs:
        return None
    numbers = {"score": case.scores} | ({} if case.vectors is None else {"cosine": cosines(*case.vectors)})
    rankings = [
        retrieve(values, test.right.mask(), test.candidates).with_columns(by=pl.lit(by))
        for by, values in numbers.items()
    ]
    names, ids = case.dataset.labels.select("label", "name"), case.dataset.images["id"].gather(test.images)
    found = pl.concat(rankings).join(names, on="label", how="left", maintain_order="left")
    first = pl.Series([ids.gather(rows).to_list() for rows in found["first"]], dtype=pl.List(pl.String))
    return found.with_columns(label="name", first=first)


def cosines(images: Matrix, labels: Matrix) -> Matrix:
    """Return the cosines of vectors of images and of labels, (q, n_labels); a vector of zeros has 0 with all others."""
    products: Matrix = unit(images) @ unit(labels).T
    return products


def retrieve(scores: Matrix, right: Mask, candidates: Mask) -> pl.DataFrame:
    """Rank the images for each label; labels without an image, or that are no candidates, are left out.

    Images without the label that score the same come first, in ascending order.

    Parameters
    ----------
    scores : (q, n_labels)
    right : (q, n_labels) bool, which images carry which labels
    candidates : (n_labels,) bool

    Returns
    -------
    label; images, how many carry it; average_precision; r_precision, the share of these among as many first ones;
    first, the first ten as rows of `scores`; hits, whether each of them carries it.
    """
    rows = []
    for label in np.flatnonzero(right.any(axis=0) & candidates):
        order = np.lexsort((right[:, label], -scores[:, label]))
        hits = right[order, label]
        places = np.flatnonzero(hits) + 1
        rows.append(
            {
                "label": int(label),
                "images": len(places),
                "average_precision": float(np.mean(np.arange(1, len(places) + 1) / places)),
                "r_precision": float(hits[: len(places)].mean()),
                "first": order[:SHOWN].tolist(),
                "hits": hits[:SHOWN].tolist(),
            }
        )
    return pl.DataFrame(rows, schema=RETRIEVED)
