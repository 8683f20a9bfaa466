"""The baselines that score by weights between labels, and those that other packages compute."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from vsebench.core.errors import UserError
from vsebench.core.workers import workers
from vsebench.evaluation.ranking import rank_held_out
from vsebench.kernels.cooccurrence import count_together
from vsebench.methods import base
from vsebench.methods.base import LabelWeights, load_method, read_settings, scorer_of

SETTINGS = {
    "ease": {"regularisation": 3.0},
    "item_knn": {"neighbours": 7, "shrinkage": 0.0},
    "implicit_als": {"factors": 16, "confidence": 20.0, "regularisation": 2.0},
    "lightfm_warp": {"factors": 16, "learning_rate": 0.05, "regularisation": 0.0, "trials": 10},
}
PACKAGES = {"implicit_als": "implicit", "lightfm_warp": "lightfm"}


def fit(name, matrix, epochs=1, seed=1, **changes):
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name], reason="optional, `make setup-peers` installs it")
    method = load_method(name)
    with workers(1) as pool:
        model = method(matrix, read_settings(method, SETTINGS[name] | changes, name), seed, pool)
        for _ in range(epochs):
            model.epoch()
        return model.scorer()


def dense(matrix):
    rows = np.zeros((matrix.n_images, matrix.n_labels))
    rows[matrix.images, matrix.labels] = 1
    return rows


def test_labels_on_the_same_images_are_counted(small):
    rows = dense(small)
    assert np.array_equal(count_together(small.offsets, small.labels, small.n_labels), rows.T @ rows)


def test_ease_solves_each_labels_ridge_regression_on_the_other_labels(small):
    rows, weight = dense(small), fit("ease", small).weight
    for label in range(small.n_labels):
        others = np.delete(np.arange(small.n_labels), label)
        gram = rows[:, others].T @ rows[:, others] + 3.0 * np.eye(len(others))
        expected = np.linalg.solve(gram, rows[:, others].T @ rows[:, label])
        assert np.allclose(weight[others, label], expected, atol=1e-6)
        assert weight[label, label] == 0


def test_neighbours_are_the_most_similar_labels(small):
    similarity = cosine_similarity(dense(small).T)
    np.fill_diagonal(similarity, 0)
    weight = fit("item_knn", small, neighbours=3).weight
    for label in range(small.n_labels):
        kept = np.flatnonzero(weight[:, label])
        assert len(kept) <= 3
        assert np.allclose(weight[kept, label], similarity[kept, label], atol=1e-6)
        assert np.isclose(weight[:, label].sum(), np.sort(similarity[:, label])[-3:].sum(), atol=1e-6)


def test_shrinkage_is_worth_so_many_images(build):
    matrix = build([[0, 1], [0, 1], [0]], 3)
    weight = fit("item_knn", matrix, shrinkage=2.0).weight
    assert np.isclose(weight[0, 1], 2 / (np.sqrt(3 * 2) + 2))
    assert not weight[2].any()  # a label without images is no neighbour


def test_scores_by_weights_are_sums_over_the_images_labels(small):
    weight = np.random.default_rng(1).normal(size=(12, 12)).astype(np.float32)
    scores = LabelWeights(weight).scores(np.array([4, 3, 0], dtype=np.int32), small)
    assert np.allclose(scores, (dense(small) @ weight)[[4, 3, 0]], atol=1e-5)
    again = scorer_of(LabelWeights(weight).arrays(), "model.npz")
    assert isinstance(again, LabelWeights)
    with pytest.raises(UserError, match=r"model\.npz: not a model, it holds image; delete it"):
        scorer_of({"image": weight}, "model.npz")


def test_weights_that_are_not_finite_are_refused(small):
    weight = np.full((12, 12), np.nan, dtype=np.float32)
    with workers(1) as pool, pytest.raises(UserError, match="not finite"):
        rank_held_out(LabelWeights(weight), small, small.to_pairs(), pool, "model")


@pytest.mark.parametrize("name", SETTINGS)
def test_planted_groups_are_recovered(name, planted):
    scores = fit(name, planted, epochs=1 if name in ("ease", "item_knn") else 15).scores(np.arange(400), planted)
    scores[planted.images, planted.labels] = -np.inf
    top = np.argsort(-scores, axis=1)[:, :2]
    assert (top // 8 == np.arange(400)[:, None] % 4).mean() > 0.97


@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_seed_gives_the_same_bytes(name, small):
    first, second = (fit(name, small, epochs=2).arrays() for _ in range(2))
    assert all(first[key].tobytes() == second[key].tobytes() for key in first)


def test_a_package_that_is_not_there_is_named(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name}", name="implicit")

    monkeypatch.setattr(base.importlib, "import_module", missing)
    with pytest.raises(UserError, match=r"implicit_als.*needs the package implicit.*make setup-peers"):
        load_method("implicit_als")
