"""What every trained method must do."""

import numpy as np
import pytest

from vsebench.core.errors import UserError
from vsebench.core.workers import workers
from vsebench.methods.base import Method, load_method, read_settings

SGD = {"factors": 16, "learning_rate": 0.1, "regularisation": 0.01, "deviation": 0.1}
TRAINED = {
    "opt_auc": SGD,
    "opt_auc_biases": SGD,
    "warp": SGD | {"learning_rate": 0.02, "trials": None, "maximum_norm": 1.0},
    "warp_adaptive": SGD | {"learning_rate": 0.02, "trials": 10},
    "warp_published": SGD,
    "vse_ens": SGD | {"learning_rate": 0.05, "regularisation": 0.2, "rank_scale": 0.3},
    "vse_fs": {
        "factors": 16, "beta_0": 4.0, "alpha": 0.5, "gamma": 0.05, "regularisation": 0.5, "weights": "ones",
        "deviation": 0.1,
    },
}  # fmt: skip
BIASED = ("opt_auc_biases", "warp_adaptive")  # the labels' biases are one factor more


def train(name, matrix, epochs, seed=1, threads=1, **changes):
    method = load_method(name)
    with workers(threads) as pool:
        model = method(matrix, read_settings(method, TRAINED[name] | changes, name), seed, pool)
        reports = [model.epoch() for _ in range(epochs)]
        embeddings = model.scorer()
    return embeddings.image.copy(), embeddings.label.copy(), reports


@pytest.mark.parametrize("name", TRAINED)
class TestEveryMethod:
    def test_same_seed_same_bytes(self, name, small):
        first, second = train(name, small, 3), train(name, small, 3)
        assert first[0].tobytes() == second[0].tobytes()
        assert first[1].tobytes() == second[1].tobytes()

    def test_another_seed_another_model(self, name, small):
        assert not np.array_equal(train(name, small, 1)[1], train(name, small, 1, seed=2)[1])

    def test_number_of_threads_does_not_matter(self, name, small):
        assert train(name, small, 3)[1].tobytes() == train(name, small, 3, threads=2)[1].tobytes()

    def test_model_has_a_row_an_image_and_a_label(self, name, small):
        image, label, _ = train(name, small, 1)
        assert image.shape == (30, 16 + (name in BIASED))
        assert label.shape == (12, 16 + (name in BIASED))
        assert image.dtype == label.dtype == np.float32

    def test_loss_falls(self, name, planted):
        _, _, reports = train(name, planted, 10)
        assert reports[-1].loss < reports[0].loss

    def test_planted_groups_are_recovered(self, name, planted):
        """Of the labels that an image does not carry, the two of its own group come first."""
        image, label, _ = train(name, planted, 40)
        scores = image @ label.T
        scores[planted.images, planted.labels] = -np.inf
        top = np.argsort(-scores, axis=1)[:, :2]
        right = top // 8 == np.arange(400)[:, None] % 4
        assert right.mean() > 0.97

    def test_number_of_factors_need_not_fit_the_machine(self, name, small):
        image, _, _ = train(name, small, 1, factors=5)
        assert image.shape == (30, 5 + (name in BIASED))

    def test_unknown_setting_names_key_and_file(self, name):
        method = load_method(name)
        with pytest.raises(UserError, match=r"some\.yaml: typo: unknown key"):
            read_settings(method, TRAINED[name] | {"typo": 1}, "some.yaml")

    def test_an_image_with_every_label_is_left_out(self, name, build):
        """It has no negative; training must neither hang nor fail."""
        image, label, _ = train(name, build([[0, 1, 2], [0], [1, 2]], 3), 5)
        assert np.isfinite(image).all()
        assert np.isfinite(label).all()


def test_every_module_with_a_trained_model_is_tested_here():
    from pathlib import Path

    import vsebench.methods

    folder = Path(vsebench.methods.__file__).parent
    elsewhere = {"ease", "item_knn", "implicit_als", "lightfm_warp"}  # test_baselines.py
    names = {path.stem for path in folder.glob("*.py")} - {"__init__", "base", "sgd"} - elsewhere
    assert {name for name in names if issubclass(load_method(name), Method)} == set(TRAINED)


def test_unknown_method_names_the_missing_module():
    with pytest.raises(UserError, match=r"there is no module src/vsebench/methods/nonsense\.py"):
        load_method("nonsense")


def test_a_module_without_a_model_is_refused():
    with pytest.raises(UserError, match="defines no class Model"):
        load_method("sgd")


@pytest.mark.parametrize(("key", "value"), [("learning_rate", 0), ("factors", 0), ("factors", 1.5), ("deviation", "x")])
def test_settings_out_of_range_are_refused(key, value):
    with pytest.raises(UserError, match=key):
        read_settings(load_method("opt_auc"), SGD | {key: value}, "some.yaml")
