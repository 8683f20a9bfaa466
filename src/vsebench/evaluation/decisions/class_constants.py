"""Class constants: a threshold for each label, the same for all images.

With the goal `cross_entropy`, the threshold t_k of label k minimises the binary cross-entropy of f_k - t_k on the
validation images. At this minimum, the probabilities sigmoid(f_k - t_k) sum to the number of images with the label.
With the goal `f1`, the threshold maximises the label's F1 on the validation images, and so macro F1 (SCut). Both are
controls for thresholds that depend on the image: Li, Song and Luo, "Improving pairwise ranking for multi-label image
classification", CVPR 2017, Eq. 16.

Source of `f1`: Yang, "A study of thresholding strategies for text categorization", SIGIR 2001.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from vsebench.data.problem import Mask
from vsebench.evaluation.decisions.base import Decision, DecisionSettings, Labelled, Scored

HALVINGS = 60  # number of halvings of the interval that contains a threshold


class ClassConstantsSettings(DecisionSettings):
    """Settings of class constants."""

    # What each label's threshold optimises on the validation images: the binary cross-entropy, or the label's F1.
    goal: Literal["cross_entropy", "f1"] = "cross_entropy"


class ClassConstants(Decision):
    """A label that no validation image has is never predicted; a label that all have is always predicted."""

    settings_type = ClassConstantsSettings

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        n_images, n_with_label = len(valid.scores), valid.right.sum(axis=0)
        best = best_for_f1 if self.settings.goal == "f1" else best_for_cross_entropy
        inside = best(valid.scores.astype(np.float64), valid.right)
        self.thresholds = np.where(n_with_label == 0, np.inf, np.where(n_with_label == n_images, -np.inf, inside))
        return {"never_predicted": int((n_with_label == 0).sum())}

    def decide(self, images: Scored) -> Mask:
        return images.above(self.thresholds)


def best_for_cross_entropy(scores: NDArray[np.float64], right: Mask) -> NDArray[np.float64]:
    """Return the thresholds, (n_labels,), with the smallest cross-entropy, for scores and labels (n, n_labels)."""
    n_images, n_with_label = len(scores), right.sum(axis=0)
    # At these bounds, the probabilities sum to less than 1, or to more than n_images - 1.
    reach = np.log(2.0 * n_images)
    low, high = scores.min(axis=0) - reach, scores.max(axis=0) + reach
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        too_many = expit(scores - middle).sum(axis=0) > n_with_label
        low, high = np.where(too_many, middle, low), np.where(too_many, high, middle)
    return np.asarray((low + high) / 2)


def best_for_f1(scores: NDArray[np.float64], right: Mask) -> NDArray[np.float64]:
    """Return the thresholds, (n_labels,), with the largest F1, for scores and labels (n, n_labels).

    They lie half-way between two neighbouring scores, and of equal values the one that predicts the fewest images is
    taken; a threshold that predicts all images lies below the smallest score.
    """
    order = np.argsort(-scores, axis=0, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=0)
    hits = np.cumsum(np.take_along_axis(right, order, axis=0), axis=0)
    f1 = 2 * hits / (np.arange(1, len(scores) + 1)[:, np.newaxis] + right.sum(axis=0))
    next_one = np.vstack([ranked[1:], ranked[-1:] - 1])
    f1[ranked == next_one] = -1  # equal scores cannot be separated
    best = f1.argmax(axis=0)[np.newaxis]
    return np.asarray(np.take_along_axis(ranked + next_one, best, axis=0)[0] / 2)


DECISION = ClassConstants
