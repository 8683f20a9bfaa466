"""The two-way loss: against its formula in float64, by differences, by hand, and without positives."""

from itertools import chain

import numpy as np
import pytest

from tests.reference import losses as reference
from vsebench.kernels.losses.two_way import two_way_loss
from vsebench.kernels.vectors import LANES

K = 6
# The third image has no label, the fourth has all of them. No image but the fourth has the labels 1 and 5.
LABELS = [[0, 3], [2], [], list(range(K)), [0, 4]]
TEMPERATURES = pytest.mark.parametrize("temperatures", [(4.0, 1.0), (1.0, 1.0), (0.5, 2.0)])


def run(scores, labels_of, *temperatures):
    """Return the loss of a batch, float, and its derivatives."""
    offsets = np.cumsum([0, *map(len, labels_of)])
    labels = np.array([*chain(*labels_of), *[0] * LANES], dtype=np.int32)
    slopes = np.array(scores, dtype=np.float32)
    return two_way_loss(slopes, np.arange(len(labels_of)), offsets, labels, *temperatures), slopes


@pytest.fixture
def scores():
    return np.random.default_rng(5).normal(0, 1.5, (len(LABELS), K)).astype(np.float32)


@TEMPERATURES
def test_the_loss_is_the_sum_of_both_means(temperatures, scores):
    expected = reference.two_way(scores.astype(np.float64), LABELS, *temperatures)
    assert run(scores, LABELS, *temperatures)[0] == pytest.approx(expected, rel=1e-6)


@TEMPERATURES
def test_derivatives_are_those_of_the_twin_by_differences(temperatures, scores):
    slopes, exact, step = run(scores, LABELS, *temperatures)[1], scores.astype(np.float64), 1e-6
    for slot in np.ndindex(scores.shape):
        move = np.zeros_like(exact)
        move[slot] = step
        up, down = (reference.two_way(exact + sign * move, LABELS, *temperatures) for sign in (1, -1))
        assert slopes[slot] == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-5)


def test_two_images_with_one_label_each_by_hand():
    """Every image and every label has one positive and one negative, so temperatures cancel: P + N = f_v - f_u."""
    value, slopes = run([[2.0, 1.0], [3.0, 5.0]], [[0], [1]], 4.0, 1.0)
    softplus, sigmoid = lambda z: np.log1p(np.exp(z)), lambda z: 1 / (1 + np.exp(-z))
    # Images: 1 - 2 and 3 - 5. Labels: 3 - 2 and 1 - 5. Both means are over two, and two images make the factor 2.
    assert value == pytest.approx(sum(softplus(z) for z in (-1, -2, 1, -4)))
    by_hand = [[-sigmoid(-1) - sigmoid(1), sigmoid(-1) + sigmoid(-4)]]
    by_hand += [[sigmoid(-2) + sigmoid(1), -sigmoid(-2) - sigmoid(-4)]]
    np.testing.assert_allclose(slopes, by_hand, rtol=1e-5)


def test_temperatures_of_1_make_the_loss_of_an_image_lsep():
    """With one image, no label is compared with another image."""
    row = np.array([0.3, -0.4, 0.1, 0.9, -1.0, 0.2])
    assert run([row], [[0, 2]], 1.0, 1.0)[0] == pytest.approx(reference.lsep(row, [0, 2]), rel=1e-6)


def test_images_without_labels_and_labels_without_images_are_in_no_mean(scores):
    """The second label is on no image; the last image has no label. Both still count as negatives."""
    value, slopes = run(scores[:3, :3], [[0], [2], []], 4.0, 1.0)
    expected = reference.two_way(scores[:3, :3].astype(np.float64), [[0], [2], []])
    assert value == pytest.approx(expected, rel=1e-6)
    assert slopes[2, 1] == 0
    assert (slopes[:2, 1] > 0).all()
    assert (slopes[2, [0, 2]] > 0).all()


def test_a_batch_without_labels_has_no_loss(scores):
    value, slopes = run(scores, [[]] * len(LABELS), 4.0, 1.0)
    assert value == 0
    assert not slopes.any()


@pytest.mark.parametrize("sign", [-1, 1])
def test_scores_of_500_give_finite_losses_and_derivatives(sign):
    scores = np.full((len(LABELS), K), -500.0 * sign)
    for row, labels in zip(scores, LABELS, strict=True):
        row[labels] = 500.0 * sign
    value, slopes = run(scores, LABELS, 4.0, 1.0)
    assert np.isfinite(value)
    assert np.isfinite(slopes).all()
