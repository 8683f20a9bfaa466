"""Small problems on which every method is tested, and functions that fit methods to them."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from tests.builders import dense, matrix_of, rows_of
from vsebench.config.method import read_method_config
from vsebench.core.modules import modules_by_key
from vsebench.core.workers import workers
from vsebench.data.features import Features, side_by_side
from vsebench.data.problem import HeldOut, LabelMatrix, Problem, Queries, Training, WordVectors
from vsebench.formats.simulators import simulated_tree
from vsebench.formats.simulators.simulated_images import Parts
from vsebench.methods.base import Ensemble, Method, load_method, read_settings
from vsebench.methods.networks.layers import Parameter
from vsebench.protocols.images import pairs_of

CONFIG = Path(__file__).parents[2] / "config" / "methods"
MODULES = modules_by_key("METHODS", "methods")


def methods_in(folder):
    """Return the names of the methods in a folder of the package."""
    return [name for name, module in MODULES.items() if module.split(".")[2] == folder]


PACKAGES = {
    "implicit_als": "implicit",
    "irspack_ials": "irspack",
    "lightfm_warp": "lightfm",
    "lightfm_features": "lightfm",
}
N_IMAGES, N_LABELS, N_GROUPS = 400, 32, 4
SMALL = {"factors": 16}
WORD_NETWORKS = ["avg_wv", "fast0tag", "s_fast0tag", "s_opt_x_ent_published", "s_x_ent", "x_ent"]
# Small problems need other settings than data sets; all other settings are those of config/methods.
SETTINGS = {
    "opt_auc": {"learning_rate": 0.1, "deviation": 0.1},
    "warp": {"learning_rate": 0.02, "regularisation": 0.01},
    "warp_published": {"learning_rate": 0.1},
    "vse_ens": {"learning_rate": 0.05, "regularisation": 0.2},
    "vse_fs": {"beta_0": 4.0, "alpha": 0.5, "gamma": 0.05, "regularisation": 0.5},
    "vse_fs_features": {"beta_0": 8.0, "alpha": 0.0, "regularisation": 0.3},
    "ease": {"regularisation": 3.0},
    "edlae": {"regularisation": 3.0, "dropout": 0.2},
    "item_knn": {"neighbours": 7, "shrinkage": 0.0},
    "rp3beta": {"beta": 0.5, "neighbours": 7},
    "slim": {"l1": 1.0, "l2": 5.0},
    "pure_svd": {"factors": 4},
    "ials": {"alpha_0": 0.1, "regularisation": 0.1, "nu": 0.5},
    "irspack_ials": {"alpha_0": 0.1, "regularisation": 0.1, "nu": 0.5},
    "mult_vae": {"hidden": [16], "latent": 8, "learning_rate": 0.01, "dropout": 0.1, "batch": 20, "annealing": 10},
    "implicit_als": {"confidence": 20.0, "regularisation": 2.0},
    "lightfm_warp": {"regularisation": 0.0},
    "ridge": {"regularisation": 1.0},
    "kernel_ridge": {"gamma": 1.0, "regularisation": 1.0},
    "softmax": {"regularisation": 0.01},
    "logistic": {"regularisation": 0.01},
    "nearest_images": {"neighbours": 20},
    "wsabie": {"learning_rate": 0.01, "maximum_norm": 3.0},
    "wsabie_auc": {"learning_rate": 0.03, "maximum_norm": 3.0},
    "wsabie_decay": {"learning_rate": 0.01, "maximum_norm": 3.0},
    "owpc_sgd": {"learning_rate": 0.01, "maximum_norm": 3.0},
    "linear_warp": {"learning_rate": 0.01},
    "linear_auc": {"learning_rate": 0.03},
    "pamir_ia": {"aggressiveness": 0.03},
    "one_vs_rest": {"aggressiveness": 0.003},
    "avg_wv_ridge": {"regularisation": 1.0},
    "conse": {"regularisation": 1.0},
    "random_projection_tree": {"levels": 2, "neighbours": 20},
} | {name: {"hidden": [16], "learning_rate": 0.01, "dropout": 0.1, "batch": 20} for name in methods_in("networks")}
SETTINGS |= {name: {"hidden": [16], "learning_rate": 0.01, "batch": 20} for name in WORD_NETWORKS}
SETTINGS["outside_scores"] = {"file": "scores.npy"}
SETTINGS["correlated_wv"] = SETTINGS["x_ent"] | {"vectors": "unit"}
MEMBERS = {"wsabie_ensemble": "wsabie"}
ONE_SPACE = {"tip_adapter", "zero_shot_cosine"}  # methods whose word vectors and features come from one network


def names_of_methods():
    """Return the names of all methods."""
    assert MODULES, "no module defines METHODS, so the methods would not be tested"
    return list(MODULES)


def method_of(name):
    """Return a method's class; skip where its optional package is missing."""
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name], reason="optional, `make setup-peers` installs it")
    return load_method(name)


def settings_of(name, **changes):
    """Return a method's settings: those of config/methods, if there are any, changed for small problems."""
    path = CONFIG / f"{name}.yaml"
    values = dict(read_method_config(path).settings) if path.is_file() else {}
    if issubclass(method_of(name), Ensemble):
        return read_settings(method_of(name), {"members": members_of(name, **changes)}, name)
    if "factors" in method_of(name).settings_type.model_fields:
        values |= SMALL
    values |= SETTINGS.get(name, {})
    return read_settings(method_of(name), values | changes, name)


def members_of(name, epochs=40, **changes):
    """Return the members of an ensemble: two sizes of one method."""
    module = MEMBERS[name]
    settings = [settings_of(module, **({"factors": factors} | changes)).model_dump() for factors in (16, 8)]
    weights = [{"weight": 0.7, "deviation": 0.8}, {"weight": 0.3, "deviation": 1.2}]
    fixed = {"module": module, "epochs": epochs}
    return [
        {"variant": f"{module}_{one['factors']}", "settings": one} | fixed | weight
        for one, weight in zip(settings, weights, strict=True)
    ]


def group_of(images):
    return np.asarray(images) % N_GROUPS


def planted_labels():
    """Return labels of four groups of images, each of which carries six of its group's eight labels."""
    rng = np.random.default_rng(11)
    return matrix_of([sorted(8 * group_of(i) + rng.choice(8, 6, replace=False)) for i in range(N_IMAGES)], N_LABELS)


def planted_centres(rng):
    """Return the centre of each group's features, (4, 12)."""
    return rng.uniform(1, 5, (N_GROUPS, 12)) * (rng.random((N_GROUPS, 12)) < 0.5)


def planted_features(kind):
    """Return noise around a centre of each group, (400, 12); one image has no features."""
    rng = np.random.default_rng(12)
    centres = planted_centres(rng)
    values = np.maximum(centres[group_of(np.arange(N_IMAGES))] + rng.normal(0, 0.3, (N_IMAGES, 12)), 0)
    known = np.ones(N_IMAGES, dtype=bool)
    known[5] = False
    values[~known] = 0
    values = values.astype(np.float32)
    if kind == "two":
        return side_by_side({"a": Features(values[:, :5].copy(), known), "b": Features(values[:, 5:].copy(), known)})
    return Features(sparse.csr_array(values) if kind == "sparse" else values, known)


def planted_truth():
    """Return the topics of images and labels that a simulator would draw the labels from."""
    image = np.eye(N_GROUPS, dtype=np.float32)[group_of(np.arange(N_IMAGES))]
    label = np.repeat(np.eye(N_GROUPS, dtype=np.float32), 8, axis=0)
    return {"image": image, "label": label}


def planted_words():
    """Return noise around a direction of each group, (32, 10)."""
    rng = np.random.default_rng(14)
    vectors = np.repeat(rng.normal(0, 2, (N_GROUPS, 10)), 8, axis=0) + rng.normal(0, 0.6, (N_LABELS, 10))
    return WordVectors(vectors.astype(np.float32), np.ones(N_LABELS, dtype=bool))


def words_among_features():
    """Return noise around the centre of each group's features, (32, 12)."""
    vectors = np.repeat(planted_centres(np.random.default_rng(12)), 8, axis=0)
    vectors += np.random.default_rng(14).normal(0, 0.3, vectors.shape)
    return WordVectors(vectors.astype(np.float32), np.ones(N_LABELS, dtype=bool))


# What each problem provides besides labels.
PROBLEMS = {
    "labels": {"known_labels", "trained_labels"},
    "dense features": {"known_labels", "trained_labels", "features", "word_vectors", "truth"},
    "sparse features": {"known_labels", "trained_labels", "features", "word_vectors"},
    "two sets of features": {"known_labels", "trained_labels", "features", "word_vectors"},
    "new images": {"trained_labels", "features", "word_vectors", "truth"},
    "unseen labels": {"test_labels", "features", "word_vectors", "truth"},
    "another data set": {"given_labels", "trained_labels"},
    "tree": {"trained_labels", "features", "truth", "tree"},
}


TREE = simulated_tree.Options(
    images=N_IMAGES,
    labels=N_LABELS,
    children=8,
    parents=2,
    terms=40,
    terms_per_node=5,
    views=2,
    shares=simulated_tree.Shares(background=0.4, top=0.1, parent=0.2, label=0.2, view=0.1),
    length=20.0,
    confusion=0.1,
    parts=Parts(train=7, valid=0, test=1),
    features="sparse",
)


def problem_of(name, pool, seed=1):
    """Return one of PROBLEMS and the images to score: the training images, or the last fifty, which are test images.

    Of "unseen labels", a quarter of each group's labels is not learnt.
    """
    labels, offers = planted_labels(), PROBLEMS[name]
    features = planted_features(name.partition(" ")[0]) if "features" in offers else None
    truth = planted_truth() if "truth" in offers else None
    if "tree" in offers:
        drawn = simulated_tree.read(Path(), TREE)
        labels, features, truth = LabelMatrix.from_pairs(drawn.pairs, N_IMAGES, N_LABELS), drawn.features, drawn.truth
    images = np.arange(N_IMAGES, dtype=np.int32)
    training = Training.all_of(labels)
    if "known_labels" not in offers:
        learnt, images = images[:-50], images[-50:]
        seen = np.arange(N_LABELS) % 4 != 3 if "trained_labels" not in offers else training.learnt
        pairs = pairs_of(labels, np.arange(N_IMAGES) < N_IMAGES - 50, seen)
        training = Training(pairs, learnt, seen)
        test = HeldOut(images, labels.rows(images), LabelMatrix.empty(50, N_LABELS), ~seen)
    known = training.labels.rows(images)
    queries = Queries(images, known, None if features is None else features.rows(images))
    word_vectors = planted_words() if "word_vectors" in offers else None
    extras = {"truth": truth} if truth is not None else {}
    extras |= {"test_labels": test} if "test_labels" in offers else {}
    extras |= {"given_labels": labels} if "given_labels" in offers else {}
    return Problem(training, seed, pool, features, word_vectors, extras), queries


def fit(name, problem, epochs=2, **changes):
    """Fit a method; returns the model and the reports of its epochs."""
    if name in ONE_SPACE:
        problem = replace(problem, word_vectors=words_among_features())
    fitter = method_of(name)(problem, settings_of(name, **changes))
    reports = [fitter.epoch() for _ in range(epochs)] if isinstance(fitter, Method) else []
    return fitter.model(), reports


def fitted(name, where, epochs=2, threads=1, seed=1, **changes):
    """Fit a method to one of PROBLEMS; returns the model and the images to score."""
    with workers(threads) as pool:
        problem, queries = problem_of(where, pool, seed)
        return fit(name, problem, epochs, **changes)[0], queries


@cache
def fitted_once(name, where):
    """Return the result of `fitted`, for tests that do not change it."""
    return fitted(name, where)


def problem_from(matrix, pool, seed=1, **changes):
    """Return the problem to learn a whole matrix."""
    return Problem(Training.all_of(matrix), seed, pool, **changes)


def features_of(values, known=None):
    """Return dense or sparse features, by default of all images."""
    values = values if sparse.issparse(values) else np.asarray(values, dtype=np.float32)
    return Features(values, np.ones(values.shape[0], dtype=bool) if known is None else np.asarray(known))


def fit_to(name, matrix, values=None, known=None, epochs=2, extras=None, **changes):
    """Fit a method to a whole matrix, with features if there are values; returns the model and the epochs' reports."""
    features = None if values is None else features_of(values, known)
    with workers(1) as pool:
        return fit(name, problem_from(matrix, pool, features=features, extras=extras or {}), epochs, **changes)


def new_images(values, n_labels):
    """Return queries for images that are not in the data set."""
    return Queries.of_new_images(np.asarray(values, dtype=np.float32), n_labels)


def learnt_from(where):
    """Return the features and the labels, both dense float64, of the images of a problem that have features."""
    with workers(1) as pool:
        problem, _ = problem_of(where, pool)
    images = problem.training.images[problem.features.known[problem.training.images]]
    return full(problem.features.rows(images)), dense(problem.training.labels)[images].astype(np.float64)


def full(rows):
    """Return dense or sparse rows as a dense array of float64."""
    return (rows.toarray() if sparse.issparse(rows) else rows).astype(np.float64)


def network(name, where="dense features", learnt=None, **changes):
    """Return a network method before its first epoch, which learns all labels or only those of a mask."""
    with workers(1) as pool:
        problem, _ = problem_of(where, pool)
    return load_method(name)(problem if learnt is None else only(problem, learnt), settings_of(name, **changes))


def only(problem, learnt):
    """Return a problem in which only some labels are learnt, and images carry no others."""
    labels = problem.training.labels
    rows = [[label for label in row if learnt[label]] for row in rows_of(labels)]
    return replace(problem, training=replace(problem.training, labels=matrix_of(rows, labels.n_labels), learnt=learnt))


def check_gradients(monkeypatch, fitter, parameters, move, **tolerance):
    """Compare a few entries of the gradients of a network's parameters with differences of its mean loss."""
    monkeypatch.setattr(Parameter, "step", lambda *arguments: None)
    images, rng = np.arange(30), np.random.default_rng(1)
    for parameter in parameters:
        parameter.value[...] += rng.normal(0, 0.1, parameter.value.shape)
    fitter.step(images)
    for parameter in parameters:
        gradient, values = parameter.gradient.copy().reshape(-1), parameter.value.reshape(-1)
        for slot in rng.choice(values.size, 4, replace=False):
            start, losses = values[slot], []
            for step in (move, -move):
                values[slot] = start + step
                losses.append(fitter.step(images) / len(images))
            values[slot] = start
            assert gradient[slot] == pytest.approx((losses[0] - losses[1]) / (2 * move), **tolerance)


def check_slopes(loss, scores, slots, tolerance):
    """Compare some derivatives of a network's loss with differences."""
    images, slopes = np.arange(len(scores)), scores.copy()
    loss(slopes, images)
    for slot in slots:
        losses = []
        for move in (0.01, -0.01):
            moved = scores.copy()
            moved[slot] += move
            losses.append(loss(moved, images))
        assert slopes[slot] == pytest.approx((losses[0] - losses[1]) / 0.02, abs=tolerance)


def with_needs(name, problem):
    """Return a problem with random features and word vectors if the method needs them and the problem has none."""
    needs, rng = method_of(name).needs, np.random.default_rng(13)
    n_images, n_labels = problem.training.labels.n_rows, problem.training.labels.n_labels
    if "features" in needs and problem.features is None:
        values = rng.normal(0, 1, (n_images, 12)).astype(np.float32)
        problem = replace(problem, features=Features(values, np.ones(n_images, dtype=bool)))
    if "word_vectors" in needs and problem.word_vectors is None:
        vectors = rng.normal(0, 1, (n_labels, 10)).astype(np.float32)
        problem = replace(problem, word_vectors=WordVectors(vectors, np.ones(n_labels, dtype=bool)))
    return problem
