"""Images from a word: each label ranks the test images, by score or by the cosine of its vector with the image's.

The norm of an image's vector counts in an inner product and not in a cosine, so the two rank the images differently,
though they rank the labels of an image alike where all labels' vectors have one length.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", section 4.2, which ranks
by the normalised inner product and prints no measure.
"""

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from vsebench.core.schemas import Schema
from vsebench.data.problem import HeldOut, Mask, Matrix
from vsebench.evaluation.ranking import chunks, queries_of
from vsebench.models import Embedded, Model, checked_scores, checked_vectors

if TYPE_CHECKING:  # features need SciPy, which most models do without
    from vsebench.data.features import Features

SHOWN = 10  # images of a word
RETRIEVED: Schema = {
    "label": pl.Int32,
    "images": pl.Int32,
    "average_precision": pl.Float64,
    "r_precision": pl.Float64,
    "first": pl.List(pl.Int64),
    "hits": pl.List(pl.Boolean),
}


def scores_of(model: Model, held_out: HeldOut, features: "Features | None") -> Matrix:
    """Return the scores of all images and labels, (q, n_labels) float32."""
    return np.concatenate([checked_scores(model, queries_of(held_out, features, *ends)) for ends in chunks(held_out)])


def cosines_of(model: Model, held_out: HeldOut, features: "Features | None") -> Matrix | None:
    """Return the cosines of images' and labels' vectors without biases, (q, n_labels); None if a model has no vectors.

    A vector of zeros has the cosine 0 with all others.
    """
    vectors = vectors_of(model, held_out, features)
    if vectors is None:
        return None
    images, labels = map(unit, vectors)
    cosines: Matrix = images @ labels.T
    return cosines


def vectors_of(model: Model, held_out: HeldOut, features: "Features | None") -> tuple[Matrix, Matrix] | None:
    """Return vectors of images, (q, factors), and labels, (n_labels, factors), without biases; None if none exist."""
    if not isinstance(model, Embedded):
        return None
    images = np.concatenate(
        [checked_vectors(model, queries_of(held_out, features, *ends)) for ends in chunks(held_out)]
    )
    kept = slice(None, -1 if model.biased else None)
    return images[:, kept], model.label[:, kept]


def unit(rows: Matrix) -> Matrix:
    """Return rows of length 1; rows of zeros stay so."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    divided: Matrix = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return divided


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
