"""Networks: gradients through hidden layers by differences, dropout, and initial weights and batches."""

import numpy as np
import pytest

from tests.builders import dense
from tests.methods.problems import (
    PACKAGES,
    check_gradients,
    check_slopes,
    fitted,
    group_of,
    methods_in,
    names_of_methods,
    network,
)
from vsebench import models
from vsebench.data.problem import Queries
from vsebench.methods.base import Method, Settings, load_method
from vsebench.methods.networks.training import LabelTable, Loss, NetworkMethod
from vsebench.training import DivergenceError, timed_epoch


@pytest.mark.parametrize("where", ["dense features", "sparse features"])
@pytest.mark.parametrize("hidden", [[], [5], [6, 5]])
@pytest.mark.parametrize("name", ["bce", "asymmetric", "two_way", "lsep_joint"])
def test_gradients_are_those_of_the_mean_loss(monkeypatch, name, where, hidden):
    fitter = network(name, where=where, hidden=hidden, dropout=0.0)
    check_gradients(monkeypatch, fitter, [*fitter.layers.weights, *fitter.layers.intercepts], 0.01, abs=2e-3)


def depth(kind, root):
    """Return the length of the longest chain of classes from `root` to `kind`."""
    return 1 + max((depth(base, root) for base in kind.__bases__ if issubclass(base, root)), default=0)


METHODS = [name for name in names_of_methods() if name not in PACKAGES]


@pytest.mark.parametrize("name", [name for name in METHODS if issubclass(load_method(name), NetworkMethod)])
def test_no_class_of_a_network_is_more_than_three_deep(name):
    method = load_method(name)
    assert depth(method, Method) <= 3
    assert depth(method.settings_type, Settings) <= 3
    assert depth(method.loss_type, Loss) <= 3
    assert depth(method.loss_type.table_type, LabelTable) <= 3


def test_the_focal_loss_recovers_planted_groups():
    """The method `asymmetric` with the settings of config/methods/focal.yaml; its own defaults are those of ASL."""
    focal = {"focus_positives": 2.0, "focus_negatives": 2.0, "margin": 0.0}
    model, queries = fitted("asymmetric", "new images", epochs=40, **focal)
    top = np.argsort(-model.scores(queries), axis=1)[:, :8]
    assert (top // 8 == group_of(queries.images)[:, np.newaxis]).mean() > 0.97


def test_dropout_keeps_the_sum_of_units_on_average():
    fitter = network("bce", dropout=0.25)
    units = fitter.layers.drop(np.ones((400, 100), dtype=np.float32))
    assert set(np.unique(units)) == {0, np.float32(1 / 0.75)}
    assert units.mean() == pytest.approx(1, abs=0.02)


def test_all_losses_start_from_the_same_weights_and_take_the_same_batches():
    fitters = [network(name) for name in methods_in("networks") if name != "lsep_joint"]  # which has two outputs
    order = fitters[0].order.permutation(50)
    for fitter in fitters[1:]:
        for own, first in zip(fitter.layers.weights, fitters[0].layers.weights, strict=True):
            assert np.array_equal(own.value, first.value)
        assert np.array_equal(fitter.order.permutation(50), order)
    assert np.std(fitters[0].layers.weights[0].value) == pytest.approx(np.sqrt(2 / 12), rel=0.15)


@pytest.mark.parametrize("name", ["bce", "asymmetric"])
def test_losses_of_single_labels_start_at_the_log_odds_of_the_labels(name):
    fitter = network(name)
    carried = dense(fitter.seen.labels)
    odds = (carried.sum(axis=0) + 0.5) / (len(carried) - carried.sum(axis=0) + 0.5)
    np.testing.assert_allclose(fitter.layers.intercepts[-1].value, np.log(odds), rtol=1e-5)


def test_a_saved_network_has_its_layers_in_order(tmp_path):
    fitter = network("bce", hidden=[9, 8, 7, 6, 5, 9, 8, 7, 6, 5, 4, 3], dropout=0.0)
    fitter.epoch()
    model, queries = fitter.model(), Queries.of_new_images(fitter.seen.rows[:5], fitter.seen.labels.n_labels)
    models.save(model, tmp_path / "model.npz")
    again = models.load(tmp_path / "model.npz")
    assert [layer.shape[1] for layer in again.hidden] == [9, 8, 7, 6, 5, 9, 8, 7, 6, 5, 4, 3]
    assert np.array_equal(again.scores(queries), model.scores(queries))


def test_bounded_scores_of_bp_mll_have_the_derivatives_of_their_bound():
    fitter = network("bp_mll", bounded=True)
    scores = np.random.default_rng(2).normal(0, 1, (6, fitter.seen.labels.n_labels)).astype(np.float32)
    check_slopes(fitter.loss, scores, [(2, 0), (2, 3), (2, 20)], 1e-4)


def test_a_training_that_diverges_raises_an_error():
    fitter = network("bp_mll", learning_rate=50.0)
    with pytest.raises(DivergenceError):
        _ = [timed_epoch(fitter, epoch) for epoch in range(1, 20)]


@pytest.mark.parametrize("optimiser", ["adamw", "sgd"])
def test_a_step_is_the_optimisers_with_decay_of_weights_and_not_of_intercepts(optimiser):
    fitter = network("bce", optimiser=optimiser, decay=0.5, learning_rate=0.01)
    before = [parameter.value.copy() for parameter in (fitter.layers.weights[0], fitter.layers.intercepts[0])]
    fitter.step(np.arange(20))
    for start, parameter, decay in zip(
        before, (fitter.layers.weights[0], fitter.layers.intercepts[0]), (0.5, 0.0), strict=True
    ):
        slope = parameter.gradient
        move = slope if optimiser == "sgd" else slope / (np.abs(slope) + 1e-8)  # of the first step
        np.testing.assert_allclose(parameter.value, start - 0.01 * (move + decay * start), atol=1e-6)
