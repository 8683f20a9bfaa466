"""Updates of untrained vectors: rotations of the trained vectors, changes of scale, and noise."""

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize

from tests.methods.problems import network
from vsebench.methods.words.unseen_words import UPDATES

D, N_UNSEEN = 50, 20
FAITHFUL = ["linear_dots", "linear_map", "procrustes", "nonlinear"]
LEARNT = np.arange(32) % 8 != 3


def rotated(n_trained, scale=1.0, noise=0.0):
    """Return W0, W1 = scale W0 Q + noise, D0 and D0 Q, of random vectors and a random rotation Q."""
    rng = np.random.default_rng(7)
    rotation, _ = np.linalg.qr(rng.normal(size=(D, D)))
    before, unseen = (rng.normal(0, 0.3, (n, D)) for n in (n_trained, N_UNSEEN))
    after = scale * before @ rotation + noise * rng.normal(0, 0.3, before.shape)
    return before, after, unseen, unseen @ rotation


def cosine_and_ratio(moved, expected):
    """Return the mean cosine of rows, and the mean ratio of their lengths."""
    lengths = [np.linalg.norm(rows, axis=1) for rows in (moved, expected)]
    return (moved * expected).sum(axis=1) @ (1 / lengths[0] / lengths[1]) / len(moved), (lengths[0] / lengths[1]).mean()


@pytest.mark.parametrize("name", FAITHFUL)
def test_a_rotation_of_the_trained_labels_is_taken_over(name):
    before, after, unseen, expected = rotated(260)
    assert cosine_and_ratio(UPDATES[name](before, after, unseen), expected) == pytest.approx((1, 1), abs=0.02)


@pytest.mark.parametrize("name", FAITHFUL)
def test_noise_added_to_a_rotation_keeps_the_direction(name):
    before, after, unseen, expected = rotated(260, noise=0.3)
    assert cosine_and_ratio(UPDATES[name](before, after, unseen), expected)[0] > 0.97


@pytest.mark.parametrize(
    ("name", "ratio"), [("linear_map", 1), ("procrustes", 1 / 3), ("linear_dots", 1 / 9), ("nonlinear", 0.12)]
)
def test_three_times_as_long_vectors_change_the_length_of_the_others(name, ratio):
    """An update that keeps inner products makes the untrained vectors a ninth as long as a linear map does."""
    before, after, unseen, expected = rotated(260, scale=3.0)
    actual = UPDATES[name](before, after, unseen)
    assert cosine_and_ratio(actual, 3 * expected) == pytest.approx((1, ratio), abs=0.02)


@pytest.mark.parametrize(("name", "ratio"), [("none", 1.0), ("published", 0.2)])
def test_without_an_update_and_as_published_a_rotation_is_missed(name, ratio):
    before, after, unseen, expected = rotated(260)
    cosine, actual = cosine_and_ratio(UPDATES[name](before, after, unseen), expected)
    assert abs(cosine) < 0.2
    assert actual == pytest.approx(ratio)


def test_with_fewer_trained_labels_than_dimensions_an_update_stays_finite():
    before, after, unseen, expected = rotated(40)
    for update in UPDATES.values():
        assert np.isfinite(update(before, after, unseen)).all()
    assert cosine_and_ratio(UPDATES["procrustes"](before, after, unseen), expected)[0] > 0.6


def test_the_gradient_of_the_nonlinear_update_by_differences(monkeypatch):
    """`minimize` is replaced by a function that records its arguments."""
    seen = {}

    def look(loss, start, **options):
        seen.update(loss=loss, start=start)
        raise StopIteration

    monkeypatch.setattr("scipy.optimize.minimize", look)
    before, after, unseen, _ = rotated(12, noise=0.1)
    with pytest.raises(StopIteration):
        UPDATES["nonlinear"](before, after, unseen[:3])
    loss, start = seen["loss"], seen["start"] * 0.3
    assert check_grad(lambda x: loss(x)[0], lambda x: loss(x)[1], start) < 1e-4


@pytest.mark.parametrize("scale", [1.0, 3.0, 6.0])
def test_the_nonlinear_update_reaches_its_minimum(monkeypatch, scale):
    """With 100 iterations, the vectors are those of a minimisation without limits."""
    rng = np.random.default_rng(0)
    before, unseen, noise = (rng.normal(size=(n, 100)) for n in (208, 52, 208))
    before, unseen = (scale * rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (before, unseen))
    after = before + 0.3 * scale * noise
    moved = UPDATES["nonlinear"](before, after, unseen)

    def patient(loss, start, options, **others):
        return minimize(loss, start, options={"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-9}, **others)

    monkeypatch.setattr("scipy.optimize.minimize", patient)
    best = UPDATES["nonlinear"](before, after, unseen)
    assert not np.array_equal(moved, best)
    assert cosine_and_ratio(moved, best) == pytest.approx((1, 1), abs=1e-4)


@pytest.mark.parametrize("name", ["x_ent", "s_x_ent"])
def test_a_method_moves_the_labels_that_it_does_not_train(name):
    fitter = network(name, learnt=LEARNT, joint=True, unseen_update="linear_map")
    fitter.epoch()
    start = fitter.table.start.astype(np.float64)
    after = fitter.model().label[LEARNT, :-1].astype(np.float64)
    expected = UPDATES["linear_map"](start[LEARNT], after, start[~LEARNT])
    np.testing.assert_allclose(fitter.model().label[~LEARNT, :-1], expected, rtol=1e-4, atol=1e-5)
