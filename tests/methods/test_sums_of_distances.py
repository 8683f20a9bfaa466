"""JEC, TagProp and 2PKNN: against plain NumPy, examples by hand, planted truth, and few or equal images."""

import numpy as np
import pytest
from scipy import sparse

from tests.builders import dense, matrix_of
from tests.methods.problems import (
    fit_to,
    fitted,
    full,
    method_of,
    new_images,
    problem_from,
    problem_of,
    settings_of,
)
from tests.reference import neighbour_votes as reference
from vsebench import models
from vsebench.core.errors import UserError
from vsebench.core.workers import workers
from vsebench.data.features import Features, side_by_side
from vsebench.data.problem import Queries
from vsebench.methods.by_features.base_distances import (
    column_factors,
    largest_distances,
    mean_distances,
    multiplied,
    unit_rows,
)
from vsebench.methods.by_features.tagprop import Votes
from vsebench.methods.by_features.two_pass_knn import best_weight, margin_objective, pairs_of

NAMES = ["jec", "tagprop", "tagprop_sigma", "two_pass_knn", "two_pass_knn_ml"]
WHERE = ["new images", "sparse features", "two sets of features"]


def fitted_with(name, where, **changes):
    """Fit a method to one of PROBLEMS; returns the fitter, its model and the images to score."""
    with workers(1) as pool:
        problem, queries = problem_of(where, pool)
        fitter = method_of(name)(problem, settings_of(name, **changes))
        return fitter, fitter.model(), queries


def base_distances(queries, rows, blocks):
    """Return the squared distances between unit rows, (n_sets, m, n), in float64."""
    sets = []
    for block in blocks:
        q, x = (unit(full(part)[:, block.start : block.stop]) for part in (queries, rows))
        sets.append(np.square(q[:, np.newaxis] - x).sum(axis=2))
    return np.stack(sets)


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)


def given_to(where):
    """Return what the NumPy twins need: training rows, their labels, the queries' rows, and the sets of features."""
    with workers(1) as pool:
        problem, queries = problem_of(where, pool)
    images = problem.training.images[problem.features.known[problem.training.images]]
    rows = problem.features.rows(images)
    return rows, dense(problem.training.labels)[images], queries.features, problem.feature_blocks


def in_turns(distances, k, without_own):
    """Return the first k images that are reached by taking the neighbours of each set in turns, (m, k)."""
    n_sets, m, _ = distances.shape
    near = []
    for q in range(m):
        orders = [np.argsort(distances[b, q], kind="stable") for b in range(n_sets)]
        taken = list(dict.fromkeys(j for rank in zip(*orders, strict=True) for j in rank))
        near.append([j for j in taken if not (without_own and j == q)][:k])
    return np.array(near)


def some(scores, rows):
    """Return the scores of images with features; an image of zeros is equally far from all others."""
    return scores[full(rows).any(axis=1)]


@pytest.mark.parametrize("where", WHERE)
def test_tagprop_is_that_of_numpy(where):
    fitter, model, queries = fitted_with("tagprop", where, neighbours=15)
    rows, carries, of_queries, blocks = given_to(where)
    between = base_distances(rows, rows, blocks)
    means = between.mean(axis=(1, 2))
    n_positive = carries.sum()
    costs = np.array([1 / (carries.size - n_positive), 1 / n_positive])
    near = in_turns(between, 15, without_own=True)
    at_near = np.take_along_axis(between, near[np.newaxis], axis=2) / means[:, np.newaxis, np.newaxis]

    def loss(weight):
        return reference.negative_log_likelihood(-np.tensordot(weight, at_near, 1), near, carries, costs).sum()

    assert fitter.solved.converged
    best = loss(model.weight)
    for factors in (0.9, 1.1), (1.1, 0.9), (0.95, 1.0), (1.05, 1.0), (1.0, 1.05):
        assert loss(model.weight * factors[: len(blocks)]) > best - 1e-7
    to_queries = base_distances(of_queries, rows, blocks)
    near = in_turns(to_queries, 15, without_own=False)
    at_near = np.take_along_axis(to_queries, near[np.newaxis], axis=2) / means[:, np.newaxis, np.newaxis]
    expected = reference.votes(-np.tensordot(model.weight, at_near, 1), near, carries)
    assert np.allclose(some(model.scores(queries), of_queries), some(expected, of_queries), atol=2e-3)
    median = np.median(np.abs(model.scores(queries) - expected))
    assert median < 1e-5  # two images at nearly the same distance can change places


@pytest.mark.parametrize("weights", ["distance", "rank"])
@pytest.mark.parametrize("with_sigmoids", [False, True])
def test_slopes_for_the_weights_are_differences_of_the_loss(weights, with_sigmoids):
    rng = np.random.default_rng(1)
    labels = matrix_of([sorted(rng.choice(6, 2, replace=False).tolist()) for _ in range(9)], 6)
    near = np.array([rng.choice(np.delete(np.arange(9), i), 4, replace=False) for i in range(9)], dtype=np.int32)
    votes = Votes(near, rng.random((2, 9, 4)), labels, weights)
    weight = rng.random(4 if weights == "rank" else 2)
    sigmoids = (rng.normal(size=6), rng.normal(size=6)) if with_sigmoids else (np.empty(0), np.empty(0))
    value, slope = votes.loss(weight, *sigmoids)
    logits = np.tile(-weight, (9, 1)) if weights == "rank" else -np.tensordot(weight, votes.distances, 1)
    given = sigmoids if with_sigmoids else ()
    expected = reference.negative_log_likelihood(logits, near, dense(labels), votes.costs, *given).sum()
    assert value == pytest.approx(expected, rel=1e-12)
    steps = 1e-6 * np.eye(len(weight))
    differences = [(votes.loss(weight + s, *sigmoids)[0] - votes.loss(weight - s, *sigmoids)[0]) / 2e-6 for s in steps]
    assert np.allclose(slope, differences, atol=1e-7)


def test_sigmoids_are_at_the_minimum_of_loss_and_penalty():
    rng = np.random.default_rng(2)
    carries = rng.random((40, 5)) < [0.5, 0.2, 0.1, 0.03, 0]
    carries[0, 3] = True
    labels = matrix_of([np.flatnonzero(row).tolist() for row in carries], 5)
    near = np.array([rng.choice(np.delete(np.arange(40), i), 6, replace=False) for i in range(40)], dtype=np.int32)
    votes, weight = Votes(near, rng.random((1, 40, 6)), labels, "distance"), np.array([2.0])
    alpha, beta, loss, converged = votes.best_sigmoids(weight, *votes.constant_sigmoids(), 1e-3)
    assert converged
    logits = -np.tensordot(weight, votes.distances, 1)
    penalty = 1e-3 * np.maximum(carries.sum(axis=0), 1) / carries.sum()

    def by_label(alpha, beta):
        of_pairs = reference.negative_log_likelihood(logits, near, carries, votes.costs, alpha, beta)
        return of_pairs.sum(axis=0) + penalty / 2 * (alpha**2 + beta**2)

    assert loss == pytest.approx(by_label(alpha, beta).sum(), rel=1e-12)
    for step in (0.1, -0.1):
        assert (by_label(alpha + step, beta) >= by_label(alpha, beta)).all()
        assert (by_label(alpha, beta + step) >= by_label(alpha, beta)).all()
        assert (by_label(alpha + step, beta - step) >= by_label(alpha, beta)).all()


@pytest.mark.parametrize("where", WHERE)
def test_tagprop_with_sigmoids_scores_by_them_and_no_turn_is_left(where):
    fitter, model, queries = fitted_with("tagprop_sigma", where, neighbours=15)
    assert fitter.solved.converged
    assert np.allclose(model.scores(queries), model.alpha * model.votes(queries) + model.beta, atol=1e-5)


def test_tagprop_with_sigmoids_is_at_the_minimum_of_numpy():
    """No step of the weights, the slopes or the intercepts lowers the loss with its penalty."""
    where = "two sets of features"
    fitter, model, _ = fitted_with("tagprop_sigma", where, neighbours=15, regularisation=1e-2)
    rows, carries, _, blocks = given_to(where)
    between = base_distances(rows, rows, blocks)
    near = in_turns(between, 15, without_own=True)
    means = between.mean(axis=(1, 2))
    at_near = np.take_along_axis(between, near[np.newaxis], axis=2) / means[:, np.newaxis, np.newaxis]
    costs = np.array([1 / (carries.size - carries.sum()), 1 / carries.sum()])
    penalty = 1e-2 * np.maximum(carries.sum(axis=0), 1) / carries.sum()

    def loss(weight, alpha, beta):
        logits = -np.tensordot(weight, at_near, 1)
        of_pairs = reference.negative_log_likelihood(logits, near, carries, costs, alpha, beta)
        return of_pairs.sum() + (penalty / 2 * (alpha**2 + beta**2)).sum()

    assert fitter.solved.converged
    found = model.weight, model.alpha, model.beta
    best = loss(*found)
    for part in range(3):
        for factor in (0.8, 1.25):
            moved = [value * factor if n == part else value for n, value in enumerate(found)]
            assert loss(*moved) > best - 1e-5 * best


def test_one_turn_of_weights_and_sigmoids_is_reported_as_not_converged():
    fitter, _, _ = fitted_with("tagprop_sigma", "new images", turns=1)
    assert not fitter.solved.converged


def test_weights_by_rank_find_how_far_labels_are_shared():
    # Images lie on a circle in groups of three with the same label: only the two nearest have it.
    angles = 2 * np.pi * (np.repeat(np.arange(30), 3) + np.tile([0, 0.1, 0.2], 30)) / 30
    labels = matrix_of([[group] for group in np.repeat(np.arange(30), 3)], 30)
    values = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    model, _ = fit_to("tagprop", labels, values, weights="rank", neighbours=6)
    shares = np.exp(-model.weight) / np.exp(-model.weight[:6]).sum()
    assert shares[:2].sum() > 0.99
    assert shares[:2] == pytest.approx([0.5, 0.5], abs=0.02)


def two_passes(distances, carries, per_label, sharpness):
    """Return the scores of 2PKNN, (m, n_labels), from the distances of queries to images, (m, n)."""
    scores = np.zeros((len(distances), carries.shape[1]))
    for q, own in enumerate(distances):
        union = set()
        for label in range(carries.shape[1]):
            having = np.flatnonzero(carries[:, label])
            union |= set(having[np.argsort(own[having], kind="stable")[:per_label]].tolist())
        near = np.array(sorted(union))
        scores[q] = np.exp(-sharpness * (own[near] - own[near].min())) @ carries[near]
    return scores


@pytest.mark.parametrize("where", WHERE)
def test_2pknn_is_that_of_numpy(where):
    model, queries = fitted("two_pass_knn", where, per_label=3, sharpness=6.0)
    rows, carries, of_queries, blocks = given_to(where)
    means = base_distances(rows, rows, blocks).mean(axis=(1, 2))
    to_queries = base_distances(of_queries, rows, blocks) / means[:, np.newaxis, np.newaxis]
    expected = two_passes(to_queries.mean(axis=0), carries, 3, 6.0)
    assert np.allclose(some(model.scores(queries), of_queries), some(expected, of_queries), rtol=1e-3, atol=1e-5)


def test_2pknn_with_learnt_weights_votes_by_the_weighted_distances():
    """The model's factors are those of the learnt weights, and its votes those of NumPy with these weights."""
    where = "two sets of features"
    fitter, model, queries = fitted_with("two_pass_knn_ml", where, per_label=3, sharpness=6.0, images=60)
    rows, carries, of_queries, blocks = given_to(where)
    chosen = np.unique(np.linspace(0, len(rows) - 1, 60).astype(np.int32))
    means = base_distances(rows, rows, blocks).mean(axis=(1, 2))
    factors = column_factors(blocks, 1 / means)
    labels = matrix_of([np.flatnonzero(row).tolist() for row in carries], carries.shape[1])
    pairs = pairs_of(multiplied(unit_rows(rows, blocks), factors), blocks, labels, chosen, 3)
    weight, solved = best_weight(np.array([0.5, 0.5]), *pairs, fitter.settings.push)
    assert solved.converged
    shares = weight / weight.sum()
    assert 0.05 < abs(shares[0] - 0.5) <= 0.5
    to_queries = base_distances(of_queries, rows, blocks) / means[:, np.newaxis, np.newaxis]
    learnt, equal = (two_passes(np.tensordot(share, to_queries, 1), carries, 3, 6.0) for share in (shares, [0.5, 0.5]))
    found, learnt, equal = (some(scores, of_queries) for scores in (model.scores(queries), learnt, equal))
    assert np.allclose(found, learnt, rtol=1e-3, atol=1e-5)
    assert np.abs(learnt - equal).max() > 0.05


def test_2pknn_of_an_example_by_hand():
    # The query is at the angles 0, 90 and 180 degrees from the images: squared distances 0, 2 and 4. Their mean over
    # all nine pairs is (2 * 2 + 2 * 2 + 2 * 4) / 9 = 16 / 9.
    labels = matrix_of([[0], [0, 1], [1, 2]], 4)
    model, _ = fit_to("two_pass_knn", labels, [[1, 0], [0, 1], [-1, 0]], per_label=1, sharpness=1.0)
    second, third = np.exp(-2 * 9 / 16), np.exp(-4 * 9 / 16)
    (scores,) = model.scores(new_images([[5, 0]], 4))
    assert scores == pytest.approx([1 + second, second + third, third, 0])  # label 3 has no image


@pytest.mark.parametrize("where", ["new images", "two sets of features"])
def test_targets_and_impostors_are_those_of_numpy(where):
    rows, carries, _, blocks = given_to(where)
    rows, labels = unit_rows(rows[:60], blocks), matrix_of([np.flatnonzero(row).tolist() for row in carries[:60]], 32)
    chosen, distances = np.arange(0, 60, 7, dtype=np.int32), base_distances(rows, rows, blocks)
    found = pairs_of(rows, blocks, labels, chosen, 3)
    for p, image in enumerate(chosen):
        expected = (set(), set())
        for label in range(32):
            having = np.flatnonzero(carries[:60, label] & (np.arange(60) != image))
            nearest = having[np.argsort(distances[:, image, having].sum(axis=0), kind="stable")[:3]]
            expected[0 if carries[image, label] else 1].update(nearest.tolist())
        for pairs, images in zip(found, expected, strict=True):
            images, part = np.array(sorted(images), dtype=int), slice(*pairs.offsets[p : p + 2])
            shared = (carries[images] & carries[image]).sum(axis=1) / carries[images].sum(axis=1)
            assert np.allclose(pairs.likeness[part], shared)
            assert np.allclose(pairs.distances[:, part], distances[:, image, images], atol=1e-6)


def pairs_of_sixty():
    """Return the targets and the impostors of sixty images with two sets of features."""
    rows, carries, _, blocks = given_to("two sets of features")
    labels = matrix_of([np.flatnonzero(row).tolist() for row in carries[:60]], 32)
    return pairs_of(unit_rows(rows[:60], blocks), blocks, labels, np.arange(60, dtype=np.int32), 3)


@pytest.mark.parametrize("weight", [[0.3, 0.7], [4.0, 2.0]])
def test_slopes_of_margins_are_differences_of_their_loss(weight):
    pairs = pairs_of_sixty()
    _, slope = margin_objective(np.array(weight), *pairs, 0.5)
    steps = 1e-6 * np.eye(2)
    moved = [[margin_objective(weight + sign * step, *pairs, 0.5)[0] for sign in (1, -1)] for step in steps]
    assert np.allclose(slope, [(up - down) / 2e-6 for up, down in moved], rtol=1e-4)


def test_weights_of_margins_are_at_the_minimum_of_their_loss():
    pairs = pairs_of_sixty()
    weight, solved = best_weight(np.array([0.5, 0.5]), *pairs, 0.5)
    assert solved.converged
    least, _ = margin_objective(weight, *pairs, 0.5)
    for other in ([0.9, 1.1], [1.1, 0.9], [0.9, 0.9], [1.1, 1.1]):
        assert margin_objective(weight * other, *pairs, 0.5)[0] > least


def planted(name, **changes):
    """Fit a method to two sets of features, of which only the second one has to do with the labels."""
    rng = np.random.default_rng(5)
    labels, groups = rng.normal(size=(12, 8)), np.repeat(np.arange(12), 12)
    noise, telling = rng.normal(size=(144, 8)), labels[groups] + rng.normal(0, 0.4, (144, 8))
    known = np.ones(144, dtype=bool)
    sets = {"noise": noise, "telling": telling}
    features = side_by_side({key: Features(part.astype(np.float32), known) for key, part in sets.items()})
    matrix = matrix_of([[group] for group in groups], 12)
    with workers(1) as pool:
        fitter = method_of(name)(problem_from(matrix, pool, features=features), settings_of(name, **changes))
        return fitter.model(), fitter


@pytest.mark.parametrize("name", ["tagprop", "tagprop_sigma"])
def test_tagprop_finds_the_set_of_features_that_tells_the_labels(name):
    model, fitter = planted(name, neighbours=50)
    assert fitter.solved.converged
    assert model.weight[0] < 0.05 * model.weight[1]


def test_metric_learning_finds_the_set_of_features_that_tells_the_labels():
    learnt, fitter = planted("two_pass_knn_ml")
    equal, _ = planted("two_pass_knn")
    assert fitter.solved.converged
    of_learnt, of_equal = (model.factors[[0, -1]] ** 2 for model in (learnt, equal))
    shares = of_learnt / of_equal / 2
    assert shares.sum() == pytest.approx(1, rel=1e-5)
    assert shares[0] < 0.1


def test_metric_learning_of_one_set_of_features_changes_nothing():
    (learnt, queries), (equal, _) = (fitted(name, "new images") for name in ("two_pass_knn_ml", "two_pass_knn"))
    assert np.array_equal(learnt.scores(queries), equal.scores(queries))


def transfer(distances, carries, k):
    """Return the labels of each query in the order of JEC, (m, n_labels), from distances to images, (m, n)."""
    frequency, together = carries.sum(axis=0), carries.T.astype(int) @ carries
    orders = []
    for own in distances:
        near = np.argsort(own, kind="stable")[:k]
        first, votes = carries[near[0]], carries[near[1:]].sum(axis=0)
        likeness = together[first].sum(axis=0) if first.any() else np.ones_like(frequency)

        def key(label, first=first, values=votes * likeness, votes=votes):
            group = 0 if first[label] else 1 if votes[label] else 2
            return (group, -values[label] if group == 1 else 0, -frequency[label], label)

        orders.append(sorted(range(carries.shape[1]), key=key))
    return np.array(orders)


@pytest.mark.parametrize("where", WHERE)
def test_jec_is_that_of_numpy(where):
    model, queries = fitted("jec", where, neighbours=6)
    rows, carries, of_queries, blocks = given_to(where)
    largest = base_distances(rows, rows, blocks).max(axis=(1, 2))
    to_queries = base_distances(of_queries, rows, blocks) / largest[:, np.newaxis, np.newaxis]
    known = full(of_queries).any(axis=1)
    expected = transfer(to_queries.mean(axis=0)[known], carries, 6)
    scores = model.scores(queries)[known]
    found = np.lexsort((np.tile(np.arange(carries.shape[1]), (len(scores), 1)), -scores))
    # Two images at nearly the same distance can change places.
    assert (found == expected).all(axis=1).mean() > 0.9


def test_jec_ranks_labels_of_the_nearest_image_then_of_its_neighbours_then_all_others():
    # In the order of their distance to the query, the images have these labels. Label 6 is frequent, but on far images.
    matrix = matrix_of([[0, 1], [1, 2, 3], [3, 4], [1, 5], [0, 4], [6], [6], [6]], 8)
    angles = np.radians([1, 2, 3, 40, 60, 90, 100, 110])
    model, _ = fit_to("jec", matrix, np.stack([np.cos(angles), np.sin(angles)], axis=1), neighbours=3)
    (scores,) = model.scores(new_images([[1, 0]], 8))
    # First 1 (three images) and 0 (two images). Of the neighbours, label 3 has n = 2 and t = 1, labels 4 (two
    # images) and 2 (one) have n = 1 and t = 1. The others by frequency: 6, 5, and 7 without an image.
    assert np.argsort(-scores, kind="stable").tolist() == [1, 0, 3, 4, 2, 6, 5, 7]
    assert scores[[3, 2, 4]] == pytest.approx([1 + 2.5 / 2.5, 1 + 1.25 / 2.5, 1 + 1.5 / 2.5])


def test_jec_takes_votes_alone_where_the_nearest_image_has_no_label():
    matrix = matrix_of([[], [0, 1], [1], [2]], 3)
    model, _ = fit_to("jec", matrix, [[1, 0], [9, 1], [8, 1], [0, 1]], neighbours=3)
    (scores,) = model.scores(new_images([[1, 0]], 3))
    assert scores.tolist() == [1.5, 2, np.float32(1 / 3)]


def test_scales_of_distances_are_those_of_all_pairs():
    rows, _, _, blocks = given_to("two sets of features")
    between = base_distances(rows, rows, blocks)
    for values in (rows, sparse.csr_array(rows)):
        units = unit_rows(values, blocks)
        assert mean_distances(units, blocks) == pytest.approx(between.mean(axis=(1, 2)), rel=1e-5)
        assert largest_distances(units, blocks) == pytest.approx(between.max(axis=(1, 2)), rel=1e-5)


FEW = {
    "one image": ([[0, 1]], [[1.0, 2.0]]),
    "two images": ([[0], [1]], [[1.0, 2.0], [2.0, 1.0]]),
    "identical images": ([[0], [1], [0, 1], [2], []], [[1.0, 2.0]] * 5),
    "images of zeros": ([[0], [1], [0]], [[0.0, 0.0]] * 3),
    "a label with one image": ([[0], [0], [0, 1], [0]], [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 1.0]]),
    "every label on every image": ([[0, 1, 2]] * 3, [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]),
}


@pytest.mark.parametrize("few", FEW)
@pytest.mark.parametrize("name", NAMES)
def test_few_or_equal_images_give_finite_scores(name, few, tmp_path):
    rows, values = FEW[few]
    model, _ = fit_to(name, matrix_of(rows, 3), values)
    queries = new_images([[1.0, 3.0], [0.0, 0.0]], 3)
    scores = model.scores(queries)
    assert model.has_finite_scores()
    assert np.isfinite(scores).all()
    models.save(model, tmp_path / "model.npz")
    assert np.array_equal(models.load(tmp_path / "model.npz").scores(queries), scores)


@pytest.mark.parametrize("few", FEW)
@pytest.mark.parametrize("name", NAMES)
def test_few_or_equal_images_with_two_sets_of_features_give_finite_scores(name, few):
    rows, values = FEW[few]
    values, known = np.asarray(values, dtype=np.float32), np.ones(len(rows), dtype=bool)
    features = side_by_side({key: Features(values * factor, known) for key, factor in {"a": 1, "b": 3}.items()})
    with workers(1) as pool:
        problem = problem_from(matrix_of(rows, 3), pool, features=features)
        model = method_of(name)(problem, settings_of(name)).model()
    assert np.isfinite(model.scores(new_images([[1.0, 3.0, 0.0, 1.0]], 3))).all()


@pytest.mark.parametrize("name", ["tagprop", "tagprop_sigma"])
def test_weights_by_rank_of_few_images_can_be_scored(name):
    for few in FEW.values():
        model, _ = fit_to(name, matrix_of(few[0], 3), few[1], weights="rank")
        assert np.isfinite(model.scores(new_images([[1.0, 3.0]], 3))).all()


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("jec", "neighbours", 0),
        ("tagprop", "neighbours", 0),
        ("tagprop", "weights", "cosine"),
        ("tagprop_sigma", "regularisation", 0.0),
        ("tagprop_sigma", "turns", 0),
        ("two_pass_knn", "per_label", 0),
        ("two_pass_knn", "sharpness", 0.0),
        ("two_pass_knn_ml", "push", 0.0),
    ],
)
def test_settings_out_of_range_are_refused(name, key, value):
    with pytest.raises(UserError, match=f"{name}: {key}"):
        settings_of(name, **{key: value})


@pytest.mark.parametrize("name", NAMES)
def test_features_of_another_length_are_refused(name):
    model, _ = fit_to(name, matrix_of([[0], [1]], 2), [[1, 0, 1], [0, 1, 1]])
    with pytest.raises(UserError, match="this model was fitted to 3 features per image, but these images have 2"):
        model.scores(new_images([[1, 2]], 2))
    with pytest.raises(UserError, match="scores images by their features, but these images have none"):
        model.scores(Queries(np.array([0], dtype=np.int32), matrix_of([[]], 2)))
