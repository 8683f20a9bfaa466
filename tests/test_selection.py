"""The choice of settings: the grid, the steps beyond it, the best attempt, and the fitted model."""

import itertools
from dataclasses import replace

import pytest
from pydantic import Field

from tests.scripted import CASE, Lookup, Script, ScriptSettings, split_of_ten
from vsebench.config.method import Epochs
from vsebench.core.errors import UserError
from vsebench.core.workers import workers
from vsebench.methods.base import Progress, Settings
from vsebench.selection import Search, best_of, beyond, on_edges, select, settings_to_try
from vsebench.training import Attempt

SCRIPTED = {"right": [0.5]}


@pytest.fixture
def problem():
    """Return the split of ten images and its problem; the final fit learns no more labels."""
    with workers(1) as pool:
        split, problem = split_of_ten(pool)
        yield replace(split, final=split.first), problem


def selected(problem, grid, method=Script, more_labels=False, **values):
    """Select among the values of a grid; `more_labels`: the model to test is fitted to other labels."""
    split, problem = problem
    split = replace(split, final=replace(split.first)) if more_labels else split
    limits = Epochs(maximum=20, patience=3) if method is Script else None
    search = Search("recall@1", 100, limits, grid)
    return select(method, ScriptSettings(**(SCRIPTED | values)), problem, split, search, CASE)


def n_right(selection):
    return selection.model.table[:, 0].sum()


def test_the_best_epoch_of_the_best_settings_is_chosen(problem):
    grid = {"right": [[0.1, 0.5, 0.4], [0.2, 0.3, 0.7, 0.6], [0.7]]}
    selection = selected(problem, grid)
    assert selection.chosen is selection.tries[1]  # the first of equals
    assert [(tried.epochs, tried.value) for tried in selection.tries] == [(2, 0.5), (3, 0.7), (1, 0.7)]


class SeededScript(Script):
    """Seed 1 is right with larger numbers, and all other seeds with smaller ones."""

    def model(self):
        right = self.settings.right[0] if self.problem.seed == 1 else max(0, 1 - 2 * abs(self.settings.right[0] - 0.3))
        return Script(self.problem, self.settings.model_copy(update={"right": [right]})).model()


@pytest.mark.parametrize(("more_seeds", "best", "value"), [((), 0.9, 0.9), ((2, 3), 0.3, 2.3 / 3)])
def test_settings_are_chosen_by_the_mean_of_the_seeds(problem, more_seeds, best, value):
    split, first = problem
    grid = {"right": [[0.1], [0.3], [0.9]]}
    search = Search("recall@1", 100, Epochs(maximum=2, patience=1), grid, more_seeds=more_seeds)
    selection = select(SeededScript, ScriptSettings(right=[0.0]), first, split, search, CASE)
    assert selection.chosen.settings.right == [best]
    assert selection.chosen.value == pytest.approx(value)
    assert {len(tried.epochs_by_seed) for tried in selection.tries} == {3 if more_seeds else 0}
    assert n_right(selection) == 10 * best  # the model is that of the problem's seed


def test_a_method_without_epochs_has_none_for_any_seed(problem):
    split, first = problem
    search = Search("recall@1", 100, None, {"right": [[0.2], [0.5]]}, more_seeds=(2, 3))
    selection = select(Lookup, ScriptSettings(right=[0.0]), first, split, search, CASE)
    assert [tried.value for tried in selection.tries] == pytest.approx([0.2, 0.5])
    assert [tried.epochs_by_seed for tried in selection.tries] == [(), ()]


@pytest.mark.parametrize("with_spread", [False, True])
def test_the_spread_of_the_choice_is_measured_on_request(problem, with_spread):
    """The settings are right for 5, 6 or 0 of ten images, and only one half of the images can tell 5 from 6."""
    split, first = problem
    limits = Epochs(maximum=2, patience=1)
    search = Search("recall@1", 100, limits, {"right": [[0.5], [0.6], [0.0]]}, with_spread=with_spread)
    selection = select(Script, ScriptSettings(right=[0.0]), first, split, search, CASE)
    assert selection.spread.keys() >= ({"recall@1", "map"} if with_spread else set())
    if with_spread:
        assert selection.spread["recall@1"] == pytest.approx(0.1 / 2**0.5 / 0.6)
        by_image = selection.tries[1].by_image
        assert by_image.shape[:2] == (1, 10)
        assert by_image[0, :, 0].mean() == pytest.approx(0.6)
    else:
        assert selection.spread == {}


def test_a_spread_belongs_to_the_attempts_that_did_not_diverge(problem):
    split, first = problem
    grid = {"right": [[0.1, 0.2, 0.9], [0.5], [0.5]]}
    search = Search("recall@1", 100, Epochs(maximum=4, patience=4), grid, more_seeds=(2,), with_spread=True)
    selection = select(DivergingScript, ScriptSettings(right=[0.0]), first, split, search, CASE)
    assert [tried.value for tried in selection.tries] == [None, 0.5]
    assert selection.spread == {}  # a single configuration is left


def test_where_no_more_labels_are_learnt_the_model_of_the_best_epoch_is_kept(problem):
    selection = selected(problem, {"right": [[0.3, 0.2], [0.1, 0.5, 0.4, 0.3, 0.2], [0.1]]})
    assert n_right(selection) == 5
    assert selection.history["phase"].to_list() == ["selection"] * 5
    assert selection.history["validation"].to_list() == pytest.approx([0.1, 0.5, 0.4, 0.3, 0.2])


def test_where_more_labels_are_learnt_the_model_is_fitted_anew(problem):
    selection = selected(problem, {"right": [[0.3, 0.2], [0.1, 0.5, 0.4]]}, more_labels=True)
    assert n_right(selection) == 5
    history = selection.history.filter(phase="refit")
    assert history["epoch"].to_list() == [1, 2]
    assert history["validation"].null_count() == 2
    assert selection.history["phase"].to_list() == ["selection"] * 5 + ["refit"] * 2


@pytest.mark.parametrize(("beyond", "best"), [(0, (3, 0.3, True)), (1, (6, 0.6, True)), (2, (7, 0.7, False))])
def test_the_best_attempt_goes_on_beyond_its_limit_of_epochs(problem, beyond, best):
    """Its limit is doubled as often as attempts beyond the grid are left."""
    split, first = problem
    grid = {"right": [[0.2], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.7, 0.7]]}
    search = Search("recall@1", 100, Epochs(maximum=3, patience=2), grid, beyond)
    selection = select(Script, ScriptSettings(right=[0.0]), first, split, search, CASE)
    chosen = selection.chosen
    assert (chosen.epochs, chosen.value, chosen.at_limit) == best
    assert len(selection.tries) == 2


class DivergingScript(Script):
    """Training diverges after as many epochs as `right` has numbers, if it has three."""

    def epoch(self):
        progress = super().epoch()
        return Progress(float("nan")) if self.epochs > len(self.settings.right) == 3 else progress


def test_the_best_attempt_is_kept_if_it_diverges_beyond_its_limit_of_epochs(problem):
    split, first = problem
    search = Search("recall@1", 100, Epochs(maximum=3, patience=2), {"right": [[0.1, 0.2, 0.9], [0.5]]}, 2)
    selection = select(DivergingScript, ScriptSettings(right=[0.0]), first, split, search, CASE)
    assert (selection.chosen.value, selection.chosen.epochs, n_right(selection)) == (0.9, 3, 9)
    assert selection.history["validation"].to_list() == pytest.approx([0.1, 0.2, 0.9])
    assert len(selection.tries) == 2


def test_a_repeated_attempt_keeps_its_place_among_equals(problem):
    split, first = problem
    search = Search("recall@1", 100, Epochs(maximum=3, patience=2), {"right": [[0.1, 0.2, 0.7], [0.7]]}, 1)
    selection = select(Script, ScriptSettings(right=[0.0]), first, split, search, CASE)
    assert selection.chosen is selection.tries[0]
    assert selection.chosen.settings.right == [0.1, 0.2, 0.7]
    assert len(selection.history) == 5


def test_settings_of_a_closed_form_are_chosen_without_epochs(problem):
    for more in (False, True):
        selection = selected(problem, {"right": [[0.3], [0.6], [0.2]]}, method=Lookup, more_labels=more)
        assert n_right(selection) == 6
        assert selection.chosen.epochs is None
        assert selection.history.is_empty()


def test_without_validation_nothing_is_chosen(problem):
    split, first = problem
    selection = select(Lookup, ScriptSettings(right=[0.4]), first, split, None, CASE)
    assert n_right(selection) == 4
    assert selection.tries == []
    assert selection.chosen == Attempt(ScriptSettings(right=[0.4]), None, None)


def test_a_value_that_does_not_fit_names_file_and_key(problem):
    with pytest.raises(UserError, match=r"config/methods/my_row\.yaml: settings: typo: unknown key"):
        selected(problem, {"typo": [1]})


def test_the_best_of_all_tries_is_the_first_of_equals():
    tries = [Attempt(Settings(), 1, value) for value in [0.2, None, 0.5, 0.5]]
    assert best_of(tries) is tries[2]
    tries = [Attempt(Settings(), 1, None), Attempt(Settings(), 1, 0.0)]
    assert best_of(tries) is tries[1]
    assert best_of(tries[:1]) is None


class StepsSettings(Settings):
    """Settings of a grid."""

    learning_rate: float = 0.1
    trials: int = 1
    share: float = Field(default=0.5, ge=0, le=1)


GRID = {"learning_rate": [0.01, 0.02, 0.04], "trials": [5, 10]}


def settings_of(*pairs):
    return [StepsSettings(learning_rate=rate, trials=trials) for rate, trials in pairs]


def shares(*values):
    return [StepsSettings(share=value) for value in values]


def of_grid(grid, beyond=0):
    return Search("mrr", 100, None, grid, beyond)


def test_the_grid_is_every_combination():
    found = list(settings_to_try(StepsSettings(share=0.1), of_grid(GRID), [], CASE))
    assert [(settings.learning_rate, settings.trials) for settings in found] == list(itertools.product(*GRID.values()))
    assert {settings.share for settings in found} == {0.1}
    assert list(settings_to_try(StepsSettings(share=0.1), of_grid({}), [], CASE)) == shares(0.1)


def test_the_search_goes_on_beyond_the_best_for_as_many_steps():
    tries = []
    for settings in settings_to_try(StepsSettings(), of_grid({"trials": [2, 4]}, 3), tries, CASE):
        tries.append(Attempt(settings, 1, min(settings.trials, 8) / 10))
    assert [tried.settings.trials for tried in tries] == [2, 4, 8, 16]  # the best is no longer at an edge


def test_a_search_of_which_everything_diverged_ends_with_the_grid():
    tries = []
    for settings in settings_to_try(StepsSettings(), of_grid({"trials": [2, 4]}, 3), tries, CASE):
        tries.append(Attempt(settings, None, None))
    assert len(tries) == 2


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
    assert beyond(GRID, chosen, done) == settings_of(further)[0]


def test_the_search_ends_inside_of_the_grid_and_at_what_a_method_does_not_allow():
    done = settings_of((0.01, 4), (0.02, 5), (0.04, 6))
    assert beyond(GRID, done[1], done) is None
    share = shares(0.5, 0.8)
    assert on_edges({"share": []}, share[1], share) == ["share"]
    # 1.28 and 1.04 are no shares, so a quarter of the step is taken
    assert beyond({"share": []}, share[1], share) == shares(0.92)[0]
    share = shares(0.5, 0.99)
    assert beyond({"share": []}, share[1], share) is None  # nor is an eighth of this step
    zero = shares(0.0, 0.5)
    assert beyond({"share": []}, zero[0], zero) is None  # no ratio leads beyond 0
    assert beyond({"share": []}, zero[1], zero) == shares(1.0)[0]  # twice the value next to 0
    assert on_edges({"share": []}, share[0], share[:1]) == []


def test_a_value_beyond_which_a_method_allows_none_is_not_at_an_edge():
    for values in ((0.0, 0.5), (1.0, 0.5)):
        best, other = shares(*values)
        assert on_edges({"share": []}, best, [best, other]) == []
        assert on_edges({"share": []}, other, [best, other]) == ["share"]
