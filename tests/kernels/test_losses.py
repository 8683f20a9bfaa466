"""Losses of networks: against sums over pairs in float64, by differences, at large scores, and at their bounds."""

from functools import partial
from itertools import chain

import numpy as np
import pytest
from numba import njit

from tests.reference import losses as reference
from vsebench.kernels.losses.exponentials import bp_mll_loss, lsep_loss, zlpr_loss
from vsebench.kernels.losses.label_losses import asymmetric_loss, binary_loss, softmax_loss
from vsebench.kernels.losses.optimisers import adamw_step, momentum_step
from vsebench.kernels.losses.pair_losses import (
    draw_pairs,
    hinge_loss,
    lsep_sampled_loss,
    pair_logistic_loss,
    trial_hinge_loss,
)
from vsebench.kernels.random_numbers import new_state
from vsebench.kernels.rank_loss import rank_losses
from vsebench.kernels.vectors import LANES, aligned

K = 9
RANK_LOSS = rank_losses(K)
# The third image has no label, the fourth has all of them, and the last has one.
LABELS = [[0, 3, 8], [2, 5], [], list(range(K)), [4]]


def run(kernel, scores, labels_of, *more):
    """Return the loss of images, float, and its derivatives."""
    offsets = np.cumsum([0, *map(len, labels_of)])
    labels = np.array([*chain(*labels_of), *[0] * LANES], dtype=np.int32)
    slopes = np.array(scores, dtype=np.float32)
    actual = kernel(slopes, np.arange(len(labels_of)), offsets, labels, *more)
    return actual, slopes


def loss_of(kernel, *more, scratch=True):
    """Return a loss as a function of scores and labels; scratch memory is filled with NaN."""
    return lambda scores, labels_of: run(kernel, scores, labels_of, *more, *([np.full(K, np.nan)] if scratch else []))


def sampled(scores, labels_of, pairs=1000, scaled=False, seed=1):
    scratch = np.empty(K * K, dtype=np.int32), np.empty(K, dtype=np.int32), np.full(K, np.nan)
    return run(lsep_sampled_loss, scores, labels_of, pairs, scaled, *scratch, new_state(seed, 1))


LSEP, BP_MLL = loss_of(lsep_loss, RANK_LOSS, False), loss_of(bp_mll_loss, True)
SOFTMAX = loss_of(softmax_loss, True, scratch=False)


def asymmetric(*settings):
    """Return the kernel and its twin with these exponents and this margin."""
    return loss_of(asymmetric_loss, *settings, scratch=False), lambda *case: reference.asymmetric(*case, *settings)


BY_LABEL = ("zlpr", "binary", "asymmetric", "asymmetric, positives too", "focal")  # the level of scores matters
LOSSES = {
    "lsep": (LSEP, reference.lsep),
    "lsep, all pairs drawn": (sampled, reference.lsep),
    "lsep, weighted": (loss_of(lsep_loss, RANK_LOSS, True), partial(reference.lsep, weighted=True)),
    "pair_logistic": (loss_of(pair_logistic_loss, *np.full((2, K), np.nan)), reference.pair_logistic),
    "zlpr": (loss_of(zlpr_loss), reference.zlpr),
    "bp_mll": (BP_MLL, reference.bp_mll),
    "bp_mll, as printed": (loss_of(bp_mll_loss, False), partial(reference.bp_mll, averaged=False)),
    "hinge": (loss_of(hinge_loss, RANK_LOSS, False), reference.hinge),
    "hinge, weighted": (loss_of(hinge_loss, RANK_LOSS, True), partial(reference.hinge, weighted=True)),
    "softmax": (SOFTMAX, reference.softmax),
    "softmax, sum": (loss_of(softmax_loss, False, scratch=False), partial(reference.softmax, averaged=False)),
    "binary": (loss_of(binary_loss, scratch=False), reference.binary),
    "asymmetric": asymmetric(0.0, 4.0, 0.05),
    "asymmetric, positives too": asymmetric(1.0, 2.5, 0.2),
    "focal": asymmetric(2.0, 2.0, 0.0),
}
OF_PAIRS = [name for name in LOSSES if name not in (*BY_LABEL, "softmax", "softmax, sum")]
EVERY_LOSS = pytest.mark.parametrize("name", LOSSES)


@pytest.fixture
def scores():
    return np.random.default_rng(5).normal(0, 1.5, (len(LABELS), K)).astype(np.float32)


@EVERY_LOSS
def test_a_loss_is_the_sum_over_pairs_or_labels(name, scores):
    kernel, twin = LOSSES[name]
    expected = sum(twin(row, labels) for row, labels in zip(scores.astype(np.float64), LABELS, strict=True))
    assert kernel(scores, LABELS)[0] == pytest.approx(expected, rel=1e-6)


@EVERY_LOSS
def test_derivatives_are_those_of_the_twin_by_differences(name, scores):
    kernel, twin = LOSSES[name]
    slopes = kernel(scores, LABELS)[1]
    step = 1e-6
    for row, labels, actual in zip(scores.astype(np.float64), LABELS, slopes, strict=True):
        moves = step * np.eye(K)
        expected = [(twin(row + move, labels) - twin(row - move, labels)) / (2 * step) for move in moves]
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


@EVERY_LOSS
def test_a_constant_added_to_an_images_scores_changes_only_losses_of_single_labels(name, scores):
    kernel, _ = LOSSES[name]
    value, slopes = kernel(scores, LABELS)
    moved, moved_slopes = kernel(scores + np.float32(2), LABELS)
    same = name not in BY_LABEL
    assert (moved == pytest.approx(value, rel=1e-5)) == same
    assert np.allclose(moved_slopes, slopes, atol=1e-5) == same


@pytest.mark.parametrize("name", OF_PAIRS)
def test_an_image_without_a_pair_adds_nothing(name, scores):
    kernel, _ = LOSSES[name]
    value, slopes = kernel(scores[2:4], LABELS[2:4])
    assert value == 0
    assert not slopes.any()


@pytest.mark.parametrize("name", [name for name in LOSSES if not name.startswith("bp_mll")])
@pytest.mark.parametrize("sign", [-1, 1])
def test_scores_of_500_give_finite_losses_and_derivatives(name, sign):
    kernel, _ = LOSSES[name]
    scores = np.full((len(LABELS), K), -500.0 * sign)
    for row, labels in zip(scores, LABELS, strict=True):
        row[labels] = 500.0 * sign
    value, slopes = kernel(scores, LABELS)
    assert np.isfinite(value)
    assert np.isfinite(slopes).all()


def many_pairs(scores):
    """Return the logistic loss on pairs of one image, and its derivatives; labels 0 and 2,000 are positives."""
    return run(pair_logistic_loss, scores[None], [[0, 2000]], *np.full((3, len(scores)), np.nan))


def test_the_logistic_loss_on_pairs_of_thousands_of_labels_does_not_underflow():
    """At equal scores, each pair has the factor 1/2, and the product over all pairs would be 0."""
    assert many_pairs(np.zeros(2500))[0] == pytest.approx(np.log(2), rel=1e-9)
    scores = np.random.default_rng(6).normal(0, 1.5, 2500).astype(np.float32)
    value, slopes = many_pairs(scores)
    assert value == pytest.approx(reference.pair_logistic(scores.astype(np.float64), [0, 2000]), rel=1e-6)
    assert slopes.sum() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_the_logistic_loss_on_pairs_shows_that_scores_diverged(score, label):
    scores = np.zeros(2500)
    scores[label] = score
    assert not np.isfinite(many_pairs(scores)[0])


def test_lsep_at_scores_of_500_is_the_largest_difference():
    """All pairs the wrong way round: 1,000 + log of their number."""
    scores = np.full((1, K), 500.0)
    scores[0, [0, 3, 8]] = -500
    value, slopes = LSEP(scores, [[0, 3, 8]])
    assert value == pytest.approx(1000 + np.log(18), rel=1e-9)
    assert slopes.sum() == pytest.approx(0, abs=1e-6)
    assert np.abs(slopes).sum() == pytest.approx(2, rel=1e-6)


def test_bp_mll_reports_that_it_diverges():
    value, slopes = BP_MLL(np.where(np.arange(K) == 4, -500.0, 500.0)[None], [[4]])
    assert value == np.inf
    assert np.isfinite(slopes).all()


@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_negatives_within_the_margin_and_positives_alone_have_no_loss_of_negatives(margin):
    """Scores of -1 have p = 0.27."""
    value, slopes = run(asymmetric_loss, np.full((1, K), -1.0), [[4]], 0.0, 4.0, margin)
    others = np.arange(K) != 4
    assert (value == pytest.approx(np.log1p(np.e))) == (margin == 0.3)
    assert slopes[0, others].any() == (margin == 0)


def test_an_asymmetric_loss_without_exponents_and_margin_is_the_binary_loss(scores):
    value, slopes = run(asymmetric_loss, scores, LABELS, 0.0, 0.0, 0.0)
    expected, expected_slopes = run(binary_loss, scores, LABELS)
    assert value == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(slopes, expected_slopes, atol=1e-6)


@njit
def draw(ids, n_pairs, n_drawn, rng):
    draw_pairs(ids, n_pairs, n_drawn, rng)


def test_sampled_pairs_are_uniform_and_never_twice():
    """3 of 7 numbers, 7,000 times: each is there in 3,000 of them, with a standard deviation of 41."""
    rng, ids, counts = new_state(3, 1), np.empty(9, dtype=np.int32), np.zeros(7)
    for _ in range(7000):
        draw(ids, 7, 3, rng)
        assert len(set(ids[:3].tolist())) == 3
        counts[ids[:3]] += 1
    assert np.abs(counts - 3000).max() < 5 * 41


@pytest.mark.parametrize("scaled", [False, True])
def test_a_partial_sample_has_the_loss_and_derivatives_of_its_pairs(scaled):
    """One of six pairs is left out; which one is seen in the derivatives, where each pair adds to two labels."""
    scores = np.array([[0.3, -0.4, 0.1, 0.9, -1.0]])
    more = (np.empty(6, dtype=np.int32), np.empty(5, dtype=np.int32), np.empty(5), new_state(4, 1))
    value, slopes = run(lsep_sampled_loss, scores, [[0, 2]], 5, scaled, *more)
    pairs = [(u, v) for u in (0, 2) for v in (1, 3, 4)]
    fits = []
    for left_out in pairs:
        terms = {pair: np.exp(scores[0, pair[1]] - scores[0, pair[0]]) for pair in pairs if pair != left_out}
        total = sum(terms.values()) * (6 / 5 if scaled else 1)
        expected = np.zeros(5)
        for (u, v), term in terms.items():
            expected[[u, v]] += np.array([-1, 1]) * term * (6 / 5 if scaled else 1) / (1 + total)
        fits.append(np.allclose(slopes[0], expected, atol=1e-6) and np.isclose(value, np.log1p(total)))
    assert fits.count(True) == 1


def test_a_scaled_sample_estimates_the_sum_of_all_pairs():
    scores = np.zeros((1, K))
    assert sampled(scores, [[0, 3]], pairs=5, scaled=True)[0] == pytest.approx(np.log1p(14))
    assert sampled(scores, [[0, 3]], pairs=5)[0] == pytest.approx(np.log1p(5))


def test_trials_find_a_violator_and_weigh_it_by_the_estimated_rank():
    """Labels 0, 7 and 8 violate the margin. Where 7 is found after N trials, its weight is 1 + ... + 1/floor(8 / N)."""
    scores = np.full((1, K), -9.0)
    scores[0, [0, 3, 8]] = 0
    scores[0, 7] = 0.5
    seen = set()
    for seed in range(200):
        (value, n_trials), slopes = run(trial_hinge_loss, scores, [[3]], RANK_LOSS, np.empty(K), new_state(seed, 1))
        if slopes[0, 7] == 0:
            continue
        weight = reference.harmonic(8 // n_trials)
        assert value == pytest.approx(1.5 * weight)
        assert (slopes[0, 7], slopes[0, 3]) == pytest.approx((weight, -weight))
        assert np.count_nonzero(slopes) == 2
        seen.add(n_trials)
    assert len(seen) >= 3


def test_trials_end_after_as_many_as_there_are_negatives():
    scores = np.zeros((1, K))
    scores[0, 4] = 5
    (value, n_trials), slopes = run(trial_hinge_loss, scores, [[4]], RANK_LOSS, np.empty(K), new_state(1, 1))
    assert (value, n_trials) == (0, K - 1)
    assert not slopes.any()


def test_a_gradient_that_is_no_number_is_not_hidden():
    flat = aligned(4, 16)
    flat[1, 3] = np.nan
    adamw_step(*flat, 1, 0.01, 0.0)
    assert np.isnan(flat[0, 3])


def test_adamw_agrees_with_its_formulas():
    rng = np.random.default_rng(2)
    flat = aligned(4, 32)
    flat[0] = rng.normal(size=32)
    value, mean, square = flat[0].astype(np.float64), np.zeros(32), np.zeros(32)
    for number in range(1, 6):
        flat[1] = rng.normal(size=32) * (np.arange(32) != 3)  # a parameter without a gradient only decays
        slope = flat[1].astype(np.float64)
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        step = mean / (1 - 0.9**number) / (np.sqrt(square / (1 - 0.999**number)) + 1e-8)
        value = value - 0.01 * (step + 0.1 * value)
        adamw_step(*flat, number, 0.01, 0.1)
    np.testing.assert_allclose(flat[0], value, rtol=1e-5)


def test_momentum_agrees_with_its_formulas():
    rng = np.random.default_rng(2)
    flat = aligned(3, 32)
    flat[0] = rng.normal(size=32)
    value, velocity = flat[0].astype(np.float64), np.zeros(32)
    for _ in range(5):
        flat[1] = rng.normal(size=32) * (np.arange(32) != 3)  # a parameter without a gradient only decays
        velocity = 0.9 * velocity + flat[1].astype(np.float64) + 0.1 * value
        value = value - 0.01 * velocity
        momentum_step(*flat, 0.01, 0.1)
    np.testing.assert_allclose(flat[0], value, rtol=1e-5)
