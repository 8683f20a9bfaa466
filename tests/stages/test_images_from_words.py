"""The stage `images_from_words`, and the tables that are made of it."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.builders import matrix_of
from tests.stages.small import run
from vsebench import models
from vsebench.core import schemas
from vsebench.core.places import Case, Place
from vsebench.core.storage import write_table
from vsebench.data import splits
from vsebench.data.problem import HeldOut, LabelMatrix, Split, Training
from vsebench.models import Embeddings
from vsebench.rendering.outline import Outline, OutlineRow
from vsebench.rendering.results import Results
from vsebench.rendering.tables.images_from_words import ImagesFromWords
from vsebench.rendering.tables.retrieved_images import RetrievedImages

CASE = Case(Place("tiny", "official"), "my_row", 1)
IMAGES = np.array([[9, 9], [1, 0], [4, 3], [0, 2]], dtype=np.float32)  # image 0 is trained on
LABELS = np.array([[1, 0], [0, 1], [1, 1]], dtype=np.float32)


def write(folder, known=((), (), ())):
    """Write a model, its split and the tables of its data set: test images 1 to 3 carry a, b and a, and nothing."""
    every, test = np.ones(3, dtype=bool), np.arange(1, 4, dtype=np.int32)
    training = Training(matrix_of([[0], *known], 3), np.array([0], dtype=np.int32), every)
    nothing = LabelMatrix.empty(0, 3)
    right = matrix_of([[0], [0, 1], []], 3)
    held_out = HeldOut(test, right, matrix_of(known, 3), np.array([True, True, False]))
    empty = HeldOut(test[:0], nothing, nothing, every)
    splits.save(Split(training, empty, training, held_out), CASE.split(folder / "results"))
    models.save(Embeddings(IMAGES, LABELS), CASE.folder(folder / "results") / "model.npz")
    processed = folder / "processed" / "tiny"
    labels = {"label": range(3), "name": ["a", "b", "c"], "frequency": 1, "occurrences": 1}
    write_table(pl.DataFrame(labels, schema=schemas.LABELS), schemas.LABELS, processed / "labels.parquet")
    images = {"image": range(4), "id": ["w", "x", "y", "z"], "part": None, "has_features": False}
    write_table(pl.DataFrame(images, schema=schemas.IMAGES), schemas.IMAGES, processed / "images.parquet")


def made(folder):
    out = folder / "images_from_words.parquet"
    assert run("images_from_words", "--results", folder / "results", "--processed", folder / "processed", "--rows",
               "tiny/official/my_row", "--seeds", 1, "--features", json.dumps({}), "--out", out) == 0  # fmt: skip
    found = pl.read_parquet(out)
    assert found.schema == pl.Schema(schemas.IMAGES_FROM_WORDS)
    return found


def test_images_have_their_ids_and_stand_in_the_order_of_score_or_cosine(tmp_path):
    write(tmp_path)
    found = made(tmp_path)
    assert found.select("by", "label", "images").rows() == [
        ("score", "a", 2), ("score", "b", 1), ("cosine", "a", 2), ("cosine", "b", 1),
    ]  # fmt: skip
    first = found["first"].to_list()
    assert first == [["y", "x", "z"], ["y", "z", "x"], ["x", "y", "z"], ["z", "y", "x"]]
    assert found["hits"].to_list()[1:] == [[True, False, False], [True, True, False], [False, True, False]]
    assert found["average_precision"].to_list() == pytest.approx([1, 1, 1, 1 / 2])
    assert found["r_precision"].to_list() == pytest.approx([1, 1, 1, 0])


def test_places_whose_images_are_known_have_no_lines(tmp_path):
    write(tmp_path, known=((), (2,), ()))
    assert made(tmp_path).is_empty()


@pytest.fixture
def results(tmp_path):
    write(tmp_path)
    row = OutlineRow(title="Mine", role="baseline", source="test")
    keys = {"protocols": {"official": "words"}, "seeds": [1], "metrics": ["map"], "decision_metrics": [], "papers": {}}
    keys |= {"decisions": {}, "decided": [], "left_out": [], "metrics_left_out": [], "files": []}
    found = Results(Path("none"))
    outline = Outline(places=[CASE.place], rows={"my_row": row}, **keys)
    datasets = {"tiny": {"title": "tiny set", "simulated": False}}
    vars(found).update(outline=outline, datasets=datasets, images_from_words=made(tmp_path))
    return found


def test_a_table_has_means_over_labels(results):
    table = ImagesFromWords(methods=["my_row"], beside=["other"]).table(results)
    (row,) = table.rows
    assert [cell.value for cell in row.cells[1:]] == ["Mine", 2, 1.0, pytest.approx(0.75), 1.0, pytest.approx(0.5)]


def test_controls_are_shown_where_one_of_the_rows_is(results):
    controls = ImagesFromWords(methods=["other"], beside=["my_row"])
    assert controls.rows_read() == ["other", "my_row"]
    table = controls.table(results)
    assert table.rows == ()
    assert table.notes == ("This run has none of the rows of this table at a place with new test images.",)


def test_a_table_has_the_first_images_of_its_words(results):
    table = RetrievedImages(methods=["my_row"], words=["b", "wedding"]).table(results)
    (row,) = table.rows
    assert [cell.value for cell in row.cells[1:]] == ["tiny", "b (1)", "Mine", "z, **y**, x"]
