"""Models as arrays and in files; arrays that do not fit are rejected in one line."""

import numpy as np
import pytest

from tests.builders import dense, matrix_of
from vsebench import models
from vsebench.core.errors import UserError
from vsebench.core.storage import read_arrays, write_arrays
from vsebench.core.workers import workers
from vsebench.data.features import Normalisation
from vsebench.data.problem import HeldOut, Queries
from vsebench.evaluation import ranking
from vsebench.methods.by_features.kernel_ridge import KernelMap
from vsebench.methods.by_features.linear_map import EmbeddedFeatures, LinearMap
from vsebench.methods.by_features.nearest_images import NearestImages
from vsebench.methods.by_features.neighbours import NeighbourSettings
from vsebench.models import Embeddings, LabelWeights, checked_scores, checked_vectors

NO_STEPS = Normalisation((), ())


def floats(*shape):
    return np.random.default_rng(1).standard_normal(shape, dtype=np.float32)


def one_of_each_kind():
    matrix = matrix_of([[0], [1, 2]], 3)
    return {
        "embeddings": Embeddings(floats(4, 2), floats(3, 2)),
        "label_weights": LabelWeights(floats(3, 3)),
        "linear_map": LinearMap(floats(3, 3), NO_STEPS),
        "embedded_features": EmbeddedFeatures(floats(2, 4), floats(3, 4), NO_STEPS),
        "kernel_ridge": KernelMap(floats(3, 2), floats(2, 2), 0.5, NO_STEPS),
        "nearest_images": NearestImages(
            floats(2, 2), matrix, np.zeros(3, dtype=np.float32), NeighbourSettings(neighbours=1), NO_STEPS
        ),
    }


QUERIES = Queries(np.array([2, 0], dtype=np.int32), matrix_of([[1], [0, 2]], 3), floats(2, 2))
KINDS = sorted(one_of_each_kind())


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_survives_its_file(tmp_path, kind):
    model = one_of_each_kind()[kind]
    models.save(model, tmp_path / "model.npz")
    again = models.load(tmp_path / "model.npz")
    assert type(again) is type(model)
    assert again.kind == kind
    assert np.array_equal(again.scores(QUERIES), model.scores(QUERIES))


def refused(tmp_path, **changes):
    """Load a file with other arrays, without those changed to None; return the message."""
    arrays = read_arrays(tmp_path / "model.npz") | changes
    write_arrays(tmp_path / "other.npz", **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(UserError) as error:
        models.load(tmp_path / "other.npz")
    message = str(error.value)
    assert message.startswith(f"{tmp_path / 'other.npz'}: not a readable model (")
    assert message.endswith("); delete it and run again")
    return message


@pytest.mark.parametrize("kind", KINDS)
def test_every_array_of_a_file_is_needed(tmp_path, kind):
    models.save(one_of_each_kind()[kind], tmp_path / "model.npz")
    for name in read_arrays(tmp_path / "model.npz"):
        assert name.rpartition(".")[2] in refused(tmp_path, **{name: None})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda array: array.astype(np.float64),
        lambda array: np.asfortranarray(np.tile(array, (2, 3))) if array.ndim == 2 else array[:, np.newaxis],
        lambda array: array[np.newaxis],
        lambda array: array.astype(np.int32),
    ],
    ids=["float64", "order", "dimensions", "int32"],
)
def test_dtype_shape_and_order_of_numbers_are_checked(tmp_path, kind, spoil):
    models.save(one_of_each_kind()[kind], tmp_path / "model.npz")
    for name, array in read_arrays(tmp_path / "model.npz").items():
        if array.dtype == np.float32:
            refused(tmp_path, **{name: spoil(array)})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": np.array("unheard_of")}, "unknown kind of model 'unheard_of'"),
        ({"kind": np.array("warp")}, "unknown kind of model 'warp'"),  # a method without a model of its own
        ({"kind": np.array("..models")}, "unknown kind of model"),
        ({"version": np.array(2)}, "its format has version 2, but this release reads version 1"),
        ({"version": np.array("x")}, "invalid literal"),
        ({"image": floats(4, 3)}, "image is float32 of shape 4 x 3; it should be contiguous float32 of shape any x 2"),
    ],
)
def test_another_kind_version_or_shape_is_refused(tmp_path, changes, message):
    models.save(one_of_each_kind()["embeddings"], tmp_path / "model.npz")
    assert message in refused(tmp_path, **changes)


def test_settings_and_labels_of_a_file_are_checked(tmp_path):
    models.save(one_of_each_kind()["nearest_images"], tmp_path / "model.npz")
    assert "neighbours" in refused(tmp_path, settings=np.array('{"neighbours": 0}'))
    assert "from 0 to 2" in refused(tmp_path, label_of_pair=np.array([0, 1, 7], dtype=np.int32))
    assert "2 x 2" in refused(tmp_path, offsets=np.array([0, 1, 2, 3], dtype=np.int64))


def test_scores_of_embeddings_are_inner_products():
    model = one_of_each_kind()["embeddings"]
    assert np.allclose(model.scores(QUERIES), model.image[[2, 0]] @ model.label.T)


def test_labels_with_equal_vectors_have_equal_scores():
    """In a product of matrices of this size, the last bits of a number can depend on its column."""
    rng = np.random.default_rng(4)
    label = rng.normal(size=(101, 50)).astype(np.float32)
    label[100] = label[0]
    label[50], label[60] = 0.0, -0.0
    model = Embeddings(rng.normal(size=(500, 50)).astype(np.float32), label)
    found = checked_scores(model, Queries(np.arange(500, dtype=np.int32), matrix_of([[]] * 500, 101)))
    assert np.array_equal(found[:, 0], found[:, 100])
    assert np.array_equal(found[:, 50], found[:, 60])
    np.testing.assert_allclose(found, model.image @ label.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("image", [-1, 4])
def test_embeddings_refuse_images_that_they_have_no_vector_for(image):
    queries = Queries(np.array([0, image], dtype=np.int32), matrix_of([[], []], 3))
    with pytest.raises(UserError, match="cannot score new images"):
        one_of_each_kind()["embeddings"].scores(queries)


def test_scores_by_label_weights_are_sums_over_the_known_labels():
    model = one_of_each_kind()["label_weights"]
    assert np.allclose(model.scores(QUERIES), dense(QUERIES.known) @ model.weight, atol=1e-6)
    nothing_known = Queries(np.array([0], dtype=np.int32), matrix_of([[]], 3))
    assert model.scores(nothing_known).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [np.nan, np.inf, 1e38])
def test_a_number_that_is_not_finite_or_too_large_is_noticed(kind, number):
    model = one_of_each_kind()[kind]
    assert model.has_finite_scores()
    arrays = model.arrays()
    name = next(name for name in ("label", "weight", "features") if name in arrays)
    arrays[name] = arrays[name].copy()
    arrays[name][0, 0] = number
    assert not type(model).from_arrays(arrays).has_finite_scores()


class Wrong(Embeddings):
    """A model whose scores or vectors a user's mistake has changed."""

    def __init__(self, scores=None, vectors=None):
        super().__init__(floats(4, 2), floats(3, 2))
        object.__setattr__(self, "changed", (scores, vectors))

    def scores(self, queries):
        change = self.changed[0]
        return super().scores(queries) if change is None else change(super().scores(queries))

    def vectors(self, queries):
        change = self.changed[1]
        return super().vectors(queries) if change is None else change(super().vectors(queries))


MISTAKES = {
    "labels": lambda found: found[:, :-1],
    "images": lambda found: found[:-1],
    "type": lambda found: found.astype(np.float64),
    "order": np.asfortranarray,
    "flat": np.ravel,
    "list": lambda found: found.tolist(),
    "not finite": lambda found: np.where(np.eye(*found.shape, dtype=bool), np.float32(np.inf), found),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_a_model_returns_is_checked_before_a_kernel_reads_it(mistake):
    for checked, model, name in (
        (checked_scores, Wrong(scores=MISTAKES[mistake]), "Wrong.scores"),
        (checked_vectors, Wrong(vectors=MISTAKES[mistake]), "Wrong.vectors"),
    ):
        with pytest.raises(UserError, match=rf"^{name}[: ]"):
            checked(model, QUERIES)
    assert np.array_equal(checked_scores(Wrong(), QUERIES), Wrong().scores(QUERIES))


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("ranked", ["rank", "list_tops", "rank_images"])
def test_no_ranking_reads_outside_of_what_a_model_returns(mistake, ranked):
    held_out = HeldOut(
        np.array([0, 1, 2, 3], dtype=np.int32), matrix_of([[0], [1, 2], [2], []], 3), matrix_of([[], [], [], []], 3),
        np.ones(3, dtype=bool),
    )  # fmt: skip
    arguments = [Wrong(scores=MISTAKES[mistake]), held_out, None]
    with workers(1) as pool, pytest.raises(UserError, match=r"^Wrong\.scores"):
        getattr(ranking, ranked)(*arguments, pool, *(["here"] if ranked == "rank" else []))
