"""FastTag: against the alternating updates of its paper, values of its loss, a hand-worked case, and stages."""

import numpy as np
import pytest

from tests.builders import matrix_of
from tests.methods.problems import fit_to, fitted, learnt_from, settings_of
from vsebench.core.errors import UserError
from vsebench.methods.by_features.fasttag import corrupted, fit_stages, minimise, recalls

KNOWN = np.arange(400) != 5
ONE_STAGE = {"stages": 1, "gamma": 0.7, "dropped": 0.3, "regularisation": 2.0}


def drawn(n=60, d=5, n_labels=4, seed=3):
    """Return features, labels, each on at least one image, and weights of the images."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) + 1
    truth = (rows @ rng.normal(size=(d, n_labels)) + rng.normal(size=(n, n_labels)) > 1).astype(float)
    truth[np.arange(n_labels), np.arange(n_labels)] = 1
    return rows, truth, rng.uniform(0.5, 2, n)


def loss(completion, weight, rows, truth, importance, settings):
    """Return the loss of B and W with its intercept, entry by entry, by the definition of Q."""
    scores = rows @ weight[:, :-1].T + weight[:, -1]
    agreement = importance @ np.square(truth @ completion.T - scores).sum(axis=1)
    kept = 1 - settings.dropped
    corruption = 0.0
    for y, own in zip(truth, importance, strict=True):
        mean = completion @ (kept * y)
        spread = np.square(completion) @ (kept * (1 - kept) * y)  # the variance of a drawn label
        corruption += own * (np.square(y - mean) + spread).sum()
    return agreement + settings.regularisation * np.square(weight[:, :-1]).sum() + settings.gamma * corruption


def in_turns(rows, truth, importance, settings, turns):
    """Return B, W with its intercept, and the loss after each half turn, by the updates of the paper."""
    total = importance.sum()
    means = importance @ rows / total, importance @ truth / total
    x, y = rows - means[0], truth - means[1]
    weighted = importance[:, np.newaxis]
    together = truth.T @ (weighted * truth)
    kept = 1 - settings.dropped
    both = np.where(np.eye(len(together), dtype=bool), kept * together, kept**2 * together)
    inverse = np.linalg.inv(x.T @ (weighted * x) + settings.regularisation * np.eye(x.shape[1]))
    completion, losses = np.eye(len(together)), []
    for _ in range(turns):
        slopes = completion @ y.T @ (weighted * x) @ inverse
        losses.append((completion.copy(), slopes.copy()))
        left = slopes @ x.T @ (weighted * y) + settings.gamma * kept * together
        completion = left @ np.linalg.inv(y.T @ (weighted * y) + settings.gamma * both)
        losses.append((completion.copy(), slopes.copy()))
    values = []
    for b, w in losses:
        full = np.hstack([w, (b @ means[1] - w @ means[0])[:, np.newaxis]])
        values.append(loss(b, full, rows, truth, importance, settings))
    return completion, full, values


@pytest.mark.parametrize("dropped", [0.05, 0.9])
def test_turns_of_the_paper_never_raise_the_loss_and_end_at_the_direct_minimum(dropped):
    rows, truth, importance = drawn()
    settings = settings_of("fasttag", **(ONE_STAGE | {"dropped": dropped}))
    stage = minimise(rows, truth, importance, settings)
    completion, weight, losses = in_turns(rows, truth, importance, settings, 3000)
    assert (np.diff(losses) <= 1e-9 * losses[0]).all()
    np.testing.assert_allclose(stage.completion, completion, atol=1e-6)
    np.testing.assert_allclose(stage.weight, weight, atol=1e-6)


def test_the_direct_minimum_cannot_be_lowered():
    rows, truth, importance = drawn()
    settings = settings_of("fasttag", **ONE_STAGE)
    stage = minimise(rows, truth, importance, settings)
    lowest = loss(stage.completion, stage.weight, rows, truth, importance, settings)
    rng = np.random.default_rng(5)
    for _ in range(40):
        moves = [rng.normal(0, 1e-3, part.shape) for part in (stage.completion, stage.weight)]
        assert loss(stage.completion + moves[0], stage.weight + moves[1], rows, truth, importance, settings) > lowest


def test_expectations_are_those_of_drawn_corruptions():
    rng = np.random.default_rng(2)
    truth = (rng.random((3, 5)) < 0.6).astype(float)
    kept = rng.random((100_000, *truth.shape)) < 0.7
    corrupt = kept * truth
    paired, both = corrupted(truth.T @ truth, 0.3)
    np.testing.assert_allclose(paired, np.einsum("na,snb->ab", truth, corrupt) / len(kept), atol=0.02)
    np.testing.assert_allclose(both, np.einsum("sna,snb->ab", corrupt, corrupt) / len(kept), atol=0.02)


def test_labels_that_always_occur_together_complete_each_other():
    """By hand: without features that explain anything, B = gamma P (Yc' Yc + gamma Q)^-1."""
    rows, truth = np.zeros((4, 1)), np.array([[1, 1], [1, 1], [0, 0], [0, 0]], dtype=float)
    settings = settings_of("fasttag", **(ONE_STAGE | {"gamma": 1e9, "dropped": 0.5}))
    stage = minimise(rows, truth, np.ones(4), settings)
    # P = [[1, 1], [1, 1]], Q = [[1, 0.5], [0.5, 1]]: each label is completed by 2/3 of itself and 2/3 of the other.
    np.testing.assert_allclose(stage.completion, np.full((2, 2), 2 / 3), atol=1e-6)
    np.testing.assert_allclose(stage.weight, [[0, 2 / 3], [0, 2 / 3]], atol=1e-6)  # the mean of B y


def test_the_method_is_the_minimum_on_images_with_features():
    model, queries = fitted("fasttag", "dense features", **ONE_STAGE, normalise=[])
    rows, truth = learnt_from("dense features")
    settings = settings_of("fasttag", **ONE_STAGE, normalise=[])
    _, weight, _ = in_turns(rows, truth, np.ones(len(rows)), settings, 300)
    expected = rows @ weight[:, :-1].T + weight[:, -1]
    np.testing.assert_allclose(model.scores(queries)[KNOWN], expected, atol=1e-3)


def test_scores_without_an_image_are_those_of_a_fit_without_it():
    rows, truth, importance = drawn()
    settings = settings_of("fasttag", **ONE_STAGE)
    stage = minimise(rows, truth, importance, settings)
    target = truth @ stage.completion.T
    for image in (0, 17):
        others = np.arange(len(rows)) != image
        design = np.hstack([rows, np.ones((len(rows), 1))])[others]
        weighted = importance[others, np.newaxis] * design
        penalty = np.diag([settings.regularisation] * rows.shape[1] + [0.0])
        weight = np.linalg.solve(design.T @ weighted + penalty, weighted.T @ target[others])
        np.testing.assert_allclose(stage.without[image], np.append(rows[image], 1) @ weight, atol=1e-9)


def test_the_recall_of_a_label_counts_its_images_among_the_best_scores():
    scores = np.array([[3.0, 2, 1], [1, 2, 3], [1, 3, 2]])
    truth = np.array([[1.0, 0, 1], [1, 0, 1], [0, 1, 1]])
    np.testing.assert_allclose(recalls(scores, truth, 2), [1 / 2, 1, 2 / 3])


def test_further_stages_raise_only_the_recall_of_labels_below_the_bound():
    rng = np.random.default_rng(4)
    rare = rng.random(600) < 0.05
    frequent = rng.random((600, 5)) < 0.6
    rows = np.hstack([rare[:, np.newaxis] * 1.5 + rng.normal(size=(600, 1)), frequent + rng.normal(0, 0.3, (600, 5))])
    truth = np.hstack([rare[:, np.newaxis], frequent]).astype(float)
    common = {"cutoff": 3, "recall": 0.3, "boost": 4.0}
    one, three = (
        fit_stages(rows, truth, settings_of("fasttag", **(ONE_STAGE | common | {"stages": stages})))
        for stages in (1, 3)
    )
    design = np.hstack([rows, np.ones((600, 1))])
    before, after = (recalls(design @ weight.T, truth, 3) for weight in (one, three))
    assert before[0] < 0.3 < after[0]
    assert np.array_equal(one[1:], three[1:])


def test_a_label_without_an_image_has_the_score_0():
    values = np.random.default_rng(1).normal(size=(6, 3))
    model, _ = fit_to("fasttag", matrix_of([[0], [0, 2], [2], [0], [2], []], 4), values, **ONE_STAGE, normalise=[])
    assert (model.label[[1, 3]] == 0).all()
    assert (model.label[[0, 2]] != 0).any(axis=1).all()


@pytest.mark.parametrize(("key", "value"), [("dropped", 0.0), ("dropped", 1.0), ("gamma", 0.0), ("boost", 1.0)])
def test_a_setting_without_a_single_minimum_is_refused(key, value):
    with pytest.raises(UserError, match=f"fasttag: {key}"):
        settings_of("fasttag", **{key: value})
