"""Class constants: a threshold for each label, the same for all images.

The threshold t_k of label k minimises the binary cross-entropy of f_k - t_k on the validation images. At this minimum,
the probabilities sigmoid(f_k - t_k) sum to the number of images with the label. These thresholds are a control for
thresholds that depend on the image: Li, Song and Luo, "Improving pairwise ranking for multi-label image
classification", CVPR 2017, Eq. 16.
"""

from typing import Any

import numpy as np
from scipy.special import expit

from vsebench.data.problem import Mask
from vsebench.evaluation.decisions.base import Decision, Labelled, Scored

HALVINGS = 60  # of the interval that contains a threshold


class ClassConstants(Decision):
    """A label that no validation image has is never predicted; a label that all have is always predicted."""

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        scores = valid.scores.astype(np.float64)
        n_images, n_with_label = len(scores), valid.right.sum(axis=0)
        # At these bounds, the probabilities sum to less than 1, or to more than n_images - 1.
        reach = np.log(2.0 * n_images)
        low, high = scores.min(axis=0) - reach, scores.max(axis=0) + reach
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            too_many = expit(scores - middle).sum(axis=0) > n_with_label
            low, high = np.where(too_many, middle, low), np.where(too_many, high, middle)
        thresholds = np.where(n_with_label == 0, np.inf, np.where(n_with_label == n_images, -np.inf, (low + high) / 2))
        self.thresholds = thresholds
        return {"never_predicted": int((n_with_label == 0).sum())}

    def decide(self, images: Scored) -> Mask:
        return images.above(self.thresholds)


DECISION = ClassConstants
