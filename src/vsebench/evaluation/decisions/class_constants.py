"""Class constants: a threshold for each label, the same for all images.

The threshold t_k of label k is the minimum of the binary cross-entropy of f_k - t_k on the validation images, where the
probabilities sigmoid(f_k - t_k) add up to the number of images with the label. A control for thresholds that depend on
the image: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, Eq. 16, with
thresholds that do not.
"""

from typing import Any

import numpy as np
from scipy.special import expit

from vsebench.data.problem import Mask
from vsebench.evaluation.decisions.base import Decision, Labelled, Scored

HALVINGS = 60  # of the interval that a threshold lies in


class ClassConstants(Decision):
    """A label without a validation image is never predicted, one that all of them have always is."""

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        scores = valid.scores.astype(np.float64)
        n_images, carrying = len(scores), valid.right.sum(axis=0)
        # At these bounds the probabilities add up to less than one image, and to all images but less than one.
        reach = np.log(2.0 * n_images)
        low, high = scores.min(axis=0) - reach, scores.max(axis=0) + reach
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            too_many = expit(scores - middle).sum(axis=0) > carrying
            low, high = np.where(too_many, middle, low), np.where(too_many, high, middle)
        some = np.where(carrying == 0, np.inf, np.where(carrying == n_images, -np.inf, (low + high) / 2))
        self.thresholds = some
        return {"never_predicted": int((carrying == 0).sum())}

    def decide(self, images: Scored) -> Mask:
        chosen: Mask = images.scores > self.thresholds
        return chosen


DECISION = ClassConstants
