"""Test whether a model has learnt to tell its training images apart.

The size of a model's numbers does not show whether the model has learnt. With a learning rate of 1e6, the vectors of
WSABIE stay short, because their length is limited, but WSABIE ranks labels at random. With the same learning rate, the
weights of a linear model become large, but the linear model ranks labels well.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from vsebench.data.problem import Mask, Problem, Queries
from vsebench.data.streams import VALIDATION_SAMPLE, generator
from vsebench.models import Model, checked_scores

FEWEST_IMAGES, MOST_IMAGES = 10, 500
ERRORS = 3.0  # number of standard errors by which the mean advantage has to exceed 0


def has_learnt(model: Model, problem: Problem) -> bool:
    """Return whether a model ranks the labels of training images higher for these images than for other images.

    At most `MOST_IMAGES` images are drawn, and each is compared with the next one. The advantage of an image is the AUC
    of its ranking with its own labels as positives, minus the AUC of the same ranking with the labels of the next image
    as positives. The mean advantage is 0 for a model that gives all images the same ranking. A model has learnt if its
    mean advantage exceeds 0 by more than `ERRORS` standard errors. The result is also True if there are fewer than
    `FEWEST_IMAGES` images, or if all images have the same labels.
    """
    labels, features, images = problem.training.labels, problem.features, problem.training.images
    images = images[labels.n_labels_of_row[images] > 0]
    if features is not None:
        images = images[features.known[images]]
    images = generator(problem.seed, VALIDATION_SAMPLE).permutation(images)[:MOST_IMAGES]
    known = labels.rows(images)
    own = known.mask()
    of_next = np.roll(own, 1, axis=0)
    if len(images) < FEWEST_IMAGES or np.array_equal(own, of_next):
        return True
    scores = checked_scores(model, Queries(images, known, None if features is None else features.rows(images)))
    ranks = rankdata(scores, axis=1)
    advantage = share_in_order(ranks, own) - share_in_order(ranks, of_next)
    return bool(advantage.mean() > ERRORS * advantage.std() / math.sqrt(len(images)))


def share_in_order(ranks: NDArray[np.float64], chosen: Mask) -> NDArray[np.float64]:
    """Return, for each image, the share of label pairs that are in the right order.

    A pair consists of a chosen label and a label that is not chosen. It is in the right order if the chosen label has
    the larger rank. A pair of labels with the same rank counts half. The share is the area under the ROC curve.

    Parameters
    ----------
    ranks : (n, n_labels), from 1 for the lowest score; labels with the same score have their mean rank
    chosen : (n, n_labels), whether a label is chosen

    The result has shape (n,). It is 0.5 for an image if no label or every label is chosen.
    """
    n_chosen = chosen.sum(axis=1)
    pairs = n_chosen * (chosen.shape[1] - n_chosen)
    in_order = (ranks * chosen).sum(axis=1) - n_chosen * (n_chosen + 1) / 2
    return np.where(pairs > 0, in_order / np.maximum(pairs, 1), 0.5)
