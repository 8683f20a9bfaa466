"""Choosing settings and epochs, and the fit on training and validation labels together."""

import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from pydantic import Field

from tests.builders import Given, dense, held_out_of, matrix_of
from vsebench.config.method import Epochs
from vsebench.core.errors import UserError
from vsebench.core.places import Case, Place
from vsebench.core.schemas import HISTORY
from vsebench.core.workers import workers
from vsebench.data.problem import Dataset
from vsebench.methods.base import Control, Method, Progress, Settings
from vsebench.protocols.base import load_protocol, split_generator
from vsebench.training import (
    Attempt,
    DivergenceError,
    attempt,
    best_attempt,
    beyond,
    configurations,
    finish,
    on_edges,
    open_validation,
    problems,
    refit,
)

CASE = Case(Place("sim-tiny", "distinct"), "my_row", 1)


class ScriptSettings(Settings):
    """The share of validation images that are right after each epoch, and the loss of each."""

    right: list[float]
    loss: tuple[float | None, ...] = Field(default=(1.0,), strict=False)
    size: float = 1.0


class Script(Method):
    """After epoch n the first `right[n - 1]` of ten images have their label in front."""

    settings_type = ScriptSettings

    def __init__(self, problem, settings):
        self.problem, self.settings, self.epochs = problem, settings, 0

    def epoch(self):
        self.epochs += 1
        return Progress(self.settings.loss[min(self.epochs, len(self.settings.loss)) - 1], 2.0)

    def model(self):
        scores = np.zeros((self.problem.training.labels.n_rows, self.problem.training.labels.n_labels))
        last = min(self.epochs, len(self.settings.right)) - 1
        scores[: round(10 * self.settings.right[last]), 0] = self.settings.size
        return Given(scores)


class Lookup(Control):
    """A closed form with settings to choose."""

    settings_type = ScriptSettings

    def __init__(self, problem, settings):
        self.script = Script(problem, settings)
        self.script.epochs = 1

    def model(self):
        return self.script.model()


@pytest.fixture
def validation():
    """Ten images whose label 0 is held out; label 1 is known."""
    matrix = matrix_of([[0, 1]] * 10, 30)
    split = load_protocol("distinct").split(Dataset(matrix), split_generator("distinct", 1))
    split = replace(split, valid=held_out_of([[0]] * 10, 30, known=[[1]] * 10))
    with workers(1) as pool:
        yield open_validation(problems(split, 1, pool)[0], split, "recall@1", 100)


def tried(validation, method=Script, maximum=20, patience=3, **values):
    return attempt(method, values, validation, Epochs(maximum=maximum, patience=patience), CASE)


def test_training_stops_once_patience_is_used_up(validation):
    found, history, _ = tried(validation, right=[0.1, 0.5, 0.4, 0.5, 0.3, 0.9])
    assert found == Attempt({"right": [0.1, 0.5, 0.4, 0.5, 0.3, 0.9]}, epochs=2, value=0.5)  # the first of equals
    assert history["epoch"].to_list() == [1, 2, 3, 4, 5]
    assert history["validation"].to_list() == pytest.approx([0.1, 0.5, 0.4, 0.5, 0.3])


def test_training_goes_on_as_long_as_the_metric_rises(validation):
    found, history, _ = tried(validation, right=[0.1, 0.0, 0.0, 0.2, 0.0, 0.0, 0.3], patience=3, maximum=7)
    assert (found.epochs, found.value) == (7, 0.3)
    assert history.height == 7


def test_the_history_says_what_each_epoch_took_and_lost(validation):
    _, history, _ = tried(validation, right=[0.5], loss=[3.0, None, 1.0], maximum=3)
    assert history.schema == pl.Schema(HISTORY)
    assert history["loss"].to_list() == [3.0, None, 1.0]
    assert history["trials_per_step"].to_list() == [2.0] * 3
    assert (history["seconds"] >= 0).all()
    assert set(history["phase"]) == {"selection"}
    assert history.select("dataset", "protocol", "method", "seed").unique().rows() == [
        ("sim-tiny", "distinct", "my_row", 1)
    ]


@pytest.mark.parametrize("loss", [[1.0, np.nan], [1.0, np.inf]])
def test_a_loss_that_is_no_finite_number_is_divergence(validation, loss):
    found, history, _ = tried(validation, right=[0.5, 0.6], loss=loss)
    assert found.value is None
    assert found.epochs is None
    assert history["epoch"].to_list() == [1]


def test_a_model_whose_scores_overflow_has_diverged(validation):
    """It must not end the search for the other settings."""
    assert tried(validation, right=[0.5], size=1e38)[0].value is None
    assert tried(validation, method=Lookup, right=[0.5], size=1e38)[0].value is None


def test_a_closed_form_is_judged_without_epochs(validation):
    found, history, _ = attempt(Lookup, {"right": [0.7]}, validation, None, CASE)
    assert found == Attempt({"right": [0.7]}, epochs=None, value=pytest.approx(0.7))
    assert history.equals(pl.DataFrame(schema=HISTORY))


def test_settings_that_do_not_fit_name_file_and_key(validation):
    with pytest.raises(UserError, match=r"config/methods/my_row\.yaml: settings: typo: unknown key"):
        tried(validation, right=[0.1], typo=1)


def test_the_best_of_all_tries_is_the_first_of_equals():
    tries = [Attempt({"a": n}, 1, value) for n, value in enumerate([0.2, None, 0.5, 0.5])]
    assert best_attempt(tries, CASE) == 2
    assert best_attempt([Attempt({}, 1, None), Attempt({}, 1, 0.0)], CASE) == 1


def test_divergence_with_every_setting_names_row_and_settings():
    with pytest.raises(UserError) as error:
        best_attempt([Attempt({"learning_rate": 1e12}, None, None)], CASE)
    message = str(error.value)
    assert "my_row on sim-tiny (distinct, seed 1): training diverged with every setting tried" in message
    assert "1000000000000.0" in message
    assert "config/methods/my_row.yaml" in message


def test_the_grid_is_every_combination():
    assert configurations({"a": 0, "b": 0, "c": 9}, {"a": [1, 2], "b": [3, 4]}) == [
        {"a": 1, "b": 3, "c": 9}, {"a": 1, "b": 4, "c": 9}, {"a": 2, "b": 3, "c": 9}, {"a": 2, "b": 4, "c": 9},
    ]  # fmt: skip
    assert configurations({"a": 0}, {}) == [{"a": 0}]


def test_the_last_fit_has_the_chosen_settings_and_epochs_and_does_not_validate(validation):
    model, history = refit(Script, Attempt({"right": [0.1, 0.2, 0.3]}, 3, 0.3), validation.problem, CASE)
    assert model.table[:, 0].sum() == 3
    assert history["epoch"].to_list() == [1, 2, 3]
    assert set(history["phase"]) == {"refit"}
    assert history["validation"].null_count() == 3
    model, history = refit(Lookup, Attempt({"right": [0.4]}, None, 0.4), validation.problem, CASE)
    assert model.table[:, 0].sum() == 4
    assert history.is_empty()


def test_divergence_of_the_last_fit_is_raised(validation):
    with pytest.raises(DivergenceError):
        refit(Script, Attempt({"right": [0.1], "loss": [1.0, np.nan]}, 2, 0.3), validation.problem, CASE)


def test_where_no_more_labels_are_learnt_the_model_of_the_best_epoch_is_kept(validation):
    found, _, kept = tried(validation, right=[0.1, 0.5, 0.4, 0.3, 0.2])
    model, history = finish(Script, found, kept, validation.problem, validation.problem, CASE)
    assert model is kept
    assert model.table[:, 0].sum() == 5
    assert history.is_empty()


@pytest.mark.parametrize("kept", [False, True])
def test_where_more_labels_are_learnt_the_model_is_fitted_anew(validation, kept):
    found, _, model = tried(validation, right=[0.1, 0.5, 0.4])
    other = replace(validation.problem, training=replace(validation.problem.training))
    again, history = finish(Script, found, model if kept else None, validation.problem, other, CASE)
    assert again is not model
    assert again.table[:, 0].sum() == 5
    assert history["epoch"].to_list() == [1, 2]


def test_the_tested_model_learns_from_training_and_validation_labels():
    rng = np.random.default_rng(0)
    matrix = matrix_of([np.flatnonzero(row).tolist() for row in rng.random((40, 9)) < 0.5], 9)
    split = load_protocol("distinct").split(Dataset(matrix), split_generator("distinct", 1))
    with workers(1) as pool:
        first, final = problems(split, 5, pool)
    assert np.array_equal(dense(first.training.labels), dense(split.first.labels))
    right = np.zeros((40, 9), dtype=bool)
    right[split.valid.images] = dense(split.valid.right)
    assert np.array_equal(dense(final.training.labels), dense(split.first.labels) | right)
    assert first.seed == final.seed == 5


def test_settings_are_chosen_without_images_that_have_no_training_label():
    matrix = matrix_of([[0], [0, 1], [1, 2], [0, 2], [0, 1, 2]] * 4, 3)
    split = load_protocol("regions").split(Dataset(matrix), split_generator("regions", 1))
    with workers(1) as pool:
        first, _ = problems(split, 1, pool)
        held_out = open_validation(first, split, "mrr", 100).held_out
    cold = split.valid.images[split.valid.known.n_labels_of_row == 0]
    assert len(cold) == 12  # those of two labels, of which one is tested on
    assert held_out.images.tolist() == sorted(set(split.valid.images.tolist()) - set(cold.tolist()))


def test_at_most_so_many_images_are_validated_on_and_the_same_for_every_setting():
    matrix = matrix_of([[0, 1, 2]] * 50, 3)
    split = load_protocol("distinct").split(Dataset(matrix), split_generator("distinct", 1))
    with workers(1) as pool:
        first, _ = problems(split, 1, pool)
        one, other, every = (open_validation(first, split, "mrr", size) for size in (20, 20, 100))
    assert len(one.held_out.images) == 20
    assert one.held_out.images.tolist() == other.held_out.images.tolist()
    assert len(every.held_out.images) == 50


class StepsSettings(Settings):
    """Settings of a grid."""

    learning_rate: float = 0.1
    trials: int = 1
    share: float = Field(default=0.5, ge=0, le=1)


class Steps(Script):
    """A method with these settings, which is not trained."""

    settings_type = StepsSettings


GRID = {"learning_rate": [0.01, 0.02, 0.04], "trials": [5, 10]}


def settings_of(*pairs):
    return [{"learning_rate": rate, "trials": trials} for rate, trials in pairs]


@pytest.mark.parametrize(
    ("best", "edges", "further"),
    [
        ((0.02, 5), ["trials"], (0.02, 2)),
        ((0.04, 5), ["learning_rate", "trials"], (0.08, 5)),
        ((0.01, 10), ["learning_rate", "trials"], (0.005, 10)),
    ],
)
def test_the_search_goes_on_beyond_an_edge_by_the_ratio_of_the_last_two(best, edges, further):
    done = settings_of(*itertools.product(*GRID.values()))
    chosen = settings_of(best)[0]
    assert on_edges(GRID, chosen, done) == edges
    assert beyond(Steps, GRID, chosen, done) == settings_of(further)[0]


def test_the_search_ends_inside_of_the_grid_and_at_what_a_method_does_not_allow():
    done = settings_of((0.01, 4), (0.02, 5), (0.04, 6))
    assert beyond(Steps, GRID, done[1], done) is None
    share = [{"share": value} for value in (0.5, 0.8)]
    assert on_edges({"share": []}, share[1], share) == ["share"]
    assert beyond(Steps, {"share": []}, share[1], share) is None  # 1.28 is no share
    zero = [{"share": value} for value in (0.0, 0.5)]
    assert beyond(Steps, {"share": []}, zero[0], zero) is None  # no ratio leads beyond 0
    assert beyond(Steps, {"share": []}, zero[1], zero) == {"share": 1.0}  # twice the value beside 0
    assert on_edges({"share": []}, share[0], share[:1]) == []
