"""Project the vectors of test images and labels onto a plane, for a figure.

The plane is spanned by the first two principal components of the image vectors. The analysis skips models without
vectors or with a single factor, all seeds except the first, and tasks whose test images also have training labels.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", figure 5, which uses
t-SNE. Principal components are reproducible, have no settings, and map the vectors linearly.
"""

import numpy as np
import polars as pl

from vsebench.core.schemas import CASE, Schema
from vsebench.data.problem import Matrix
from vsebench.evaluation.analyses.base import AnalysedCase, Reads, normalise_rows

SCHEMA: Schema = CASE | {
    "name": pl.String,  # a label's name or an image's id
    "is_label": pl.Boolean,
    "x": pl.Float64,
    "y": pl.Float64,
    "labels": pl.List(pl.String),  # the labels of a test image; null for a label
}
READS = Reads(model=("model.npz",), dataset=("labels.parquet", "images.parquet"), features=True)


def analyse(case: AnalysedCase) -> pl.DataFrame | None:
    test = case.test
    if not case.is_first_seed or test.known.n_pairs or case.vectors is None or case.vectors[1].shape[1] < 2:
        return None
    images, labels = project(*case.vectors)
    names, ids = case.dataset.labels["name"], case.dataset.images["id"].gather(test.images)
    carried = [names.gather(np.flatnonzero(row)).to_list() for row in test.right.mask()]
    shown = np.flatnonzero(test.candidates)
    tables = [
        pl.DataFrame({"name": ids, "is_label": False, "x": images[:, 0], "y": images[:, 1], "labels": carried}),
        pl.DataFrame({"name": names.gather(shown), "is_label": True, "x": labels[shown, 0], "y": labels[shown, 1]}),
    ]
    return pl.concat(tables, how="diagonal")


def project(images: Matrix, labels: Matrix) -> tuple[Matrix, Matrix]:
    """Return the positions of images and labels in the plane of the images' first two principal components.

    All vectors are first scaled to length 1, as for a cosine; zero vectors are unchanged. Then the mean of the image
    vectors is subtracted from all vectors. To make the sign of each component reproducible, the sign is chosen so that
    the sum of the labels' coordinates is not negative. `images` has shape (q, factors), and `labels` has shape
    (n_labels, factors), with two factors or more. The positions have shapes (q, 2) and (n_labels, 2).
    """
    images, labels = normalise_rows(images).astype(np.float64), normalise_rows(labels).astype(np.float64)
    mean = images.mean(axis=0)
    components = np.linalg.svd(images - mean, full_matrices=False)[2][:2]
    label_positions = (labels - mean) @ components.T
    signs = np.where(label_positions.sum(axis=0) < 0, -1.0, 1.0)
    return (images - mean) @ components.T * signs, label_positions * signs
