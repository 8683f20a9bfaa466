"""Exact updates of the images in VSE-fs, against dense equations and against coordinate descent."""

from itertools import pairwise

import numpy as np
import pytest

from tests.kernels.test_full_sample import copy_into, extended_of, images_of, sparse_problem
from vsebench.core.workers import workers
from vsebench.methods.by_labels import coordinate_descent


def exact_problem(*arguments, **changes):
    return sparse_problem(*arguments, images="exact", **changes)


def best_images(twin):
    """The v_i that solve the equations of the gradient, written for v_i and not for u_i, in float64."""
    labels, n_factors = twin.labels, twin.labels.shape[1]
    hessian = (twin.beta[:, np.newaxis] * labels).T @ labels
    best = np.empty_like(twin.images)
    for i, positive in enumerate(twin.positive):
        own, weights = labels[positive], twin.weights[i, positive].astype(float)
        a = twin.gamma / np.sqrt(max(positive.sum(), 1))
        share = a * own.sum(axis=0)
        matrix = hessian + twin.ridge * twin.image_scales[i] * np.eye(n_factors)
        matrix += own.T @ ((weights - twin.beta[positive])[:, np.newaxis] * own)
        targets = own.T @ (weights * (1 + a * (own**2).sum(axis=1)))
        targets -= own.T @ ((weights - twin.beta[positive]) * (own @ share)) + hessian @ share
        best[i] = np.linalg.solve(matrix, targets)
    return best


@pytest.mark.parametrize("most_labels", [0, 1, 3, 24])
@pytest.mark.parametrize("gamma", [0.0, 0.6])
@pytest.mark.parametrize(("weights", "nu"), [("ones", 0.0), ("counts", 0.0), ("counts", 1.0)])
def test_images_with_few_labels_are_set_to_the_minimum(monkeypatch, most_labels, gamma, weights, nu):
    monkeypatch.setattr(coordinate_descent, "MOST_LABELS", most_labels)
    model, twin = exact_problem(1, gamma, weights, nu=nu, n_images=70)
    before = images_of(model)
    hessian, norm = model._sweep_images()
    copy_into(twin, model)
    few = model.order[: model.n_exact]
    np.testing.assert_allclose(twin.images[few], best_images(twin)[few], rtol=2e-3, atol=2e-4)
    assert len(few) == {0: 0, 1: 16, 3: 64, 24: 70}[most_labels]
    assert not np.allclose(np.abs(before), np.abs(twin.images), atol=0.1)
    extended = twin.images + twin.extended
    np.testing.assert_allclose(hessian[:18, :18], extended.T @ extended, rtol=1e-3, atol=1e-3)
    assert norm == pytest.approx((twin.image_scales * (twin.images**2).sum(axis=1)).sum(), rel=1e-4)
    assert model._loss(hessian, norm) == pytest.approx(twin.loss(), rel=1e-4)  # which reads the stored scores
    assert not extended_of(model)[:, 18:].any()
    assert not model.labels[:, 18:].any()


def test_rotations_leave_the_scores_as_they_are():
    """H^C becomes diagonal; the scores of images that keep their old vectors are not compared."""
    model, _ = exact_problem(3, 0.3, "ones", n_images=40)
    model.n_exact = 0
    before = model.model()
    diagonal = model._diagonalise()
    np.testing.assert_allclose(model._label_hessian(), np.diag(diagonal), atol=1e-4)
    after = model.model()
    np.testing.assert_allclose(after.image @ after.label.T, before.image @ before.label.T, rtol=1e-3, atol=1e-4)
    assert not np.allclose(after.label, before.label, atol=0.1)


@pytest.mark.parametrize("gamma", [0.0, 0.4])
def test_many_updates_factor_by_factor_end_at_the_same_scores(gamma):
    exact, _ = exact_problem(4, gamma, "counts", ridge=1.0)
    by_factor, _ = sparse_problem(4, gamma, "counts", ridge=1.0)
    exact._sweep_images()
    for _ in range(300):
        by_factor._sweep_images()
    np.testing.assert_allclose(exact.scores, by_factor.scores, rtol=1e-3, atol=1e-4)


def test_positives_may_have_a_lower_weight_than_other_pairs():
    """With beta_c above w_ic, the matrix E has negative elements."""
    model, twin = exact_problem(5, 0.2, "ones", beta_0=40.0)
    assert (model.penalties > 1).any()
    model._sweep_images()
    copy_into(twin, model)
    np.testing.assert_allclose(twin.images, best_images(twin), rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("most_labels", [1, 24])
def test_no_half_iteration_raises_its_loss(monkeypatch, seed, most_labels):
    monkeypatch.setattr(coordinate_descent, "MOST_LABELS", most_labels)
    model, twin = exact_problem(seed, 0.5, "ones", n_images=40)
    for _ in range(6):
        before = copy_into(twin, model).loss()
        hessian, _ = model._sweep_images()
        after_images = copy_into(twin, model).loss()
        assert after_images <= before * (1 + 1e-5)
        model._sweep_labels(hessian)
        twin.labels = model.labels[:, :18].astype(float)
        assert twin.loss() <= after_images * (1 + 1e-5)


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(coordinate_descent, "MOST_LABELS", 12)
    models = []
    for threads in (1, 2, 3):
        with workers(threads) as pool:
            model, _ = exact_problem(5, 0.1, "counts", n_images=3000, n_labels=40, pool=pool)
            assert 0 < model.n_exact < 3000
            models.append((model.epoch().loss, model.epoch().loss, model.blocks, model.labels))
    for one, other in pairwise(models):
        assert one[:2] == other[:2]
        assert all((a == b).all() for a, b in zip(one[2:], other[2:], strict=True))
