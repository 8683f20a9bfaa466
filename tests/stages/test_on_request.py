"""The stages that gather nearest labels, example images and precision at every length of a list."""

import numpy as np
import polars as pl
import pytest

from tests.builders import matrix_of
from tests.stages.small import run
from vsebench import models
from vsebench.core import schemas
from vsebench.core.places import Case, Place
from vsebench.core.storage import write_json, write_table
from vsebench.data import splits
from vsebench.data.problem import HeldOut, LabelMatrix, Split, Training
from vsebench.evaluation.full_sample_loss import full_sample_losses
from vsebench.evaluation.sampler_distance import distances
from vsebench.models import Embeddings, LabelWeights
from vsebench.stages.neighbours_of_labels import nearest

CASE = Case(Place("tiny", "official"), "my_row", 1)
VECTORS = np.array([[1, 0], [2, 0.2], [0, 1], [0, 0]], dtype=np.float32)  # label 3 has no direction


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a model, its lists and ranks of three images, and four labels; 0 and 2 are siblings."""
    processed, results = tmp_path / "processed" / "tiny", tmp_path / "results"
    case = CASE.folder(results)
    case.mkdir(parents=True)
    models.save(Embeddings(np.ones((3, 2), dtype=np.float32), VECTORS), case / "model.npz")
    labels = {"label": range(4), "name": ["a", "b", "c", "d"], "frequency": [5, 4, 3, 2], "occurrences": [5, 4, 3, 2]}
    write_table(pl.DataFrame(labels, schema=schemas.LABELS), schemas.LABELS, processed / "labels.parquet")
    images = {"image": range(3), "id": ["x", "y", "z"], "part": ["test"] * 3, "has_features": [True] * 3}
    write_table(pl.DataFrame(images, schema=schemas.IMAGES), schemas.IMAGES, processed / "images.parquet")
    siblings = pl.DataFrame({"label": [0, 2], "sibling": [2, 0]}, schema=schemas.SIBLINGS)
    write_table(siblings, schemas.SIBLINGS, processed / "siblings.parquet")
    places = ((0, 0, 0, 1, 2), (0, 1, 2, 2, 2), (2, 2, 2, 1, 3))  # the labels of every image are ranked 0, 3, 2, 1
    keys = ("image", "label", "above", "right", "negatives")
    right = pl.DataFrame(
        [dict(zip(keys, row, strict=True)) | {"tied": 0, "cold": False} for row in places], schema=schemas.RANKS
    )
    write_table(right, schemas.RANKS, case / "ranks.parquet")
    listed = [(image, place, label) for image in range(3) for place, label in enumerate([0, 3, 2], start=1)]
    write_table(pl.DataFrame(listed, schema=schemas.LISTS, orient="row"), schemas.LISTS, case / "lists.parquet")
    return tmp_path


def made(folder, stage, schema, *options):
    """Run a stage; returns the table that it wrote."""
    out = folder / f"{stage}.parquet"
    arguments = ["--results", folder / "results", "--processed", folder / "processed", "--rows", "tiny/official/my_row"]
    assert run(stage, *arguments, "--seeds", 1, *options, "--out", out) == 0
    found = pl.read_parquet(out)
    assert found.schema == pl.Schema(schema)
    return found


def test_nearest_by_cosine():
    order, cosines = nearest(VECTORS)
    assert order[0].tolist() == [1, 2, 3]  # label 2 and label 3 have the cosine 0; the smaller comes first
    assert cosines[0].tolist() == pytest.approx([2 / np.sqrt(4.04), 0, 0])
    assert order[3].tolist() == [0, 1, 2]


def test_neighbours_have_names_and_say_who_is_a_sibling(folder):
    found = made(folder, "neighbours_of_labels", schemas.NEIGHBOURS_OF_LABELS, "--with-siblings", "tiny")
    of_a = found.filter(label="a")
    assert of_a["neighbour"].to_list() == ["b", "c", "d"]
    assert of_a["sibling"].to_list() == [False, True, False]
    assert of_a.select("siblings", "frequency", "n_labels").row(0) == (1, 5, 4)
    assert found.filter(label="b")["siblings"].to_list() == [0, 0, 0]
    without = made(folder, "neighbours_of_labels", schemas.NEIGHBOURS_OF_LABELS)
    assert without["sibling"].null_count() == len(without)


def test_labels_of_a_set_that_only_trains_are_no_neighbours(folder):
    """At a place that joins two data sets, a model's first labels are those of the tested one."""
    case, expected = CASE.folder(folder / "results"), made(folder, "neighbours_of_labels", schemas.NEIGHBOURS_OF_LABELS)
    more = np.vstack([VECTORS, VECTORS[:2]])
    models.save(Embeddings(np.zeros((3, VECTORS.shape[1]), dtype=np.float32), more), case / "model.npz")
    assert made(folder, "neighbours_of_labels", schemas.NEIGHBOURS_OF_LABELS).equals(expected)


def test_a_model_without_vectors_of_labels_is_one_line(folder, capsys):
    weights = LabelWeights(np.eye(4, dtype=np.float32))
    models.save(weights, CASE.folder(folder / "results") / "model.npz")
    arguments = ["--results", folder / "results", "--processed", folder / "processed", "--rows", "tiny/official/my_row"]
    assert run("neighbours_of_labels", *arguments, "--seeds", 1, "--out", folder / "out.parquet") == 1
    assert "my_row on tiny (official, seed 1): the model has no vectors of labels" in capsys.readouterr().err


def test_examples_are_the_first_images_with_a_label(folder):
    found = made(folder, "examples", schemas.EXAMPLES, "--with-siblings", "tiny")
    assert found["image"].unique(maintain_order=True).to_list() == ["x", "z"]
    first = found.filter(image="x")
    assert first["truth"][0] == "a, b"
    assert first["label"].to_list() == ["a", "d", "c"]
    assert first["right"].to_list() == [True, False, False]
    assert first["sibling"].to_list() == [True, False, True]


def test_precision_at_every_length(folder):
    found = made(folder, "precision_at", schemas.PRECISION_AT, "--with-siblings", "tiny")
    assert found["cutoff"].to_list() == list(range(1, 11))
    # Image x has the right label first, image z at place 3; its sibling a is first.
    assert found["precision"][:3].to_list() == pytest.approx([1 / 2, 1 / 4, 1 / 3])
    assert found["sibling_precision"][:3].to_list() == pytest.approx([1, 1 / 2, 2 / 3])


def fitted_row(folder, settings, module="opt_auc", refit=True):
    """Write a split of three images with the labels 0, then 0 and 1, then none, and what the row was fitted with.

    Label 1 is there for validation: a row that is not refit does not learn it.
    """
    first, training = (Training.all_of(matrix_of([[0], second, []], 4)) for second in ([0], [0, 1]))
    nothing = LabelMatrix.empty(0, 4)
    empty = HeldOut(np.empty(0, dtype=np.int32), nothing, nothing, np.ones(4, dtype=bool))
    splits.save(Split(first, empty, training, empty), CASE.split(folder / "results"))
    write_json(
        {"module": module, "refit": refit, "selection": {"settings": settings}},
        CASE.folder(folder / "results") / "run.json",
    )


def test_full_sample_losses_are_of_the_training_labels(folder):
    fitted_row(folder, {})
    found = made(folder, "full_sample_loss", schemas.FULL_SAMPLE_LOSS)
    assert found["beta_0"].to_list() == [1, 2, 4, 16, 128]
    expected = full_sample_losses(np.ones((3, 2), np.float32), VECTORS, matrix_of([[0], [0, 1], []], 4), [1, 2])
    assert found["loss"].to_list()[:2] == pytest.approx(expected)
    fitted_row(folder, {}, refit=False)
    found = made(folder, "full_sample_loss", schemas.FULL_SAMPLE_LOSS)
    expected = full_sample_losses(np.ones((3, 2), np.float32), VECTORS, matrix_of([[0], [0], []], 4), [1, 2])
    assert found["loss"].to_list()[:2] == pytest.approx(expected)
    fitted_row(folder, {"gamma": 0.5}, "vse_fs")
    found = made(folder, "full_sample_loss", schemas.FULL_SAMPLE_LOSS)
    expected = full_sample_losses(np.ones((3, 2), np.float32), VECTORS, matrix_of([[0], [0, 1], []], 4), [1, 2], 0.5)
    assert found["loss"].to_list()[:2] == pytest.approx(expected)


def test_sampler_distances_are_of_the_row_s_own_lambda(folder):
    fitted_row(folder, {"rank_scale": 0.5})
    found = made(folder, "sampler_distance", schemas.SAMPLER_DISTANCE)
    assert found["image"].to_list() == [0, 1]  # image 2 has no label to learn
    of_lists, of_uniform = distances(np.ones((2, 2), np.float32), VECTORS, 2.0)
    assert found["lists"].to_list() == pytest.approx(of_lists.tolist())
    assert found["uniform"].to_list() == pytest.approx(of_uniform.tolist())


@pytest.mark.parametrize("stage", ["full_sample_loss", "sampler_distance"])
def test_a_row_without_vectors_of_images_is_one_line(folder, stage, capsys):
    fitted_row(folder, {})
    models.save(LabelWeights(np.eye(4, dtype=np.float32)), CASE.folder(folder / "results") / "model.npz")
    arguments = ["--results", folder / "results", "--processed", folder / "processed", "--rows", "tiny/official/my_row"]
    assert run(stage, *arguments, "--seeds", 1, "--out", folder / "out.parquet") == 1
    assert "name another row in the paper's file" in capsys.readouterr().err
