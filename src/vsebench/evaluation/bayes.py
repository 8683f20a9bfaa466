"""Bayes-optimal label sets under a known conditional label distribution, computed exactly.

The distribution is known for simulated data sets. Y is the label set of an image with the features x, and the
probability of label k is p_k = P(k in Y | x). Given x, labels are either independent
(`formats/simulators/simulated_independent.py`), or Y is one of the sets of a catalogue
(`formats/simulators/simulated_catalogue.py`). For each metric, the best set to predict is:

    exact match   the most probable set. For independent labels, this is the set of all k with p_k > 1/2. For a
                  catalogue, it is the set S with the largest P(S | x)
    example F1    the set A with the largest E[2 |A and Y| / (|A| + |Y|)], where E is the expectation given x, and the
                  F1 of two empty sets is 1. Among the sets of s labels, the best one contains the s labels k with the
                  largest gains

                      g_ks = E[1(k in Y) 2 / (s + |Y|)],

                  and its expected F1 is the sum of these gains. The size s with the largest sum is chosen. If
                  P(Y is empty) is at least as large as this sum, the empty set is chosen instead
    label count   the c labels with the largest p_k, where c is the most probable number of labels
    Hamming distance  the labels k with p_k > 1/2

Source: the formula for example F1 is from Dembczynski, Waegeman, Cheng and Hullermeier, "An exact algorithm for
F-measure maximization", NIPS 2011; the other rules follow from the definitions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vsebench.methods.controls.label_probabilities import IndependentLabels, LabelCatalogue

Floats = NDArray[np.float64]


class Decision(NamedTuple):
    """The label sets that are predicted for n images, and their expected metrics."""

    labels: NDArray[np.bool_]  # (n, n_labels), whether a label is predicted for an image
    expected: Floats  # (n,), the expected metric, given the image's features; for `label_count`, P(|Y| = c)


class LabelDistribution(Protocol):
    """The distribution of the label sets of n images, given their features."""

    def marginals(self) -> Floats:
        """Return the probability of each label for each image, (n, n_labels)."""

    def mode(self) -> Decision:
        """Return the most probable label set of each image, and the probability of this set."""

    def counts(self) -> Floats:
        """Return the probability of each number of labels for each image.

        The result has shape (n, n_labels + 1), with a column for each number from 0 to n_labels.
        """

    def gains(self) -> Floats:
        """Return the gains g_ks that the docstring of this module defines.

        The result has shape (n, n_labels, n_labels). The second axis is for the label k, and the last axis is for the
        size s, from 1 to n_labels.
        """


def exact_match(features: NDArray[np.float32], truth: Mapping[str, NDArray[Any]]) -> Decision:
    """Return the most probable label set of each image, and the probability of this set.

    The probability is the expected exact match.

    Parameters
    ----------
    features : (n, d) float32, as in the data set
    truth : the arrays of truth.npz; see the classes in `methods.controls.label_probabilities`. Arrays of other
        distributions raise a `ValueError` or a `KeyError`
    """
    return distribution_of(features, truth).mode()


def example_f1(features: NDArray[np.float32], truth: Mapping[str, NDArray[Any]]) -> Decision:
    """Return the label set with the largest expected F1 for each image, and this expected F1.

    The parameters are those of `exact_match`.
    """
    distribution = distribution_of(features, truth)
    gains, empty = distribution.gains(), distribution.counts()[:, 0]
    order = np.argsort(-gains, axis=1, kind="stable")
    totals = np.cumsum(np.take_along_axis(gains, order, axis=1), axis=1)
    values = np.diagonal(totals, axis1=1, axis2=2)  # (n, n_labels): for each size s, the sum of the s largest gains
    best = values.argmax(axis=1)
    expected = values.max(axis=1)
    labels = first_labels(np.take_along_axis(order, best[:, None, None], axis=2)[:, :, 0], best + 1)
    labels[empty >= expected] = False
    return Decision(labels, np.maximum(expected, empty))


def label_count(features: NDArray[np.float32], truth: Mapping[str, NDArray[Any]]) -> Decision:
    """Return the c most probable labels of each image, where c is the image's most probable number of labels.

    The field `expected` of the result is the probability that the image has c labels. No other rule predicts the right
    number of labels more often, and no other set of c labels has a larger expected number of hits. The parameters are
    those of `exact_match`.
    """
    distribution = distribution_of(features, truth)
    counts = distribution.counts()
    order = np.argsort(-distribution.marginals(), axis=1, kind="stable")
    return Decision(first_labels(order, counts.argmax(axis=1)), counts.max(axis=1))


def hamming_distance(features: NDArray[np.float32], truth: Mapping[str, NDArray[Any]]) -> Decision:
    """Return the labels of each image with a probability above 1/2, and the expected Hamming distance.

    The Hamming distance is the number of labels that are wrongly predicted or missed. The parameters are those of
    `exact_match`.
    """
    chance = distribution_of(features, truth).marginals()
    return Decision(chance > 0.5, np.minimum(chance, 1 - chance).sum(axis=1))


def distribution_of(features: NDArray[np.float32], truth: Mapping[str, NDArray[Any]]) -> LabelDistribution:
    """Return the label distribution that `truth` describes, for images with these features."""
    if "members" in truth:
        catalogue = LabelCatalogue.from_arrays(truth)
        return Catalogue.of(catalogue.sets, catalogue.posterior(features))
    return Independent(IndependentLabels.from_arrays(truth).marginals(features))


@dataclass(frozen=True)
class Independent:
    chance: Floats  # (n, n_labels), p_k

    def marginals(self) -> Floats:
        return self.chance

    def mode(self) -> Decision:
        return Decision(self.chance > 0.5, np.maximum(self.chance, 1 - self.chance).prod(axis=1))

    def counts(self) -> Floats:
        return number_of_successes(self.chance)

    def gains(self) -> Floats:
        """Return the gains g_ks, in the symbols of this module's docstring.

        For independent labels, g_ks is p_k times the sum, over c, of P(c labels other than k in Y) 2 / (s + 1 + c).
        """
        n_labels = self.chance.shape[1]
        without_label = self.chance[:, None, :] * (1 - np.eye(n_labels))  # in row k, label k has probability 0
        sizes = np.arange(1, n_labels + 1)
        gain_of_size = 2 / (sizes + 1 + np.arange(n_labels + 1)[:, None])
        return np.asarray(self.chance[:, :, None] * (number_of_successes(without_label) @ gain_of_size))


@dataclass(frozen=True)
class Catalogue:
    """A distribution over a few label sets."""

    sets: NDArray[np.bool_]  # (C, n_labels), all different
    chance: Floats  # (n, C), the probability of each set

    @classmethod
    def of(cls, sets: NDArray[np.bool_], chance: Floats) -> "Catalogue":
        """Merge equal sets, which can arise when labels are filtered out, and return the distribution."""
        unique_sets, set_of = np.unique(sets, axis=0, return_inverse=True)
        return cls(unique_sets, chance @ (set_of[:, None] == np.arange(len(unique_sets))))

    def marginals(self) -> Floats:
        return np.asarray(self.chance @ self.sets)

    def mode(self) -> Decision:
        return Decision(self.sets[self.chance.argmax(axis=1)], self.chance.max(axis=1))

    def counts(self) -> Floats:
        return np.asarray(self.chance @ (self.sets.sum(axis=1)[:, None] == np.arange(self.sets.shape[1] + 1)))

    def gains(self) -> Floats:
        """Return the gains g_ks, in the symbols of this module's docstring.

        For a catalogue, g_ks is the sum of 2 P(S | x) / (s + |S|) over all sets S that contain k.
        """
        n_sets, n_labels = self.sets.shape
        gain_of_size = 2 / (np.arange(1, n_labels + 1) + self.sets.sum(axis=1)[:, None])
        of_set = self.sets[:, :, None] * gain_of_size[:, None, :]
        return np.asarray((self.chance @ of_set.reshape(n_sets, -1)).reshape(-1, n_labels, n_labels))


def number_of_successes(chance: Floats) -> Floats:
    """Return the distribution of the number of successes in K independent trials.

    `chance`, (..., K), contains the probability of success in each trial. The result, (..., K + 1), contains the
    probabilities of 0 to K successes. This Poisson-binomial distribution is computed by adding one trial at a time.
    """
    probabilities = np.zeros((*chance.shape[:-1], chance.shape[-1] + 1))
    probabilities[..., 0] = 1
    for trial in range(chance.shape[-1]):
        success, stop = chance[..., trial, None], trial + 2
        one_fewer = probabilities[..., : stop - 1]
        probabilities[..., 1:stop] = (1 - success) * probabilities[..., 1:stop] + success * one_fewer
        probabilities[..., 0] *= 1 - success[..., 0]
    return probabilities


def first_labels(order: NDArray[np.integer], sizes: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return a mask that marks the first `sizes[i]` labels of each list `order[i]`.

    Each list contains all labels. The mask has shape (n, n_labels), with a column for each label.
    """
    labels = np.zeros(order.shape, dtype=bool)
    np.put_along_axis(labels, order, np.arange(order.shape[1]) < sizes[:, None], axis=1)
    return labels
