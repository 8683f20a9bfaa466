"""The oracles of simulated images with known label distributions: their models, and the ranking that they reach."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import logit
from sklearn.metrics import label_ranking_average_precision_score

from tests import data_sets
from tests.builders import matrix_of
from vsebench import models
from vsebench.core.errors import UserError
from vsebench.core.storage import read_arrays, write_arrays
from vsebench.core.workers import workers
from vsebench.data.problem import Dataset, LabelMatrix, Problem, Queries
from vsebench.evaluation.measuring import Ranked, measure
from vsebench.evaluation.ranking import list_tops, rank
from vsebench.formats.adapters import load_adapter
from vsebench.methods.base import load_method, read_settings
from vsebench.methods.controls.label_probabilities import IndependentLabels, LabelCatalogue
from vsebench.protocols.images import Official

KINDS = {"independent": IndependentLabels, "catalogue": LabelCatalogue}
both = pytest.mark.parametrize("label_distribution", KINDS)


def draw(label_distribution, **changes):
    config = data_sets.described(f"sim-{label_distribution}")
    adapter = load_adapter(config.adapter, label_distribution)
    return adapter.read(Path(), adapter.Options(**config.options | changes))


def split_of(drawn):
    labels = LabelMatrix.from_pairs(drawn.pairs, len(drawn.images), 20)
    dataset = Dataset(labels, drawn.parts.to_numpy().astype(np.str_), drawn.features.known)
    return Official().split(dataset, np.random.default_rng(0))


def oracle(drawn, split, pool):
    method = load_method("oracle")
    problem = Problem(split.final, 1, pool, drawn.features, extras={"truth": drawn.truth})
    return method(problem, read_settings(method, {}, "oracle")).model()


def queries_of(features):
    none = matrix_of([[]] * len(features), 20)
    return Queries(np.arange(len(features), dtype=np.int32), none, features)


@pytest.mark.parametrize(("label_distribution", "printed"), [("independent", 0.842), ("catalogue", 0.812)])
def test_the_oracle_reaches_the_lrap_that_was_measured_before(label_distribution, printed):
    """The measured one is a mean of three seeds' 4,000 images, this one of 4,000."""
    drawn = draw(label_distribution)
    with workers(1) as pool:
        split = split_of(drawn)
        model = oracle(drawn, split, pool)
        ranked = Ranked(
            rank(model, split.test, drawn.features, pool, "oracle"), list_tops(model, split.test, drawn.features, pool)
        )
    (actual,) = measure([ranked], ["map"], 20, 100)[0].values
    assert isinstance(model, KINDS[label_distribution])
    rows, given = model.scores(queries_of(drawn.features.rows(split.test.images))), np.zeros((4000, 20), dtype=bool)
    given[split.test.right.image_of_pair, split.test.right.label_of_pair] = True
    labelled = given.any(axis=1)  # scikit-learn gives the others 1
    expected = label_ranking_average_precision_score(given[labelled], rows[labelled])
    assert actual == pytest.approx(expected, abs=1e-5)  # rounding can swap two labels with nearly equal scores
    single = [label_ranking_average_precision_score(given[[i]], rows[[i]]) for i in np.flatnonzero(labelled)[:500]]
    assert abs(actual - printed) < 3 * np.std(single) * np.sqrt(1 / 4000 + 1 / 12000) + 0.0005


@both
def test_scores_are_the_log_odds_of_the_labels(label_distribution):
    drawn = draw(label_distribution, images=200)
    truth, features = drawn.truth, drawn.features.values
    logits = features.astype(np.float64) @ truth["weight"] + truth["bias"]
    if label_distribution == "independent":
        expected = logits
    else:
        weights = np.exp(logits)
        expected = logit(weights @ truth["members"] / weights.sum(axis=1, keepdims=True))
    scores = KINDS[label_distribution].from_arrays(truth).scores(queries_of(features))
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-5)


@both
def test_labels_that_a_filter_keeps_are_scored_as_before(label_distribution):
    drawn = draw(label_distribution, images=50)
    kept = {**drawn.truth, "label": drawn.truth["label"][[3, 7, 19]]}
    queries = queries_of(drawn.features.values)
    few, all_labels = (KINDS[label_distribution].from_arrays(truth).scores(queries) for truth in (kept, drawn.truth))
    assert few.flags.c_contiguous
    assert np.array_equal(few, all_labels[:, [3, 7, 19]])


def test_a_label_of_every_set_ranks_first_and_one_of_none_last_with_finite_scores():
    truth = draw("catalogue", images=13).truth
    members = truth["members"].copy()
    members[:, 4], members[:, 9] = True, False
    model = LabelCatalogue.from_arrays({**truth, "members": members})
    scores = model.scores(queries_of(10 * draw("catalogue", images=300).features.values))
    assert (scores.argmax(axis=1) == 4).all()
    assert (scores.argmin(axis=1) == 9).all()
    assert np.abs(scores).max() <= np.float32(model.largest_score())
    assert model.has_finite_scores()


@both
def test_a_model_survives_its_file(label_distribution, tmp_path):
    drawn = draw(label_distribution, images=40)
    model = KINDS[label_distribution].from_arrays(drawn.truth)
    models.save(model, tmp_path / "model.npz")
    again = models.load(tmp_path / "model.npz")
    assert type(again) is KINDS[label_distribution]
    queries = queries_of(drawn.features.values)
    assert np.array_equal(again.scores(queries), model.scores(queries))


SPOILT = [  # the name of an array, a function that spoils it, and the error message
    ("label", lambda array: array.astype(np.int64), "label is int64"),
    ("label", lambda array: array + np.int32(1), "label: the labels' numbers must be from 0 to 19"),
    ("weight", lambda array: array.astype(np.float32), "weight is float32"),
    ("weight", lambda array: array[0], "weight is float64 of shape"),
    ("bias", lambda array: array[:-1], "bias is float64 of shape"),
    ("bias", lambda array: array.astype(np.float32), "bias is float32"),
]
SPOILT_SETS = [
    ("members", lambda array: array.astype(np.int8), "members is int8"),
    ("members", lambda array: array[1:], "members is bool of shape (39, 20), not bool with 40 rows"),
]


@pytest.mark.parametrize(
    ("label_distribution", "name", "spoil", "message"),
    [(name, *case) for name in KINDS for case in (SPOILT + SPOILT_SETS if name == "catalogue" else SPOILT)],
)
def test_an_array_that_does_not_fit_is_named(label_distribution, name, spoil, message, tmp_path):
    truth = draw(label_distribution, images=13).truth
    models.save(KINDS[label_distribution].from_arrays(truth), tmp_path / "model.npz")
    arrays = read_arrays(tmp_path / "model.npz")
    write_arrays(tmp_path / "model.npz", **arrays | {name: spoil(arrays[name])})
    with pytest.raises(UserError) as error:
        models.load(tmp_path / "model.npz")
    assert message in str(error.value)


@both
@pytest.mark.parametrize("name", ["weight", "bias"])
def test_a_parameter_that_is_not_a_number_is_noticed(label_distribution, name):
    truth = draw(label_distribution, images=13).truth
    model = KINDS[label_distribution].from_arrays(truth)
    assert model.has_finite_scores()
    spoilt = truth[name].copy()
    spoilt[0] = np.nan
    assert not KINDS[label_distribution].from_arrays({**truth, name: spoilt}).has_finite_scores()
