"""WSABIE's family from features to models: the start, dense and sparse features, a planted rule, refused inputs."""

import numpy as np
import pytest
from scipy import sparse

from tests.builders import matrix_of
from tests.methods.problems import features_of, fit_to, method_of, new_images, problem_from, settings_of
from vsebench.core.errors import UserError
from vsebench.core.workers import workers
from vsebench.methods.base import load_method

FAMILY = ["linear_auc", "linear_warp", "one_vs_rest", "owpc_sgd", "pamir_ia", "wsabie", "wsabie_auc", "wsabie_decay"]
N_IMAGES, N_LABELS, D = 600, 10, 24
# The rule has ten directions: the embedding needs as many factors, and norms that allow the scores that it implies.
EPOCHS = 30
CHANGES = {name: {"maximum_norm": 10.0} for name in ("wsabie", "wsabie_auc", "wsabie_decay", "owpc_sgd")}
CHANGES["one_vs_rest"] = {"aggressiveness": 0.03}


def ruled(seed=0):
    """Return features of unit length, half of them 0, and the three labels that a linear rule scores highest."""
    rng = np.random.default_rng(seed)
    x = np.maximum(rng.normal(0, 1, (N_IMAGES, D)), 0)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    rule = np.random.default_rng(99).normal(0, 1, (N_LABELS, D))
    return x.astype(np.float32), np.sort(np.argsort(-x @ rule.T, axis=1)[:, :3], axis=1)


def fitted_to(name, x, labels, kind="dense", known=None, epochs=EPOCHS, **changes):
    values = sparse.csr_array(x) if kind == "sparse" else x
    return fit_to(name, matrix_of(labels, N_LABELS), values, known, epochs, **CHANGES.get(name, {}) | changes)


def scores_of(model, x):
    return model.scores(new_images(x, N_LABELS))


@pytest.mark.parametrize("name", FAMILY)
def test_a_linear_rule_is_learnt_and_holds_for_new_images(name):
    model, _ = fitted_to(name, *ruled())
    x, labels = ruled(seed=1)
    top = np.argsort(-scores_of(model, x), axis=1)[:, :3]
    share = np.mean([len(set(actual) & set(right)) / 3 for actual, right in zip(top, labels, strict=True)])
    assert share > 0.85  # by chance 0.3


@pytest.mark.parametrize("name", FAMILY)
def test_dense_and_sparse_features_give_the_same_model(name):
    """The sums differ only by rounding, which does not change the violators of the first steps."""
    x, labels = ruled()
    one, other = (fitted_to(name, x[:60], labels[:60], kind, epochs=2)[0] for kind in ("dense", "sparse"))
    assert np.allclose(scores_of(one, x), scores_of(other, x), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", FAMILY)
def test_images_without_features_are_left_out(name):
    x, labels = ruled()
    known = np.arange(80) < 60
    one, _ = fitted_to(name, x[:60], labels[:60], epochs=2, normalise=["standard"])
    other, _ = fitted_to(name, x[:80] * known[:, None], labels[:80], known=known, epochs=2, normalise=["standard"])
    assert all(one.arrays()[key].tobytes() == other.arrays()[key].tobytes() for key in one.arrays())


@pytest.mark.parametrize("name", FAMILY)
def test_nothing_to_learn_from_is_refused(name):
    x, labels = ruled()
    with pytest.raises(UserError, match="no image to learn from has both features and a label"):
        fitted_to(name, 0 * x[:2], labels[:2], known=np.zeros(2, dtype=bool))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("name", ["wsabie", "wsabie_auc", "owpc_sgd"])
class TestBalls:
    def test_rows_never_leave_them(self, name, kind):
        x, labels = ruled()
        for epochs in range(4):
            model, _ = fitted_to(name, x, labels, kind, epochs=epochs, maximum_norm=0.8, learning_rate=1.0)
            for matrix in (model.feature, model.label):
                assert np.linalg.norm(matrix, axis=1).max() <= 0.8 * (1 + 1e-6)

    def test_without_a_limit_rows_grow(self, name, kind):
        model, _ = fitted_to(name, *ruled(), kind, epochs=4, maximum_norm=0.0, learning_rate=0.1)
        assert np.linalg.norm(model.label, axis=1).max() > 1.5


def test_the_start_is_normal_with_a_variance_of_one_over_the_number_of_features():
    x, labels = np.eye(400, dtype=np.float32), [[0]] * 400
    model, _ = fitted_to("wsabie", x, labels, epochs=0, factors=100)
    assert model.feature.shape == (400, 100)
    assert model.feature.std() == pytest.approx(1 / 20, rel=0.01)
    assert model.label.std() == pytest.approx(1 / 20, rel=0.1)
    assert abs(model.feature.mean()) < 0.001
    shortened, _ = fitted_to("wsabie", x, labels, epochs=0, factors=100, maximum_norm=0.5)
    lengths, cut = (np.linalg.norm(each.feature, axis=1) for each in (model, shortened))
    assert np.allclose(cut, np.minimum(lengths, 0.5), rtol=1e-5)
    assert 0 < (lengths > 0.5).mean() < 1


def test_the_auc_loss_tries_one_negative_and_warp_more_and_more():
    x, labels = ruled()
    assert [report.trials for report in fitted_to("wsabie_auc", x, labels, epochs=2)[1]] == [1, 1]
    trials = [report.trials for report in fitted_to("wsabie", x, labels, epochs=10)[1]]
    assert 1 <= trials[0] < trials[-1]


def test_one_vs_rest_learns_an_intercept():
    """Features say nothing; the more frequent label is on most images, so its score alone is above 0."""
    labels = [[0] if i % 5 else [1] for i in range(100)]
    x = np.zeros((100, 2), dtype=np.float32)
    model, _ = fitted_to("one_vs_rest", x, labels, aggressiveness=0.01)
    (scores,) = scores_of(model, x[:1])
    assert scores[0] > 0.5
    assert (scores[1:] < -0.5).all()


def test_one_vs_rest_takes_the_images_in_a_new_order_each_epoch(monkeypatch):
    orders = []
    module = load_method("one_vs_rest").__module__
    monkeypatch.setattr(f"{module}.one_vs_rest_epoch", lambda *arguments: orders.append(arguments[5].tolist()) or 0.0)
    fitted_to("one_vs_rest", *ruled(), epochs=2)
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(N_IMAGES))


def test_the_step_of_an_epoch_falls_with_the_epochs_before_it():
    """The first epoch is WSABIE's; in the fourth, with decay 1, the step is half as long."""
    x, labels = ruled()
    with workers(1) as pool:
        problem = problem_from(matrix_of(labels, N_LABELS), pool, features=features_of(x))
        falling = method_of("wsabie_decay")(problem, settings_of("wsabie_decay", decay=1.0))
        fixed = method_of("wsabie")(problem, settings_of("wsabie"))
        rates = []
        for number in range(4):
            falling.epoch()
            rates.append(falling.settings.learning_rate)
            if number == 0:
                fixed.epoch()
                assert np.array_equal(falling.maps.features, fixed.maps.features)
    assert rates == pytest.approx([fixed.settings.learning_rate / (1 + number) ** 0.5 for number in range(4)])


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize(("steps", "all_steps"), [([], ("l2",)), (["standard"], ("standard", "l2")), (["l2"], ("l2",))])
def test_features_end_with_unit_length(name, steps, all_steps):
    """The step sizes of these methods are for features of length 1, whatever the scale of those that are given."""
    x, labels = ruled()
    model, _ = fitted_to(name, x, labels, epochs=1, normalise=steps)
    assert model.normalisation.steps == all_steps
    larger, _ = fitted_to(name, 64 * x, labels, epochs=1, normalise=steps)
    assert np.allclose(scores_of(larger, 64 * x), scores_of(model, x), rtol=1e-3, atol=1e-4)
