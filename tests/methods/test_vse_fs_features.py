"""VSE-fs on image features, against its twin in NumPy, finite differences and a planted truth."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from tests.builders import dense, matrix_of
from tests.methods.problems import features_of, fit_to, new_images, problem_from, settings_of
from tests.reference.full_sample_features import Problem as Twin
from vsebench.core.workers import workers
from vsebench.methods.by_features.vse_fs_features import VseFsFeatures

SETTINGS = {"factors": 5, "beta_0": 4.0, "alpha": 0.5, "regularisation": 0.3, "deviation": 0.5, "normalise": []}


def drawn(n_images=40, n_labels=9, dimensions=6, seed=0):
    """Return features and labels at random; image 3 has no label."""
    rng = np.random.default_rng(seed)
    features = rng.normal(0, 1, (n_images, dimensions)).astype(np.float32)
    images = [sorted(rng.choice(n_labels, 0 if i == 3 else rng.integers(1, 5), replace=False)) for i in range(n_images)]
    return features, matrix_of(images, n_labels)


def started(pool, kind="dense", **changes):
    """Return the method on drawn data, and its twin."""
    values, matrix = drawn()
    features = features_of(sparse.csr_array(values) if kind == "sparse" else values)
    problem = problem_from(matrix, pool, features=features)
    fitter = VseFsFeatures(problem, settings_of("vse_fs_features", **(SETTINGS | changes)))
    return fitter, twin_of(fitter, values, matrix)


def twin_of(fitter, values, matrix):
    k = fitter.settings.factors
    arguments = fitter.penalties, fitter.settings.regularisation, fitter.map[:, :k], fitter.labels[:, :k]
    return Twin(values, dense(matrix), *arguments)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_enough_steps_reach_the_exact_minimum_and_the_labels_follow_the_twin(kind):
    with workers(1) as pool:
        fitter, twin = started(pool, kind, steps=60)
        for _ in range(3):
            twin.map = twin.best_map()
            twin.sweep_labels()
            loss = fitter.epoch().loss
            assert np.allclose(fitter.map[:, :5], twin.map, atol=2e-4)
            assert np.allclose(fitter.labels[:, :5], twin.labels, atol=2e-4)
            assert loss == pytest.approx(twin.loss(), rel=1e-4)
        assert not fitter.map[:, 5:].any()


def test_the_gradient_is_that_of_the_loss():
    with workers(1) as pool:
        fitter, _ = started(pool, steps=2)
        fitter.epoch()
        twin = twin_of(fitter, *drawn())
        gradient = 2 * fitter._half_gradient()[:, :5]
    assert np.allclose(gradient, 2 * twin.half_gradient(), atol=1e-3)
    for index in [(0, 0), (2, 3), (5, 4)]:
        losses = []
        for change in (1e-4, -2e-4):
            twin.map[index] += change
            losses.append(twin.loss())
        twin.map[index] += 1e-4
        assert (losses[0] - losses[1]) / 2e-4 == pytest.approx(gradient[index], abs=2e-3)


@pytest.mark.parametrize("steps", [1, 3])
def test_no_epoch_raises_the_loss(steps):
    with workers(1) as pool:
        fitter, twin = started(pool, steps=steps)
        losses = [twin.loss(), *(fitter.epoch().loss for _ in range(30))]
    assert all(after <= before * (1 + 1e-5) for before, after in pairwise(losses))


def test_a_planted_map_is_recovered_for_new_images():
    """Labels are those with the highest planted scores; the features of test images were never seen."""
    rng = np.random.default_rng(1)
    features = rng.normal(0, 1, (1200, 10)).astype(np.float32)
    truth = features @ rng.normal(0, 1, (10, 4)) @ rng.normal(0, 1, (4, 30))
    top = np.argsort(-truth, axis=1)[:, :3]
    matrix = matrix_of([sorted(row) for row in top[:1000]], 30)
    settings = SETTINGS | {"beta_0": 30.0, "alpha": 0.0, "factors": 4}
    model, _ = fit_to("vse_fs_features", matrix, features[:1000], epochs=40, **settings)
    scores = model.scores(new_images(features[1000:], 30))
    correlation = np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(scores, truth[1000:], strict=True)])
    assert correlation > 0.9
    assert np.mean(np.argmax(scores, axis=1) == top[1000:, 0]) > 0.4
