"""The lower bounds of memory by which a fit is refused before it begins."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from tests.methods.problems import PACKAGES, method_of, names_of_methods, settings_of
from vsebench import training
from vsebench.core import machine
from vsebench.core.errors import UserError
from vsebench.core.tasks import Case, Task
from vsebench.core.workers import workers
from vsebench.data.features import Features
from vsebench.data.problem import LabelMatrix, Problem, Queries, Training
from vsebench.methods.base import Fitter, Method, Size, load_method, read_settings

BOUNDED = {
    "wsabie": {"factors": 64, "learning_rate": 0.001, "maximum_norm": 2.0},
    "wsabie_auc": {"factors": 64, "learning_rate": 0.001, "maximum_norm": 2.0},
    "linear_warp": {"learning_rate": 0.01},
    "pamir_ia": {"aggressiveness": 0.1},
    "one_vs_rest": {"aggressiveness": 0.1},
    "ridge": {"regularisation": 1.0},
    "kernel_ridge": {"gamma": 1.0, "regularisation": 1.0},
    "logistic": {"regularisation": 0.1, "iterations": 12},
    "softmax": {"regularisation": 0.1, "iterations": 12},
    "bce": {"hidden": (64,), "learning_rate": 0.001},
    "zlpr": {"hidden": (), "learning_rate": 0.001},
    "fasttag": {"dropped": 0.3, "gamma": 1.0, "regularisation": 0.1},
    "cca_knn_labels": {"components": 20, "regularisation": 0.1, "neighbours": 10, "sharpness": 5.0},
    "tagprop": {},
    "jec": {},
    "ease": {"regularisation": 1.0},
    "item_knn": {"neighbours": 10, "shrinkage": 1.0},
    "rp3beta": {"neighbours": 10, "beta": 0.5},
    "slim": {"l1": 1.0, "l2": 1.0},
    "pure_svd": {"factors": 10},
    "opt_auc": {"factors": 512, "learning_rate": 0.1, "regularisation": 0.1, "deviation": 0.1},
    "ials": {"factors": 512, "alpha_0": 0.1, "regularisation": 0.1, "nu": 0.5, "deviation": 0.1},
    "implicit_als": {"factors": 512, "confidence": 2.0, "regularisation": 0.1},
    "vse_fs_features": {
        "factors": 512, "beta_0": 1.0, "alpha": 0.5, "regularisation": 0.1, "deviation": 0.1, "steps": 1,
    },
    "mult_vae": {"hidden": (64,), "latent": 32, "learning_rate": 0.001, "divergence": 0.1, "annealing": 10},
}  # fmt: skip
SIZES = {"kernel_ridge": Size(images=900, features=300, labels=200), "jec": Size(images=300, features=900, labels=500)}
# Bytes per pair of two labels of arrays that compiled code allocates, which tracemalloc does not count (for JEC, when
# its model scores labels).
COMPILED = {"jec": 8, "ease": 8, "item_knn": 8, "rp3beta": 8, "slim": 8, "pure_svd": 8}
CASE = Case(Task("data", "official"), "method", 1)


def problem_of(size, pool):
    """Return images with five features each, and three labels each."""
    rng = np.random.default_rng(1)
    shape = (size.images, size.features)
    values = sparse.random_array(shape, density=5 / size.features, format="csr", dtype=np.float32, rng=rng)
    labels = np.sort(rng.random((size.images, size.labels)).argsort(axis=1)[:, :3], axis=1).astype(np.int32)
    offsets = np.arange(0, 3 * size.images + 1, 3, dtype=np.int64)
    matrix = LabelMatrix(size.labels, offsets, labels.ravel(), np.ones(labels.size, dtype=np.int32))
    return Problem(Training.all_of(matrix), 1, pool, Features(values, np.ones(size.images, dtype=np.bool_)))


def fit(method, problem, settings):
    """Return a model that has scored an image."""
    fitter = method(problem, settings)
    if isinstance(fitter, Method):
        fitter.epoch()
    model, image = fitter.model(), np.zeros(1, dtype=np.int32)
    model.scores(Queries(image, problem.training.labels.rows(image), problem.features.rows(image)))
    return model


@pytest.mark.parametrize("name", BOUNDED)
def test_a_fit_takes_at_least_the_bound_and_not_many_times_as_much(name):
    size = SIZES.get(name, Size(images=700, features=900, labels=500))
    method = method_of(name)
    settings = read_settings(method, BOUNDED[name], name)
    with workers(1) as pool:
        fit(method, problem_of(Size(20, 8, 4), pool), settings)  # what is compiled is not counted
        problem = problem_of(size, pool)
        tracemalloc.start()
        model = fit(method, problem, settings)
        peak = tracemalloc.get_traced_memory()[1] + COMPILED.get(name, 0) * size.labels**2
        tracemalloc.stop()
    assert model.n_labels == size.labels
    bound = method.least_memory(size, settings)
    assert bound <= peak
    assert bound > peak / 5


def test_every_method_with_a_bound_is_tested_or_shares_it():
    bounds = {name: method_of(name).least_memory.__func__ for name in names_of_methods()}
    tested = {bounds[name] for name in BOUNDED} | {Fitter.least_memory.__func__}
    assert {name for name, bound in bounds.items() if bound not in tested} == set()


def methods_with_factors():
    """Return their names, without PureSVD, whose vectors are never longer than the number of labels."""
    ours = [name for name in names_of_methods() if name not in {*PACKAGES, "pure_svd"}]
    return [*PACKAGES, *(name for name in ours if "factors" in load_method(name).settings_type.model_fields)]


@pytest.mark.parametrize("name", methods_with_factors())
def test_vectors_that_are_far_too_long_are_refused_in_one_line_before_a_fit_begins(monkeypatch, name):
    method = method_of(name)
    settings = settings_of(name, factors=10**5)
    with workers(1) as pool:
        problem = problem_of(Size(30, 20, 10), pool)
    monkeypatch.setattr(training, "memory_limit", lambda: 1 << 21)
    with pytest.raises(
        UserError, match=r"but there are only 0\.0 GiB; lower `factors`, leave this method out"
    ) as refused:
        training.check_memory(method, settings, problem, CASE)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("call", ["attempt", "refit"])
def test_a_fit_that_cannot_succeed_is_refused_in_one_line_before_it_begins(monkeypatch, call):
    monkeypatch.setattr(training, "memory_limit", lambda: 1 << 19)
    method = method_of("ridge")
    settings = read_settings(method, BOUNDED["ridge"], "ridge")
    with workers(1) as pool:
        problem = problem_of(Size(30, 200, 200), pool)
        monkeypatch.setattr(method, "model", lambda self: pytest.fail("it began"))
        validation, chosen = training.Validation(problem, None, "map"), training.Attempt(settings, None, None)
        calls = {
            "attempt": lambda: training.attempt(method, settings, validation, None, CASE),
            "refit": lambda: training.refit(method, chosen, problem, CASE),
        }
        with pytest.raises(UserError) as refused:
            calls[call]()
    message = str(refused.value)
    assert "needs at least 0.0 GiB of memory for 30 images, 200 features and 200 labels" in message
    assert message.endswith(
        "leave this method out for this data set, or keep fewer labels (`vocabulary: {top_labels: ...}`)"
    )
    assert len(message.splitlines()) == 1


def test_images_without_features_need_no_memory():
    method = method_of("kernel_ridge")
    settings = read_settings(method, BOUNDED["kernel_ridge"], "kernel_ridge")
    with workers(1) as pool:
        problem = problem_of(Size(300, 20, 10), pool)
        limit = method.least_memory(Size(100, 20, 10), settings)
        with pytest.raises(UserError, match="for 300 images"):
            training.check_memory(method, settings, problem, CASE, limit)
        known = np.arange(300) < 100
        some = replace(problem, features=Features(problem.features.values, known))
        training.check_memory(method, settings, some, CASE, limit)


def test_the_limit_is_the_smallest_of_machine_process_and_control_group(monkeypatch):
    whole = machine.memory_limit()
    monkeypatch.setattr(machine.resource, "getrlimit", lambda _: (1 << 30, -1))
    assert machine.memory_limit() == min(whole, 1 << 30)
    monkeypatch.setattr(machine, "_lines_of", lambda path: ["4096"] if path.endswith("memory.max") else [])
    assert machine.memory_limit() == 4096
    monkeypatch.setattr(machine, "_lines_of", lambda path: ["max"])
    monkeypatch.setattr(machine.resource, "getrlimit", lambda _: (machine.resource.RLIM_INFINITY, -1))
    assert machine.memory_limit() >= whole


@pytest.mark.parametrize("name", ["ease", "edlae"])
def test_a_method_on_labels_alone_is_refused_by_the_size_of_its_tables(monkeypatch, name):
    """X'X in float64 and the weights in float32 of 500 labels: 12 x 500 x 500 = 3,000,000 bytes."""
    method = method_of(name)
    settings = read_settings(method, {"regularisation": 1.0} | ({"dropout": 0.1} if name == "edlae" else {}), name)
    monkeypatch.setattr(method, "model", lambda self: pytest.fail("it began"))
    with workers(1) as pool:
        problem = replace(problem_of(Size(30, 200, 500), pool), features=None)
        monkeypatch.setattr(training, "memory_limit", lambda: 2_999_999)
        with pytest.raises(UserError, match=r"0\.0 GiB of memory for 30 images, 500 labels, but there are") as refused:
            training.refit(method, training.Attempt(settings, None, None), problem, CASE)
        assert len(str(refused.value).splitlines()) == 1
        training.check_memory(method, settings, problem, CASE, 3_000_000)


def test_a_fit_that_needs_much_memory_says_so_before_it_begins(monkeypatch, capsys):
    method = method_of("ease")
    settings = read_settings(method, {"regularisation": 1.0}, "ease")
    with workers(1) as pool:
        problem = replace(problem_of(Size(30, 20, 10), pool), features=None)
    monkeypatch.setattr(method, "least_memory", lambda size, settings: 5 << 30)
    training.check_memory(method, settings, problem, CASE, 6 << 30)
    assert capsys.readouterr().err == f"{CASE}: needs at least 5.0 GiB of memory for 30 images, 10 labels\n"
