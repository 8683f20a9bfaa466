"""Decisions: each against a search or formula of its own, and planted rules that they find."""

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn import metrics as sklearn_metrics
from sklearn.linear_model import LogisticRegression

from vsebench.config.method import DecisionConfig
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import read_config
from vsebench.evaluation.decisions.base import Labelled, Tuning, load_decision, make_decision
from vsebench.evaluation.metrics.base import is_of_decision
from vsebench.evaluation.ranking import ranks_from_zero
from vsebench.evaluation.sets import LabelSets

CONFIG = Path(__file__).parents[2] / "config" / "decisions"
NAMES = sorted(path.stem for path in CONFIG.glob("*.yaml"))
TRAINED = ["label_count", "class_threshold"]
CONFIGS = [read_config(DecisionConfig, CONFIG / f"{name}.yaml") for name in NAMES]
# The best possible decisions need the distribution of the labels.
OF_SCORES = {
    name: config
    for name, config in zip(NAMES, CONFIGS, strict=True)
    if "label_distribution" not in load_decision(config.decision).needs
}
AVERAGES = [("macro_f1", "macro"), ("micro_f1", "micro"), ("example_f1", "samples")]
SMALL = {"label_count": {"hidden": [16]}, "class_threshold": {"hidden": [16]}}


def images_of(seed, n=600, n_labels=8, noise=0.5):
    """Scores whose level differs from image to image, by a number that is among the vectors of the image."""
    rng = np.random.default_rng(seed)
    merit, level = rng.normal(-0.5, 1.0, (n, n_labels)), rng.normal(0, 3, (n, 1))
    right = merit + noise * rng.normal(0, 1, merit.shape) > 0
    vectors = np.hstack([level / 3, right.sum(axis=1, keepdims=True) + rng.normal(0, 0.2, (n, 1))])
    scores = (merit + level).astype(np.float32)
    return Labelled(scores, vectors.astype(np.float32), thresholds=level + np.zeros_like(scores), right=right)


@pytest.fixture(scope="module")
def parts():
    return images_of(1), images_of(2), images_of(3)


def decided(name, parts, tuned_for="macro_f1", seed=1, **settings):
    first, valid, test = parts
    decision = make_decision(name, Tuning(tuned_for, seed), SMALL.get(name, {}) | settings, "here")
    record = decision.fit(first, valid)
    return decision, record, decision.decide(test)


def exact_match(predicted, right):
    return (predicted == right).all(axis=1).mean()


@pytest.mark.parametrize("config", OF_SCORES.values(), ids=OF_SCORES)
def test_a_decision_gives_the_same_sets_again_and_reads_no_labels_of_the_test(parts, config):
    name, settings = config.decision, config.settings | SMALL.get(config.decision, {})
    _, record, chosen = decided(name, parts, **settings)
    assert chosen.shape == parts[2].right.shape
    assert chosen.dtype == np.bool_
    _, again, same = decided(name, parts, **settings)
    assert record == again
    assert np.array_equal(chosen, same)
    hidden = Labelled(parts[2].scores, parts[2].vectors, thresholds=parts[2].thresholds, right=~parts[2].right)
    assert np.array_equal(decided(name, (*parts[:2], hidden), **settings)[2], chosen)


@pytest.mark.parametrize("name", TRAINED)
def test_another_seed_trains_another_network(parts, name):
    one, other = (decided(name, parts, seed=seed)[0].head.outputs(parts[2]) for seed in (1, 2))
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(("metric", "average"), AVERAGES)
def test_top_k_is_the_best_of_all_on_the_validation_images(parts, metric, average):
    valid = parts[1]
    order = np.argsort(-valid.scores, axis=1)
    values = []
    for k in range(1, 9):
        predicted = np.zeros_like(valid.right)
        np.put_along_axis(predicted, order[:, :k], True, axis=1)
        empty = 0 if metric != "example_f1" else 1.0
        values.append(sklearn_metrics.f1_score(valid.right, predicted, average=average, zero_division=empty))
    _, record, chosen = decided("top_k", parts, metric)
    assert record == {"k": int(np.argmax(values)) + 1}
    assert (chosen.sum(axis=1) == record["k"]).all()


def test_a_threshold_is_the_best_of_fifty_between_the_highest_scores(parts):
    valid = parts[1]
    tried = np.linspace(np.sort(valid.scores)[:, -10:].min(), valid.scores.max(), 50, dtype=np.float32)
    values = [exact_match(valid.scores > one, valid.right) for one in tried]
    decision, record, chosen = decided("threshold", parts, "exact_match")
    assert record["threshold"] == tried[np.argmax(values)]
    assert np.array_equal(chosen, parts[2].scores > tried[np.argmax(values)])
    assert exact_match(decision.decide(valid), valid.right) == max(values)


def test_a_metric_that_is_better_where_it_is_lower_is_minimised(parts):
    record = decided("top_k", parts, "count_error")[1]
    errors = [np.abs(k - parts[1].right.sum(axis=1)).mean() for k in range(1, 9)]
    assert record["k"] == int(np.argmin(errors)) + 1


def test_scores_above_a_number_are_chosen_and_the_number_itself_is_not(parts):
    assert np.array_equal(decided("score_above", parts)[2], parts[2].scores > 0)
    at = float(parts[2].scores[0, 0])
    assert not decided("score_above", parts, threshold=at)[2][0, 0]


def test_calibration_is_the_logistic_regression_of_all_scores(parts):
    valid = parts[1]
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(valid.scores.reshape(-1, 1), valid.right.reshape(-1))
    _, record, chosen = decided("calibrated", parts)
    assert record["slope"] == pytest.approx(model.coef_.item(), rel=1e-3)
    assert record["offset"] == pytest.approx(model.intercept_.item(), rel=1e-3, abs=1e-3)
    expected = model.predict(parts[2].scores.reshape(-1, 1)).reshape(chosen.shape)
    assert np.mean(chosen != expected) < 1e-3


def test_constants_minimise_the_cross_entropy_of_each_label(parts):
    decision, record, _ = decided("class_constants", parts)
    valid = parts[1]
    for label in (0, 5):
        scores, right = valid.scores[:, label].astype(float), valid.right[:, label]
        sign = np.where(right, 1.0, -1.0)
        best = minimize_scalar(lambda t, f=scores, s=sign: np.logaddexp(0, -s * (f - t)).mean(), bounds=(-20, 20))
        assert decision.thresholds[label] == pytest.approx(best.x, abs=1e-3)
        assert expit(scores - decision.thresholds[label]).sum() == pytest.approx(right.sum(), rel=1e-6)
    assert record == {"never_predicted": 0}


def test_constants_for_f1_have_the_largest_f1_of_each_label_of_all_thresholds(parts):
    decision, record, _ = decided("class_constants", parts, goal="f1")
    valid = parts[1]
    predicted = decision.decide(valid)
    for label in range(8):
        scores, right = valid.scores[:, label], valid.right[:, label]
        precision, recall, _ = sklearn_metrics.precision_recall_curve(right, scores)
        values = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
        assert sklearn_metrics.f1_score(right, predicted[:, label]) == pytest.approx(values.max())
    assert record == {"never_predicted": 0}


def test_constants_for_f1_cannot_separate_equal_scores_and_lie_between_others():
    """The best set is {4, 3, 3}; the next score is 1."""
    scores = np.array([[3], [1], [4], [3], [0]], dtype=np.float32)
    right = np.array([[True], [False], [True], [False], [False]])
    valid = Labelled(scores, scores, right=right)
    decision, _, chosen = decided("class_constants", (valid, valid, valid), goal="f1")
    assert decision.thresholds.tolist() == [2.0]
    assert chosen[:, 0].tolist() == [True, False, True, True, False]


def test_constants_for_f1_have_a_higher_macro_f1_than_those_for_cross_entropy():
    """On rare labels that the scores hardly tell apart: cross-entropy predicts them for no image."""
    rare = [images_of(seed, n=2000, noise=3.0) for seed in (1, 2, 3)]
    parts = tuple(
        Labelled(one.scores - one.thresholds, one.vectors, right=one.right & (one.scores % 1 < 0.2)) for one in rare
    )
    values = {
        goal: LabelSets.of_masks(decided("class_constants", parts, goal=goal)[2], parts[2].right).value("macro_f1")
        for goal in ("f1", "cross_entropy")
    }
    assert values["f1"] > values["cross_entropy"] + 0.05


def test_a_head_that_reads_zeros_has_the_same_thresholds_for_all_images(parts):
    decision, *_ = decided("class_threshold", parts, inputs="zeros", learning_rate=0.01)
    thresholds = decision.thresholds(parts[2])
    assert (thresholds == thresholds[0]).all()
    assert len(np.unique(thresholds[0])) > 1


def test_a_label_without_a_validation_image_is_never_predicted_and_one_of_all_images_always(parts):
    first, valid, test = parts
    right = valid.right.copy()
    right[:, 2], right[:, 3] = False, True
    changed = Labelled(valid.scores, valid.vectors, right=right)
    _, record, chosen = decided("class_constants", (first, changed, test))
    assert record == {"never_predicted": 1}
    assert not chosen[:, 2].any()
    assert chosen[:, 3].all()


def test_the_count_is_learnt_where_the_vectors_tell_it(parts):
    decision, record, chosen = decided("label_count", parts, learning_rate=0.01)
    counts = parts[2].right.sum(axis=1)
    assert np.abs(decision.counts(parts[2]) - counts).mean() < 0.2
    assert np.array_equal(chosen.sum(axis=1), decision.counts(parts[2]))
    assert chosen[np.arange(len(chosen)), parts[2].scores.argmax(axis=1)][counts > 1].all()
    assert record["smallest"] == 0
    assert exact_match(chosen, parts[2].right) > exact_match(decided("top_k", parts, "exact_match")[2], parts[2].right)


def test_larger_counts_than_the_largest_are_taken_for_it(parts):
    _, record, chosen = decided("label_count", parts, smallest=1, largest=3)
    assert set(chosen.sum(axis=1).tolist()) <= {1, 2, 3}
    assert (record["smallest"], record["largest"]) == (1, 3)


def test_counts_begin_at_one_where_every_image_to_learn_from_has_a_label(parts):
    first, valid, test = parts
    right = first.right.copy()
    right[:, 0] = True
    _, record, _ = decided("label_count", (Labelled(first.scores, first.vectors, right=right), valid, test))
    assert record["smallest"] == 1
    assert record["largest"] == np.percentile(right.sum(axis=1), 99.5, method="higher")


def test_thresholds_are_learnt_where_the_vectors_tell_the_level_of_the_scores(parts):
    """No threshold for all images can: the levels of scores lie apart by several times their differences."""
    decision, _, chosen = decided("class_threshold", parts, learning_rate=0.01)
    zeros = decided("class_threshold", parts, learning_rate=0.01, inputs="zeros")[2]
    level = parts[2].thresholds[:, 0]
    assert np.corrcoef(decision.thresholds(parts[2])[:, 0], level)[0, 1] > 0.97
    bayes = LabelSets.of_masks(decided("own", parts)[2], parts[2].right).value("micro_f1")
    assert LabelSets.of_masks(chosen, parts[2].right).value("micro_f1") > bayes - 0.03
    assert LabelSets.of_masks(zeros, parts[2].right).value("micro_f1") < bayes - 0.1
    for other in ("threshold", "class_constants", "calibrated"):
        rival = LabelSets.of_masks(decided(other, parts)[2], parts[2].right).value("micro_f1")
        assert rival < bayes - 0.1, other


@pytest.mark.parametrize("name", ["label_count", "class_threshold"])
def test_a_training_that_its_limit_stops_is_recorded(parts, name):
    stopped, patient = (decided(name, parts, epochs=epochs, patience=8)[1] for epochs in (2, 240))
    assert (stopped["limit"], stopped["at_limit"]) == (2, True)
    assert not patient["at_limit"]
    assert patient["epoch"] <= patient["limit"] - 8


def test_layers_can_be_as_wide_as_the_number_of_labels_says(parts):
    decision, record, _ = decided("class_threshold", parts, hidden_per_label=[4, 2], epochs=2)
    assert record["hidden"] == [32, 16]
    assert [layer.shape[1] for layer in decision.head.layers] == [32, 16, 8]


@pytest.mark.parametrize("inputs", ["vectors", "scores", "both", "zeros"])
def test_a_head_reads_vectors_scores_both_or_zeros(parts, inputs):
    decision, *_ = decided("label_count", parts, inputs=inputs, epochs=1)
    assert len(decision.head.layers[0]) - 1 == {"vectors": 2, "scores": 8, "both": 10, "zeros": 2}[inputs]


def test_of_equal_scores_the_smaller_label_is_first():
    assert ranks_from_zero(np.array([[1, 3, 3, 0]], dtype=np.float32)).tolist() == [[2, 0, 1, 3]]


@pytest.mark.parametrize("name", NAMES)
def test_the_file_of_a_decision_names_what_there_is(name):
    config = read_config(DecisionConfig, CONFIG / f"{name}.yaml")
    make_decision(config.decision, Tuning(config.tuned_for, 1), config.settings, name)
    assert load_decision(config.decision).tunes == (config.tuned_for is not None)
    assert config.tuned_for is None or is_of_decision(config.tuned_for)


def test_a_wrong_decision_or_setting_is_refused_in_one_line():
    with pytest.raises(UserError, match="no decision 'nothing'; `vsebench list decisions` lists all"):
        load_decision("nothing")
    with pytest.raises(UserError, match="here: largest: Input should be greater than or equal to 1, not 0"):
        make_decision("top_k", Tuning("macro_f1", 1), {"largest": 0}, "here")
    with pytest.raises(UserError, match="here: smallest: must not be larger than `largest`"):
        make_decision("label_count", Tuning(None, 1), {"smallest": 5, "largest": 3}, "here")
    with pytest.raises(UserError, match=r"here: hidden_per_label\.0: Input should be greater than or equal to 1"):
        make_decision("class_threshold", Tuning("macro_f1", 1), {"hidden_per_label": [0]}, "here")
