"""The contract of `vsebench.methods.base`, tested for every method on the problems of `tests.methods.problems`."""

import numpy as np
import pytest

from tests.builders import dense, matrix_of
from tests.methods.problems import (
    CONFIG,
    MODULES,
    N_LABELS,
    PACKAGES,
    PROBLEMS,
    fit,
    fitted,
    fitted_once,
    group_of,
    method_of,
    names_of_methods,
    problem_from,
    problem_of,
    settings_of,
    with_needs,
)
from vsebench import models
from vsebench.config.method import read_method_config
from vsebench.core.errors import UserError
from vsebench.core.workers import workers
from vsebench.data.needs import NEEDS
from vsebench.methods.base import Control, Method, Settings, epochs_mistake, load_method, read_settings
from vsebench.models import Model

NAMES = names_of_methods()
IN_EPOCHS = [name for name in NAMES if name not in PACKAGES and issubclass(load_method(name), Method)]
IN_EPOCHS += PACKAGES  # classes that need an optional package to be read
EVERY_PROBLEM = [(name, where) for name in NAMES for where in PROBLEMS]


def skip_if_obstructed(name, where):
    """Skip the test if the method cannot run on a problem."""
    if method_of(name).obstacle(PROBLEMS[where]) is not None:
        pytest.skip("the method has an obstacle here")


def has_setting(name, setting):
    return setting in method_of(name).settings_type.model_fields


@pytest.mark.parametrize("name", NAMES)
class TestEveryMethod:
    def test_its_class_declares_its_kind(self, name):
        method = method_of(name)
        assert issubclass(method, Method) != issubclass(method, Control)
        assert issubclass(method.settings_type, Settings)
        assert method.needs <= set(NEEDS)
        assert method.__doc__

    def test_epochs_stand_in_the_file_exactly_if_it_is_trained_by_epochs(self, name):
        for path in CONFIG.glob("*.yaml"):
            config = read_method_config(path)
            if config.method == name:
                assert (config.epochs is not None) == issubclass(method_of(name), Method), path

    def test_an_unknown_setting_names_key_and_file(self, name):
        values = settings_of(name).model_dump() | {"typo": 1}
        with pytest.raises(UserError, match=r"some\.yaml: typo: unknown key"):
            read_settings(method_of(name), values, "some.yaml")

    @pytest.mark.parametrize("where", PROBLEMS)
    def test_an_obstacle_names_what_is_missing(self, name, where):
        knows_labels = set() if method_of(name).ranks_unseen else {"trained_labels"}
        missing = (method_of(name).needs | knows_labels) - PROBLEMS[where]
        reason = method_of(name).obstacle(PROBLEMS[where])
        assert (reason is None) == (not missing)
        if missing:
            assert reason in {NEEDS[need].missing_reason for need in missing}

    def test_another_seed_gives_another_model_if_it_is_trained_by_epochs_or_says_so(self, name):
        where = "dense features"
        skip_if_obstructed(name, where)
        first, second = (fitted(name, where, epochs=1, seed=seed)[0].arrays() for seed in (1, 2))
        differs = any(first[key].tobytes() != second[key].tobytes() for key in first)
        assert differs == (name in IN_EPOCHS or method_of(name).is_random)


@pytest.mark.parametrize(("name", "where"), EVERY_PROBLEM)
class TestEveryMethodOnEveryProblem:
    def test_scores_are_one_row_per_query_and_finite(self, name, where):
        skip_if_obstructed(name, where)
        model, queries = fitted_once(name, where)
        assert isinstance(model, Model)
        scores = model.scores(queries)
        assert scores.shape == (len(queries.images), N_LABELS)
        assert scores.dtype == np.float32
        assert scores.flags.c_contiguous
        assert model.has_finite_scores()
        assert np.isfinite(scores).all()

    def test_a_saved_model_gives_the_same_scores(self, name, where, tmp_path):
        skip_if_obstructed(name, where)
        model, queries = fitted_once(name, where)
        models.save(model, tmp_path / "model.npz")
        again = models.load(tmp_path / "model.npz")
        assert type(again) is type(model)
        assert np.array_equal(again.scores(queries), model.scores(queries))

    def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(self, name, where):
        skip_if_obstructed(name, where)
        first = fitted_once(name, where)[0].arrays()
        for threads in (1, 2):
            again = fitted(name, where, threads=threads)[0].arrays()
            assert all(first[key].tobytes() == again[key].tobytes() for key in first)


# Of the two best labels that an image does not carry, nearly all must be of its group; of random labels a quarter is.
RECOVERS = [name for name in NAMES if MODULES[name].split(".")[2] not in ("controls", "outside")] + ["oracle"]
FROM_FEATURES = {name for name in NAMES if name not in PACKAGES and "features" in method_of(name).needs}
FROM_FEATURES |= {"lightfm_features"}


@pytest.mark.parametrize("where", ["dense features", "sparse features", "two sets of features"])
@pytest.mark.parametrize("name", RECOVERS)
def test_planted_groups_are_recovered(name, where):
    if name not in FROM_FEATURES and where != "dense features":
        pytest.skip("the method reads no features")
    changes = {"normalise": ["root", "l2"]} if has_setting(name, "normalise") else {}
    # Adagrad is fast: in 40 epochs it learns the missing labels as negatives, which they are in training.
    model, queries = fitted(name, where, epochs=5 if name == "lightfm_warp" else 40, **changes)
    scores = model.scores(queries)
    scores[dense(queries.known)] = -np.inf
    top = np.argsort(-scores, axis=1)[:, :2]
    right = top // 8 == group_of(queries.images)[:, None]
    assert right[queries.images != 5].mean() > 0.97  # image 5 has no features


@pytest.mark.parametrize("name", [*sorted(FROM_FEATURES), "oracle"])
def test_the_labels_of_new_images_are_found(name):
    model, queries = fitted(name, "new images", epochs=40)
    top = np.argsort(-model.scores(queries), axis=1)[:, :8]
    assert (top // 8 == group_of(queries.images)[:, None]).mean() > 0.97


@pytest.mark.parametrize("name", IN_EPOCHS)
class TestEveryMethodInEpochs:
    def test_loss_falls(self, name):
        with workers(1) as pool:
            problem, _ = problem_of("dense features", pool)
            changes = {"normalise": ["root", "l2"]} if has_setting(name, "normalise") else {}
            _, reports = fit(name, problem, epochs=10, **changes)
        if reports[0].loss is not None:  # third-party packages do not report it
            assert reports[-1].loss < reports[0].loss

    def test_number_of_factors_need_not_fit_the_machine(self, name):
        if "factors" not in method_of(name).settings_type.model_fields:
            pytest.skip("the method has no factors")
        where = "dense features" if "features" in method_of(name).needs else "labels"
        model, queries = fitted(name, where, epochs=1, factors=5)
        assert model.vectors(queries).shape[1] in (5, 6)  # a bias is one factor more

    def test_an_image_with_every_label_or_none_is_left_out(self, name):
        """It has no negative, or no positive; training must neither hang nor fail."""
        with workers(1) as pool:
            matrix = matrix_of([[0, 1, 2], [0], [], [1, 2]], 3)
            model, _ = fit(name, with_needs(name, problem_from(matrix, pool)), epochs=5)
        assert model.has_finite_scores()


@pytest.mark.parametrize("name", ["nonsense", "sgd"])  # the latter is a module without a method
def test_a_method_that_is_not_there_is_named(name):
    with pytest.raises(UserError, match=f"'{name}': no module in src/vsebench/methods has this name in its METHODS"):
        load_method(name)


def test_a_package_that_is_not_there_is_named(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name}", name="implicit")

    monkeypatch.setattr("vsebench.methods.base.importlib.import_module", missing)
    with pytest.raises(UserError, match=r"implicit_als.*needs the package implicit.*make setup-peers"):
        load_method("implicit_als")


def test_the_message_for_epochs_that_do_not_fit_the_class_names_the_remedy():
    assert "give maximum and patience" in epochs_mistake(load_method("warp"))
    assert "is not trained in epochs; remove this key" in epochs_mistake(load_method("ease"))


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("opt_auc", "learning_rate", 0),
        ("opt_auc", "factors", 0),
        ("opt_auc", "factors", 1.5),
        ("opt_auc", "deviation", "x"),
        ("warp", "trials", 0),
        ("vse_fs", "weights", "some"),
        ("ease", "regularisation", 0.0),
        ("ridge", "regularisation", -1.0),
        ("ridge", "normalise", ["sqrt"]),
        ("kernel_ridge", "gamma", 0.0),
        ("softmax", "iterations", 0),
        ("logistic", "regularisation", 0.0),
        ("nearest_images", "neighbours", 0),
        ("nearest_images", "power", 0.0),
        ("nearest_images", "distance", "manhattan"),
        ("wsabie", "maximum_norm", -1.0),
        ("wsabie_auc", "learning_rate", 0.0),
        ("linear_warp", "learning_rate", 0.0),
        ("pamir_ia", "aggressiveness", 0.0),
        ("one_vs_rest", "aggressiveness", 0.0),
        ("lsep", "hidden", [0]),
        ("lsep", "hidden", [8, -5]),
        ("lsep", "learning_rate", 0.0),
        ("bce", "dropout", 1.0),
        ("zlpr", "batch", 0),
        ("lsep_sampled", "pairs", 0),
    ],
)
def test_settings_out_of_range_are_refused(name, key, value):
    with pytest.raises(UserError, match=f"some.yaml: {key}"):
        read_settings(load_method(name), settings_of(name).model_dump() | {key: value}, "some.yaml")


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("nearest_images", {"only_first": True}, "only_first: has no effect unless `found` is below 1"),
        ("nearest_images", {"distance": "euclidean", "weights": "cosine"}, "weights: 'cosine' needs `distance"),
        (
            "nearest_images",
            {"distance": "euclidean", "weights": "exponential"},
            "weights: 'exponential' needs `distance: cosine`",
        ),
        ("lsep", {"optimiser": "adam"}, "optimiser: .*'adamw' or 'sgd'"),
        ("lsep", {"hidden": []}, "dropout: without hidden layers, nothing can be dropped; set it to 0"),
        ("x_ent", {"joint": False, "unseen_update": "procrustes"}, "unseen_update: .*set joint: true"),
        ("x_ent", {"score": "cosine", "offset": "frequency"}, "offset.*needs the setting `score: dot`"),
        ("s_x_ent", {"score": "cosine", "correct_for_frequency": True}, "correct_for_freq.*needs the setting `score"),
        ("s_x_ent", {"exclude": "next_image", "negative_power": 0.5}, r"negative_power: .*set 1\.0"),
        ("s_x_ent", {"exclude": "next_image", "presampled": 100}, "presampled: .*set `presampled: null`"),
        ("s_x_ent", {"joint": True, "optimiser": "sgd"}, "optimiser: only AdamW trains vectors of sampled labels"),
        ("s_x_ent", {"joint": False, "label_terms": 0.01}, "label_terms: has no effect on fixed vectors"),
        ("s_opt_x_ent_published", {"joint": False}, "joint"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(name, changes, message):
    with pytest.raises(UserError, match=f"{name}: {message}"):
        settings_of(name, **changes)


def test_fixed_vectors_of_sampled_labels_need_no_adamw():
    assert settings_of("s_x_ent", joint=False, optimiser="sgd").optimiser == "sgd"


def test_initial_vectors_of_warp_that_are_too_long_are_shortened_with_shorten_start():
    with workers(1) as pool:
        problem, _ = problem_of("labels", pool)
        drawn, shortened = (
            fit("warp", problem, epochs=0, maximum_norm=0.4, deviation=0.1, shorten_start=shorten)[0].image
            for shorten in (False, True)
        )
    before, after = (np.linalg.norm(rows, axis=1) for rows in (drawn, shortened))
    assert before.min() < 0.4 < before.max()
    assert np.allclose(after, np.minimum(before, 0.4))
    assert np.allclose(shortened * before[:, np.newaxis], drawn * after[:, np.newaxis])
