"""NMF-KNN: its loss over rounds, against a plain program, planted factors, a hand-worked case, and edge cases."""

import numpy as np
import pytest
from scipy.optimize import nnls

from tests.builders import dense, matrix_of
from tests.methods.problems import fit_to, fitted, full, learnt_from, new_images, planted_labels, settings_of
from vsebench.core.errors import UserError
from vsebench.methods.by_features.nmf_knn import coefficients_of, factorise, squared_weights, views_of


def scaled(matrix):
    return matrix / (matrix.sum(axis=0).mean() or 1)


def drawn(seed=1, n_neighbours=9):
    """Return matrices of nine neighbours, squared weights of labels and of neighbours, and first coefficients."""
    rng = np.random.default_rng(seed)
    matrices = [rng.random((6, n_neighbours)), rng.random((4, n_neighbours)), rng.random((5, n_neighbours)) < 0.4]
    matrices = [scaled(matrix.astype(float)) for matrix in matrices]
    importances = [np.ones(6), np.ones(4), rng.uniform(1, 5, 5)]
    return matrices, importances, rng.uniform(1, 3, n_neighbours), rng.uniform(0.5, 1.5, (n_neighbours, 3))


def loss_of(matrices, importances, weights, bases, coefficients, common, penalty):
    """Return the loss of the module's docstring, with the diagonal matrices T, M and Q written out."""
    total = 0.0
    m = np.diag(np.sqrt(weights))
    for x, importance, u, v in zip(matrices, importances, bases, coefficients, strict=True):
        t, q = np.diag(np.sqrt(importance)), np.diag(u.sum(axis=0))
        total += np.square(t @ (x - u @ v.T) @ m).sum() / np.square(t @ x @ m).sum()
        total += penalty * np.square(m @ (v @ q - common)).sum()
    return total


@pytest.mark.parametrize("penalty", [0.0, 0.1, 10.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_round_raises_the_loss(seed, penalty):
    matrices, importances, weights, start = drawn(seed)
    views = views_of(matrices, importances, weights, start)
    common, losses = start, []
    for _ in range(40):
        parts = [view.basis for view in views], [view.coefficients for view in views]
        losses.append(loss_of(matrices, importances, weights, *parts, common, penalty))
        common = factorise(views, common, weights, penalty, 1)
    assert (np.diff(losses) <= 1e-9 * losses[0]).all()
    assert losses[-1] < 0.7 * losses[0]


def gradients(matrices, importances, weights, views, common, penalty):
    """Return the entries and the derivatives of the loss by differences, for a few entries of U and V."""
    bases, coefficients = [view.basis.copy() for view in views], [view.coefficients.copy() for view in views]
    arguments = matrices, importances, weights
    for parts in (bases, coefficients):
        for part in parts:
            for slot in np.random.default_rng(2).choice(part.size, 6, replace=False):
                value, around = part.reshape(-1)[slot], []
                for move in (1e-6, -1e-6):
                    part.reshape(-1)[slot] = value + move
                    around.append(loss_of(*arguments, bases, coefficients, common, penalty))
                part.reshape(-1)[slot] = value
                yield value, (around[0] - around[1]) / 2e-6


def test_after_many_rounds_a_factor_is_0_or_its_derivative_is():
    matrices, importances, weights, start = drawn()
    views = views_of(matrices, importances, weights, start)
    common = factorise(views, start, weights, 0.3, 30_000)
    for value, slope in gradients(matrices, importances, weights, views, common, 0.3):
        assert value >= 0
        assert abs(min(value, slope)) < 2e-4


def test_planted_factors_are_recovered_by_all_matrices_together():
    """Neighbours of three disjoint kinds: the factors of features and labels agree on the kinds."""
    kinds = np.repeat(np.eye(3), 5, axis=0)
    rng = np.random.default_rng(1)
    features = np.kron(np.eye(3), np.ones((4, 1))) @ kinds.T + 0.01 * rng.random((12, 15))
    labels = np.kron(np.eye(3), np.ones((2, 1))) @ kinds.T
    matrices, weights = [scaled(features), scaled(labels)], np.ones(15)
    views = views_of(matrices, [np.ones(12), np.ones(6)], weights, rng.uniform(0.5, 1.5, (15, 3)))
    factorise(views, np.ones((15, 3)), weights, 0.1, 500)
    for kind in range(3):
        found = views[1].basis @ coefficients_of([matrices[0][:, 5 * kind]], views[:1])
        np.testing.assert_allclose(found / found.sum(), np.repeat(np.eye(3), 2, axis=0)[:, kind] / 2, atol=0.02)


def plain_scores(row, sets, near, rows, carried, rarity, start, settings):
    """Return the scores of labels before the second key, by updates that are written entry by entry."""
    present = carried[near].T
    weights = np.array([rarity[labels > 0].mean() if labels.any() else 1.0 for labels in carried[near]])
    matrices = [rows[near][:, columns].T for columns in sets] + [present]
    sizes_of_columns = [matrix.sum(axis=0).mean() or 1.0 for matrix in matrices]
    matrices = [matrix / size for matrix, size in zip(matrices, sizes_of_columns, strict=True)]
    importances = [np.ones(len(matrix)) for matrix in matrices[:-1]] + [rarity]
    m, common, price = np.diag(weights), start.copy(), settings.consensus / len(near)
    bases = [matrix @ start + matrix.mean() for matrix in matrices]
    bases = [basis / basis.sum(axis=0) for basis in bases]
    coefficients = [start.copy() for _ in matrices]
    sizes = [np.square(np.diag(np.sqrt(t)) @ x @ np.sqrt(m)).sum() for t, x in zip(importances, matrices, strict=True)]
    for _ in range(settings.rounds):
        for i, (x, importance, size) in enumerate(zip(matrices, importances, sizes, strict=True)):
            t, u, v = np.diag(importance), bases[i], coefficients[i]
            ones = np.ones((len(x), 1))
            up = t @ x @ m @ v / size + price * ones * np.diag(v.T @ m @ common)
            down = t @ u @ v.T @ m @ v / size + price * ones * np.diag(v.T @ m @ v) * u.sum(axis=0)
            u = u * up / down
            v = v * u.sum(axis=0)
            u = u / u.sum(axis=0)
            v = v * (x.T @ t @ u / size + price * common) / (v @ u.T @ t @ u / size + price * v)
            bases[i], coefficients[i] = u, v
        common = sum(coefficients) / len(coefficients)
    parts = list(zip(bases[:-1], sets, sizes_of_columns[:-1], sizes[:-1], strict=True))
    left = np.vstack([basis / np.sqrt(size) for basis, _, _, size in parts])
    right = np.concatenate([row[columns] / column / np.sqrt(size) for _, columns, column, size in parts])
    return bases[-1] @ nnls(left, right)[0] * sizes_of_columns[-1]


@pytest.mark.parametrize("where", ["dense features", "sparse features", "two sets of features"])
def test_scores_are_those_of_a_plain_program(where):
    changes = {"neighbours": 8, "components": 3, "rounds": 15, "rarity": 0.5, "consensus": 0.5, "normalise": ["l2"]}
    model, queries = fitted("nmf_knn", where, **changes)
    carried = learnt_from(where)[1]
    rows = full(model.features)
    frequency = carried.sum(axis=0)
    rarity = (frequency.max() / frequency) ** 0.5
    sets = [slice(0, 5), slice(5, 12)] if where == "two sets of features" else [slice(None)]
    asked = full(model.normalisation.apply(queries.features))
    scores = model.scores(queries)
    for image in (0, 33, 101, 250):
        distances = np.square(rows - asked[image]).sum(axis=1)
        near = np.sort(np.argsort(distances, kind="stable")[:8])
        expected = plain_scores(asked[image], sets, near, rows, carried, rarity, model.start.astype(float),
                                settings_of("nmf_knn", **changes))  # fmt: skip
        np.testing.assert_allclose(scores[image], expected + model.second_key, atol=2e-3)


def test_one_neighbour_hands_on_its_labels():
    """By hand: the only factor is the neighbour itself, so its coefficient is <x, neighbour> / |neighbour|^2."""
    values = np.array([[1.0, 1.0], [1.0, 0.0]])
    changes = {"neighbours": 1, "components": 1, "consensus": 0.0, "rarity": 0.0, "rounds": 30, "normalise": []}
    model, _ = fit_to("nmf_knn", matrix_of([[0, 2], [1]], 3), values, **changes)
    np.testing.assert_allclose(model.scores(new_images([[1.0, 0.8], [0.9, 0.1]], 3)), [[0.9, 0, 0.9], [0, 0.9, 0]],
                               atol=1e-4)  # fmt: skip


def test_squared_weights_grow_with_rarity_and_are_the_most_frequent_labels_1():
    labels = matrix_of([[0], [0, 1], [0], [0, 1], []], 3)
    np.testing.assert_allclose(squared_weights(labels, 0.5), [1, np.sqrt(2), 1])  # the last label has no image
    np.testing.assert_allclose(squared_weights(labels, 0.0), [1, 1, 1])
    np.testing.assert_allclose(squared_weights(matrix_of([[], []], 2), 0.5), [1, 1])


def test_neighbours_without_a_label_are_left_out():
    labels = planted_labels()
    rows = [[] if i % 8 == 0 else list(np.flatnonzero(row)) for i, row in enumerate(dense(labels))]
    model, _ = fit_to("nmf_knn", matrix_of(rows, 32), np.abs(np.random.default_rng(1).normal(size=(400, 4))))
    assert (model.labels.n_labels_of_row > 0).all()


def test_an_image_without_features_gets_the_order_of_frequency():
    model, queries = fitted("nmf_knn", "dense features")
    np.testing.assert_array_equal(model.scores(queries)[5], model.second_key)


NEGATIVE = r"^nmf_knn: some normalised features are negative, .*such as \[l2\]$"


def test_negative_features_of_training_images_are_one_line():
    with pytest.raises(UserError, match=NEGATIVE):
        fit_to("nmf_knn", matrix_of([[0], [1]], 2), [[1, 1], [-1, 1]], normalise=[])


def test_negative_features_of_new_images_are_one_line():
    model, _ = fit_to("nmf_knn", matrix_of([[0], [1]], 2), [[1, 1], [0, 1]], normalise=[])
    with pytest.raises(UserError, match=NEGATIVE):
        model.scores(new_images([[1.0, -0.1]], 2))
