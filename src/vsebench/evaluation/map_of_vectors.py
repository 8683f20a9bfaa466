"""Images and labels in one plane: the principal components of the images' vectors, and the labels' in the same ones.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", figure 5, which draws
them with t-SNE. Components are the same in every run, have no settings, and keep the angles that scores are made of.
"""

import numpy as np

from vsebench.data.problem import Matrix
from vsebench.evaluation.retrieval import unit


def plane(images: Matrix, labels: Matrix) -> tuple[Matrix, Matrix]:
    """Return where images and labels lie in the plane of the images' first two principal components.

    All vectors have length 1 first, as for a cosine; those of zeros stay so. Labels are moved by the images' mean. A
    component points to where most labels lie, so that the same vectors give the same picture.

    Parameters
    ----------
    images : (q, factors) float
    labels : (n_labels, factors) float, factors at least 2

    Returns
    -------
    (q, 2) and (n_labels, 2) float64
    """
    images, labels = unit(images).astype(np.float64), unit(labels).astype(np.float64)
    mean = images.mean(axis=0)
    components = np.linalg.svd(images - mean, full_matrices=False)[2][:2]
    placed = (labels - mean) @ components.T
    signs = np.where(placed.sum(axis=0) < 0, -1.0, 1.0)
    return (images - mean) @ components.T * signs, placed * signs
