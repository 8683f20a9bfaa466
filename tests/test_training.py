"""An attempt with its epochs, and the fit on training and validation labels together."""

from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from tests.builders import Given, held_out_of, matrix_of
from tests.scripted import CASE, Lookup, Script, ScriptSettings, split_of_ten
from vsebench.config.method import Epochs
from vsebench.core.schemas import HISTORY, SIBLINGS
from vsebench.core.workers import workers
from vsebench.data.problem import Dataset, Problem, Training
from vsebench.methods.base import Method
from vsebench.protocols.base import split_dataset
from vsebench.training import Attempt, DivergenceError, Validation, attempt, open_validation, refit, warm_up


@pytest.fixture
def validation():
    with workers(1) as pool:
        split, problem = split_of_ten(pool)
        yield open_validation(problem, split.valid, "recall@1", 100)


def tried(validation, method=Script, maximum=20, patience=3, **values):
    limits = Epochs(maximum=maximum, patience=patience) if issubclass(method, Method) else None
    return attempt(method, ScriptSettings(**values), validation, limits, CASE)


def test_training_stops_once_patience_is_used_up(validation):
    found, history, _ = tried(validation, right=[0.1, 0.5, 0.4, 0.5, 0.3, 0.9])
    assert found == Attempt(
        ScriptSettings(right=[0.1, 0.5, 0.4, 0.5, 0.3, 0.9]), epochs=2, value=0.5, limit=20
    )  # first of equals
    assert history["epoch"].to_list() == [1, 2, 3, 4, 5]
    assert history["validation"].to_list() == pytest.approx([0.1, 0.5, 0.4, 0.5, 0.3])


def test_without_patience_training_goes_on_to_the_last_epoch(validation):
    found, history, model = tried(validation, right=[0.5, 0.1, 0.3], patience=None, maximum=3)
    assert (found.epochs, found.value, found.at_limit) == (3, pytest.approx(0.3), False)
    assert len(history) == 3
    assert model.table[:, 0].sum() == 3


def test_training_that_the_limit_ends_before_patience_says_so(validation):
    rising = {"right": [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5, 0.5]}
    assert tried(validation, **rising, patience=3, maximum=7)[0].at_limit
    assert not tried(validation, **rising, patience=3, maximum=8)[0].at_limit
    assert not tried(validation, **rising, patience=3, maximum=20)[0].at_limit


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
    """The search must go on with other settings."""
    assert tried(validation, right=[0.5], size=1e19)[0].value is None
    assert tried(validation, method=Lookup, right=[0.5], size=1e19)[0].value is None


def test_a_closed_form_is_judged_without_epochs(validation):
    found, history, _ = tried(validation, method=Lookup, right=[0.7])
    assert found == Attempt(ScriptSettings(right=[0.7]), epochs=None, value=pytest.approx(0.7))
    assert history.equals(pl.DataFrame(schema=HISTORY))


def test_the_last_fit_has_the_chosen_settings_and_epochs_and_does_not_validate(validation):
    _, history, model = refit(Script, Attempt(ScriptSettings(right=[0.1, 0.2, 0.3]), 3, 0.3), validation.problem, CASE)
    assert model.table[:, 0].sum() == 3
    assert history["epoch"].to_list() == [1, 2, 3]
    assert set(history["phase"]) == {"refit"}
    assert history["validation"].null_count() == 3
    _, history, model = refit(Lookup, Attempt(ScriptSettings(right=[0.4]), None, 0.4), validation.problem, CASE)
    assert model.table[:, 0].sum() == 4
    assert history.is_empty()


def test_divergence_of_the_last_fit_is_raised(validation):
    settings = ScriptSettings(right=[0.1], loss=[1.0, np.nan])
    with pytest.raises(DivergenceError, match="training diverged in the final fit with"):
        refit(Script, Attempt(settings, 2, 0.3), validation.problem, CASE)


class Singular(Lookup):
    def model(self):
        raise np.linalg.LinAlgError("Singular matrix")


def test_a_singular_system_counts_as_divergence(validation):
    assert tried(validation, method=Singular, right=[0.5])[0].value is None
    with pytest.raises(DivergenceError, match=r"a system of equations is singular .* increase regularisation"):
        refit(Singular, Attempt(ScriptSettings(right=[0.1]), None, 0.1), validation.problem, CASE)


class SingularEpoch(Script):
    def epoch(self):
        raise np.linalg.LinAlgError("Singular matrix")


def test_a_singular_system_in_an_epoch_counts_as_divergence(validation):
    """The kernels are compiled on a tiny problem, in which the system is singular, too."""
    assert tried(validation, method=SingularEpoch, right=[0.5])[0].value is None
    with pytest.raises(DivergenceError, match=r"a system of equations is singular .* increase regularisation"):
        refit(SingularEpoch, Attempt(ScriptSettings(right=[0.1]), 1, 0.1), validation.problem, CASE)


def test_settings_are_chosen_without_images_that_have_no_training_label():
    matrix = matrix_of([[0], [0, 1], [1, 2], [0, 2], [0, 1, 2]] * 4, 3)
    split = split_dataset("regions", Dataset(matrix), 1)
    with workers(1) as pool:
        held_out = open_validation(Problem(split.first, 1, pool), split.valid, "mrr", 100).held_out
    cold = split.valid.images[split.valid.known.n_labels_of_row == 0]
    assert len(cold) == 12  # those of two labels, of which one is tested on
    assert held_out.images.tolist() == sorted(set(split.valid.images.tolist()) - set(cold.tolist()))


def test_at_most_so_many_images_are_validated_on_and_the_same_for_every_setting():
    matrix = matrix_of([[0, 1, 2]] * 50, 3)
    split = split_dataset("distinct", Dataset(matrix), 1)
    with workers(1) as pool:
        first = Problem(split.first, 1, pool)
        one, other, every = (open_validation(first, split.valid, "mrr", size) for size in (20, 20, 100))
    assert len(one.held_out.images) == 20
    assert one.held_out.images.tolist() == other.held_out.images.tolist()
    assert len(every.held_out.images) == 50


@pytest.mark.parametrize("need", ["truth", "given_labels", "test_labels", "features"])
def test_a_method_with_epochs_can_have_any_need(need):
    """Kernels are compiled on a small example, where the need has one."""

    class Reader(Script):
        needs = frozenset({need})
        built: ClassVar[list[Problem]] = []

        def __init__(self, problem, settings):
            super().__init__(problem, settings)
            self.built.append(problem)

    warm_up(Reader, ScriptSettings(right=[0.5]))
    assert [problem.features is not None for problem in Reader.built] == ([True] if need == "features" else [])


def test_sibling_precisions_are_measured_for_each_validation_image():
    """Against sorted lists; some images of the data set are no validation images, and one has no held-out label."""
    rng = np.random.default_rng(5)
    n_labels, images = 14, [2, 3, 5, 8, 9]
    right, known = [[0, 3], [7], [], [2, 5, 13], [1]], [[1], [], [4], [0, 3], []]
    scores = rng.permuted(np.arange(10 * n_labels)).reshape(10, n_labels)
    groups = [{0, 1, 2}, {2, 3}, {5, 6, 7, 8}]  # label 2 has two parents
    related = [{other for group in groups if label in group for other in group} | {label} for label in range(n_labels)]
    pairs = [(label, other) for label in range(n_labels) for other in sorted(related[label] - {label})]
    siblings = pl.DataFrame(pairs, schema=SIBLINGS, orient="row")
    held_out = held_out_of(right, n_labels, known=known, images=images)
    with workers(1) as pool:
        problem = Problem(Training.all_of(matrix_of([[0]] * 10, n_labels)), 1, pool)
        measured = Validation(problem, held_out, "recall@1", ("map",), siblings)
        found = measured.by_image(Given(scores))
        without = Validation(problem, held_out, "recall@1", ("map",)).by_image(Given(scores))
    wanted = []
    for image, own, seen in zip(images, right, known, strict=True):
        listed = [label for label in np.argsort(-scores[image]) if label not in seen]
        close = set().union(*(related[label] for label in own))
        if own:
            wanted.append([sum(label in close for label in listed[:k]) / k for k in (1, 5, 10)])
    assert measured.metrics_by_image[2:] == [f"sibling_precision@{k}" for k in (1, 5, 10)]
    np.testing.assert_array_equal(found[:, :2], without)
    np.testing.assert_allclose(found[:, 2:], wanted)
