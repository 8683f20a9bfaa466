"""Decisions that compare scores with thresholds or use only the order of the scores; none of them trains a network."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.special import expit, log_expit

from vsebench.data.problem import Mask, Matrix
from vsebench.evaluation.decisions.base import Decision, DecisionSettings, Labelled, Scored, ThresholdDecision
from vsebench.evaluation.ranking import ranks_from_zero

HALVINGS = 60  # number of halvings of the interval that contains a threshold


class Own(ThresholdDecision):
    """The labels that score above the model's own thresholds, for a model that predicts thresholds (`lsep_joint`)."""

    needs = frozenset({"thresholds"})

    def thresholds(self, images: Scored) -> Matrix:
        assert images.thresholds is not None
        return images.thresholds


class ScoreAboveSettings(DecisionSettings):
    threshold: float = 0.0  # labels with a higher score are chosen


class ScoreAbove(Decision):
    """The labels that score above a given threshold.

    With calibrated scores, such as those of a model trained with binary cross-entropy, a score above 0 means a
    probability above 1/2.
    """

    settings_type = ScoreAboveSettings

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        return {"threshold": self.settings.threshold}

    def decide(self, images: Scored) -> Mask:
        return images.above(self.settings.threshold)


class ThresholdSettings(DecisionSettings):
    steps: int = Field(default=50, ge=2)  # number of candidate thresholds, equally spaced
    highest: int = Field(default=10, ge=1)  # how many of each image's largest scores set the range of the candidates


class Threshold(Decision):
    """The labels that score above a threshold, which is the same for all labels and images.

    The threshold is the candidate with the best metric on the validation images, and the smallest of equally good ones.
    The `highest` largest scores of each validation image are collected. The candidates are equally spaced from the
    smallest to the largest of all these scores, as in the paper's published code. According to the text of the paper,
    the candidates span all scores, but most scores are too low to be useful thresholds. Source: Li, Song and Luo,
    "Improving pairwise ranking for multi-label image classification", CVPR 2017, section 3.3.
    """

    settings_type = ThresholdSettings
    tunes = True

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        highest = np.sort(valid.scores, axis=1)[:, -self.settings.highest :]
        tried = np.linspace(highest.min(), highest.max(), self.settings.steps, dtype=np.float32)
        self.threshold = max(tried, key=lambda threshold: self.tuning.value(valid.scores > threshold, valid.right))
        return {"threshold": float(self.threshold)}

    def decide(self, images: Scored) -> Mask:
        return images.above(self.threshold)


class TopKSettings(DecisionSettings):
    largest: int = Field(default=10, ge=1)  # the largest k to try; the smallest is 1


class TopK(Decision):
    """The first k labels of every image, where k gives the best metric on the validation images.

    Among equally good numbers, the smallest is chosen. Source: Li, Song and Luo, "Improving pairwise ranking for
    multi-label image classification", CVPR 2017, section 3.3. k is chosen as in the authors' code.
    """

    settings_type = TopKSettings
    tunes = True

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        ranks = ranks_from_zero(valid.scores)
        tried = range(1, min(self.settings.largest, valid.scores.shape[1]) + 1)
        self.k = max(tried, key=lambda k: self.tuning.value(ranks < k, valid.right))
        return {"k": self.k}

    def decide(self, images: Scored) -> Mask:
        return ranks_from_zero(images.scores) < self.k


class Calibrated(Decision):
    """The labels with a calibrated probability above 1/2.

    A label with the score f has the probability sigmoid(a f + b). The numbers a and b, which are the same for all
    labels, are fitted on the validation images. This is a control for decisions that use image features or the scores
    of other labels: here, only a label's own score decides. Source: Platt, "Probabilistic outputs for support vector
    machines", 1999, without his smoothing of the targets.
    """

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        # Imported here, because Snakemake imports this module and importing scipy.optimize takes a tenth of a second.
        from scipy.optimize import minimize

        scores = valid.scores.astype(np.float64)
        center, scale = scores.mean(), scores.std() or 1.0
        units, sign = (scores - center) / scale, np.where(valid.right, 1.0, -1.0)

        def loss(line: Any) -> tuple[float, Any]:
            margin = sign * (line[0] * units + line[1])
            slope = -sign * expit(-margin)
            return -log_expit(margin).mean(), np.array([(slope * units).mean(), slope.mean()])

        a, b = minimize(loss, [1.0, 0.0], jac=True, method="BFGS").x
        self.slope, self.offset = a / scale, b - a * center / scale
        return {"slope": float(self.slope), "offset": float(self.offset)}

    def decide(self, images: Scored) -> Mask:
        return np.asarray(self.slope * images.scores.astype(np.float64) + self.offset > 0)


class ClassConstantsSettings(DecisionSettings):
    # What each label's threshold optimises on the validation images: the binary cross-entropy, or the label's F1.
    goal: Literal["cross_entropy", "f1"] = "cross_entropy"


class ClassConstants(Decision):
    """The labels that score above a threshold, where each label has its own threshold for all images.

    This is a control for thresholds that depend on the image. See Eq. 16 of Li, Song and Luo, "Improving pairwise
    ranking for multi-label image classification", CVPR 2017.

    With the goal `cross_entropy`, label k with the score f_k and the threshold t_k has the probability
    sigmoid(f_k - t_k). The threshold minimises the binary cross-entropy of these probabilities on the validation
    images. At the minimum, the probabilities of a label sum to its number of validation images. With the goal `f1`, the
    threshold maximises the label's F1 on the validation images, so the thresholds maximise macro F1 (SCut: Yang, "A
    study of thresholding strategies for text categorization", SIGIR 2001). A label that no validation image has is
    never predicted; a label that all validation images have is always predicted.
    """

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
    """Return, for each label, the threshold that minimises the label's binary cross-entropy.

    The arguments have shape (n, n_labels), and the result has shape (n_labels,).
    """
    n_images, n_with_label = len(scores), right.sum(axis=0)
    # At `low`, the probabilities sum to more than n_images - 1; at `high`, they sum to less than 1.
    reach = np.log(2.0 * n_images)
    low, high = scores.min(axis=0) - reach, scores.max(axis=0) + reach
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        too_many = expit(scores - middle).sum(axis=0) > n_with_label
        low, high = np.where(too_many, middle, low), np.where(too_many, high, middle)
    return np.asarray((low + high) / 2)


def best_for_f1(scores: NDArray[np.float64], right: Mask) -> NDArray[np.float64]:
    """Return, for each label, the threshold that maximises the label's F1.

    The arguments have shape (n, n_labels), and the result has shape (n_labels,). Each threshold lies half-way between
    two neighbouring scores, or below the smallest score if all images get the label. Among equally good thresholds, the
    highest is chosen, which predicts the label for the fewest images.
    """
    order = np.argsort(-scores, axis=0, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=0)
    hits = np.cumsum(np.take_along_axis(right, order, axis=0), axis=0)
    f1 = 2 * hits / (np.arange(1, len(scores) + 1)[:, np.newaxis] + right.sum(axis=0))
    next_one = np.vstack([ranked[1:], ranked[-1:] - 1])
    f1[ranked == next_one] = -1  # equal scores cannot be separated
    best = f1.argmax(axis=0)[np.newaxis]
    return np.asarray(np.take_along_axis(ranked + next_one, best, axis=0)[0] / 2)


DECISIONS = {
    "own": Own,
    "score_above": ScoreAbove,
    "threshold": Threshold,
    "top_k": TopK,
    "calibrated": Calibrated,
    "class_constants": ClassConstants,
}
