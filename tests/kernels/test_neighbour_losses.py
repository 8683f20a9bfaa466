"""Losses of neighbours against plain NumPy and differences of their values, and the merging of searches."""

import numpy as np
import pytest

from tests.builders import dense, matrix_of
from tests.reference import neighbour_votes as reference
from vsebench.kernels.losses.neighbour_margins import margin_loss
from vsebench.kernels.losses.neighbour_votes import negative_log_likelihood, sigmoid_sums
from vsebench.kernels.ranking.neighbours import take_in_turns

LABELS = matrix_of([[0, 2], [1], [], [0, 1, 3], [3], [2]], 5)  # label 4 has no image
COSTS = np.array([0.3, 1.7])
NONE = np.empty(0)


def drawn(seed=1, scale=2.0):
    """Return logits of three neighbours of each of six images, the neighbours, alpha and beta."""
    rng = np.random.default_rng(seed)
    near = np.array([rng.choice(np.delete(np.arange(6), i), 3, replace=False) for i in range(6)], dtype=np.int32)
    return scale * rng.normal(size=(6, 3)), near, 3 * rng.normal(size=5), rng.normal(size=5)


def loss_of(logits, near, alpha=NONE, beta=NONE):
    slopes = np.empty_like(logits), np.empty(5)
    value = negative_log_likelihood(logits, near, LABELS.offsets, LABELS.label_of_pair, COSTS, alpha, beta, slopes)
    return value, slopes[0]


@pytest.mark.parametrize("scale", [0.5, 30.0])
@pytest.mark.parametrize("with_sigmoids", [False, True])
def test_the_likelihood_of_votes_is_that_of_numpy_and_its_slopes_are_differences(with_sigmoids, scale):
    logits, near, alpha, beta = drawn(scale=scale)
    sigmoids = (alpha, beta) if with_sigmoids else ()
    value, slopes = loss_of(logits, near, *sigmoids)
    expected = reference.negative_log_likelihood(logits, near, dense(LABELS), COSTS, *sigmoids)
    assert value == pytest.approx(expected.sum(), rel=1e-12)
    for slot in np.ndindex(logits.shape):
        moved = []
        for step in (1e-5, -1e-5):
            changed = logits.copy()
            changed[slot] += step
            moved.append(loss_of(changed, near, *sigmoids)[0])
        assert slopes[slot] == pytest.approx((moved[0] - moved[1]) / 2e-5, abs=1e-6)


def test_sums_for_sigmoids_are_the_derivatives_of_the_likelihood():
    logits, near, alpha, beta = drawn()
    arguments = logits, near, LABELS.offsets, LABELS.label_of_pair, COSTS

    def sums_at(alpha, beta):
        sums = np.empty((5, 6))
        sigmoid_sums(*arguments, alpha, beta, sums)
        return sums

    at, step = sums_at(alpha, beta), 1e-5
    expected = reference.negative_log_likelihood(logits, near, dense(LABELS), COSTS, alpha, beta).sum(axis=0)
    assert np.allclose(at[:, 0], expected, rtol=1e-12)
    by_alpha = (sums_at(alpha + step, beta) - sums_at(alpha - step, beta)) / (2 * step)
    by_beta = (sums_at(alpha, beta + step) - sums_at(alpha, beta - step)) / (2 * step)
    assert np.allclose(at[:, 1:3], np.stack([by_alpha[:, 0], by_beta[:, 0]], axis=1), atol=1e-8)
    assert np.allclose(at[:, 3:], np.stack([by_alpha[:, 1], by_alpha[:, 2], by_beta[:, 2]], axis=1), atol=1e-8)


def test_the_likelihood_of_an_example_by_hand():
    # Image 0 has label 0. Its neighbours have the shares 3/4 and 1/4; the first has label 0, the second label 1.
    labels = matrix_of([[0], [0], [1]], 2)
    slopes = np.empty((1, 2)), np.empty(2)
    logits, near = np.log([[3.0, 1.0]]), np.array([[1, 2]], dtype=np.int32)
    value = negative_log_likelihood(
        logits, near, labels.offsets, labels.label_of_pair, np.array([1.0, 2.0]), NONE, NONE, slopes
    )
    assert value == pytest.approx(-2 * np.log(0.75) - np.log(0.75), abs=1e-4)
    # p of the true label and 1 - p of the other one are both the first share, whose slope is share (1 - share).
    assert slopes[0] == pytest.approx(np.array([[-3 / 4, 3 / 4]]), abs=1e-4)


@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_the_loss_of_margins_is_that_of_numpy_and_its_slopes_are_differences(scale):
    rng = np.random.default_rng(2)
    offsets = np.array([0, 2, 2, 5]), np.array([0, 4, 7, 8])  # the second image has no target
    targets, impostors = scale * rng.random(5), scale * rng.random(8)
    likeness, unlikeness = rng.random(5), rng.random(8)

    def loss(targets, impostors):
        slopes = np.empty(5), np.empty(8)
        value = margin_loss(targets, likeness, offsets[0], impostors, unlikeness, offsets[1], 0.7, 0.1, slopes)
        return value, np.concatenate(slopes)

    value, slopes = loss(targets, impostors)
    of_image = [(slice(*offsets[0][p : p + 2]), slice(*offsets[1][p : p + 2])) for p in range(3)]
    expected = sum(
        reference.margin_loss(targets[q], likeness[q], impostors[r], unlikeness[r], 0.7, 0.1) for q, r in of_image
    )
    assert value == pytest.approx(expected, rel=1e-12)
    steps = 1e-6 * np.eye(13)
    differences = [
        (loss(targets + s[:5], impostors + s[5:])[0] - loss(targets - s[:5], impostors - s[5:])[0]) / 2e-6
        for s in steps
    ]
    assert np.allclose(slopes, differences, atol=1e-6)


def test_the_loss_of_margins_of_an_example_by_hand():
    # The target is pulled by 1 x 0.5. The impostor is nearer than 1 + 0.5 by 0.7: 2 x 0.25 x (0.7 - 0.1 / 2) = 0.325.
    one, half, ends = np.ones(1), np.full(1, 0.5), np.array([0, 1])
    slopes = np.empty(1), np.empty(1)
    value = margin_loss(half, one, ends, np.array([0.8]), half / 2, ends, 2.0, 0.1, slopes)
    assert value == pytest.approx(0.825)
    assert [slopes[0][0], slopes[1][0]] == pytest.approx([1 + 0.5, -0.5])


def test_neighbours_of_several_searches_are_taken_in_turns_without_repeats():
    near = np.array([[[3, 0, 1, 2]], [[4, 3, 2, 0]]], dtype=np.int32)
    none, itself = (np.array([own], dtype=np.int32) for own in (-1, 3))
    assert take_in_turns(near, none, 5, 4).tolist() == [[3, 4, 0, 1]]
    assert take_in_turns(near, itself, 5, 4).tolist() == [[4, 0, 1, 2]]
    assert take_in_turns(near[:1], itself, 5, 2).tolist() == [[0, 1]]
