"""Precision, recall and F1 of predicted label sets, computed from counts per label.

For a label, `predicted` is the number of images with the label in their predicted set, `right` the number of images
that have the label, and `hits` the number of images for which both are true. Metrics per class (`pc`, macro) are means
over all labels of the vocabulary, with the same weight for each label. They include labels without a test image unless
stated otherwise. Overall metrics (`ov`, micro) are computed from the sums of the three numbers over all labels. 0 / 0
counts as 0. Source of the per-class and overall precision and recall: Li, Song and Luo, "Improving pairwise ranking for
multi-label image classification", CVPR 2017, Eqs. 27 and 28.
"""

from collections.abc import Callable
from math import inf

import numpy as np

from vsebench.evaluation.metrics.base import EqualLabelsMetric, SetMetric, SetsOfImages, Values, mean_over_labels, share


class PcPrecision(EqualLabelsMetric):
    """Per-class precision: the mean of hits / predicted over all labels, where 0 / 0 counts as 0."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return mean_over_labels(share(hits, predicted))

    def lost_without(self, sets: SetsOfImages) -> Values:
        return lost_of_mean(sets, precision_of_label)


class PcRecall(EqualLabelsMetric):
    """Per-class recall: the mean of hits / right over all labels, where 0 / 0 counts as 0."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return mean_over_labels(share(hits, right))

    def lost_without(self, sets: SetsOfImages) -> Values:
        return lost_of_mean(sets, recall_of_label)


class OvPrecision(SetMetric):
    """Overall precision: hits / predicted, both summed over all labels; the value is 0 if nothing is predicted."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return share(hits.sum(axis=-1), predicted.sum(axis=-1))


class OvRecall(SetMetric):
    """Overall recall: hits / right, both summed over all labels."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return share(hits.sum(axis=-1), right.sum(axis=-1))


class MicroF1(SetMetric):
    """Overall F1: 2 hits / (predicted + right), with all three numbers summed over all labels."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return share(2 * hits.sum(axis=-1), predicted.sum(axis=-1) + right.sum(axis=-1))


class MacroF1(EqualLabelsMetric):
    """The mean F1 of all labels; a label's F1 is 2 hits / (predicted + right)."""

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return mean_over_labels(f1_of_label(hits, predicted, right))

    def lost_without(self, sets: SetsOfImages) -> Values:
        return lost_of_mean(sets, f1_of_label)


class MacroF1OfMeans(EqualLabelsMetric):
    """2 P R / (P + R), where P is the mean precision of the labels and R is their mean recall.

    The value is never smaller than `macro_f1`. Source: Makadia, Pavlovic and Kumar, "A new baseline for image
    annotation", ECCV 2008. INRIA's LEAR group and FastTag also use this metric.
    """

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        precision, recall = mean_over_labels(share(hits, predicted)), mean_over_labels(share(hits, right))
        return share(2 * precision * recall, precision + recall)

    def lost_without(self, sets: SetsOfImages) -> Values:
        counts = [matrix.sum(axis=0) for matrix in (sets.hits, sets.predicted, sets.right)]
        precision = precision_of_label(*counts).mean() - lost_of_mean(sets, precision_of_label)
        recall = recall_of_label(*counts).mean() - lost_of_mean(sets, recall_of_label)
        return np.asarray(self.value(*counts) - share(2 * precision * recall, precision + recall))


class MacroF1OfPresent(EqualLabelsMetric):
    """The mean F1 of the labels with a test image; a label's F1 is 2 hits / (predicted + right).

    Papers differ in their treatment of labels without a test image. In some papers, these labels count as 0 in macro
    F1, as in `macro_f1`; in other papers, as here, they are left out.
    """

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        f1 = f1_of_label(hits, predicted, right)
        return share(f1.sum(axis=-1, where=right > 0), np.count_nonzero(right, axis=-1).astype(float))

    def lost_without(self, sets: SetsOfImages) -> Values:
        counts = [matrix.sum(axis=0) for matrix in (sets.hits, sets.predicted, sets.right)]
        present = np.count_nonzero(counts[2]) - sets.lost(lambda hits, predicted, right: (right > 0).astype(float))
        total = self.value(*counts) * np.count_nonzero(counts[2]) - sets.lost(f1_if_present)
        return np.asarray(self.value(*counts) - share(total, present))


class NPlus(EqualLabelsMetric):
    """The number of labels with at least one hit (a recall above 0); papers on image annotation call it N+.

    Source: Feng, Manmatha and Lavrenko, "Multiple Bernoulli relevance models for image and video annotation", CVPR
    2004, which predicts five labels for each image.
    """

    largest = inf
    counts_labels = True
    is_count = True

    def value(self, hits: Values, predicted: Values, right: Values) -> Values:
        return np.asarray((hits > 0).sum(axis=-1), dtype=float)

    def lost_without(self, sets: SetsOfImages) -> Values:
        return sets.lost(lambda hits, predicted, right: (hits > 0).astype(float))


def precision_of_label(hits: Values, predicted: Values, right: Values) -> Values:
    return share(hits, predicted)


def recall_of_label(hits: Values, predicted: Values, right: Values) -> Values:
    return share(hits, right)


def f1_of_label(hits: Values, predicted: Values, right: Values) -> Values:
    return share(2 * hits, predicted + right)


def f1_if_present(hits: Values, predicted: Values, right: Values) -> Values:
    """Return each label's F1, or 0 for a label that no image has."""
    return f1_of_label(hits, predicted, right) * (right > 0)


def lost_of_mean(sets: SetsOfImages, of_label: Callable[[Values, Values, Values], Values]) -> Values:
    """Return, for each image, a mean over labels for all images minus the same mean without this image.

    The result has shape (n_images,). `of_label` returns each label's value, as for `SetsOfImages.lost`.
    """
    return sets.lost(of_label) / float(sets.right.shape[1])
