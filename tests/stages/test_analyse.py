"""The stage `analyse`: labels near others, example images, precision at every length of a list, and losses."""

import os
import shutil
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from tests.builders import matrix_of
from tests.stages.analysed import CASE, analyse, analysed
from tests.stages.small import write_labels
from vsebench import models
from vsebench.core import schemas
from vsebench.core.modules import PACKAGE
from vsebench.core.storage import read_parquet, write_json, write_table
from vsebench.data import splits
from vsebench.data.problem import HeldOut, LabelMatrix, Split, Training
from vsebench.evaluation.analyses.full_sample_loss import full_sample_losses
from vsebench.evaluation.analyses.neighbours_of_labels import nearest
from vsebench.evaluation.analyses.sampler_distance import distances
from vsebench.models import Embeddings, LabelWeights

VECTORS = np.array([[1, 0], [2, 0.2], [0, 1], [0, 0]], dtype=np.float32)  # label 3 has no direction


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a model, its lists and ranks of three images, and four labels; 0 and 2 are siblings."""
    processed, results = tmp_path / "processed" / "tiny", tmp_path / "results"
    case = CASE.folder(results)
    case.mkdir(parents=True)
    models.save(Embeddings(np.ones((3, 2), dtype=np.float32), VECTORS), case / "model.npz")
    write_labels(processed, ["a", "b", "c", "d"], [5, 4, 3, 2])
    images = {"image": range(3), "id": ["x", "y", "z"], "part": ["test"] * 3, "has_features": [True] * 3}
    write_table(pl.DataFrame(images, schema=schemas.IMAGES), schemas.IMAGES, processed / "images.parquet")
    siblings = pl.DataFrame({"label": [0, 2], "sibling": [2, 0]}, schema=schemas.SIBLINGS)
    write_table(siblings, schemas.SIBLINGS, processed / "siblings.parquet")
    lines = ((0, 0, 0, 1, 2), (0, 1, 2, 2, 2), (2, 2, 2, 1, 3))  # the labels of every image are ranked 0, 3, 2, 1
    keys = ("image", "label", "above", "right", "negatives")
    right = pl.DataFrame(
        [dict(zip(keys, line, strict=True)) | {"tied": 0, "cold": False} for line in lines], schema=schemas.RANKS
    )
    write_table(right, schemas.RANKS, case / "ranks.parquet")
    listed = [(image, rank, label) for image in range(3) for rank, label in enumerate([0, 3, 2], start=1)]
    write_table(pl.DataFrame(listed, schema=schemas.LISTS, orient="row"), schemas.LISTS, case / "lists.parquet")
    return tmp_path


def test_nearest_by_cosine():
    order, cosines = nearest(VECTORS)
    assert order[0].tolist() == [1, 2, 3]  # label 2 and label 3 have the cosine 0; the smaller comes first
    assert cosines[0].tolist() == pytest.approx([2 / np.sqrt(4.04), 0, 0])
    assert order[3].tolist() == [0, 1, 2]


def test_neighbours_have_names_and_say_who_is_a_sibling(folder):
    found = analysed(folder, "neighbours_of_labels", siblings=True)
    of_a = found.filter(label="a")
    assert of_a["neighbour"].to_list() == ["b", "c", "d"]
    assert of_a["sibling"].to_list() == [False, True, False]
    assert of_a.select("siblings", "frequency", "n_labels").row(0) == (1, 5, 4)
    assert found.filter(label="b")["siblings"].to_list() == [0, 0, 0]
    without = analysed(folder, "neighbours_of_labels")
    assert without["sibling"].null_count() == len(without)


def test_labels_of_a_set_that_only_trains_are_no_neighbours(folder):
    """For a task that joins two data sets, a model's first labels are those of the tested one."""
    case, expected = CASE.folder(folder / "results"), analysed(folder, "neighbours_of_labels")
    more = np.vstack([VECTORS, VECTORS[:2]])
    models.save(Embeddings(np.zeros((3, VECTORS.shape[1]), dtype=np.float32), more), case / "model.npz")
    assert analysed(folder, "neighbours_of_labels").equals(expected)


def test_examples_are_the_first_images_with_a_label(folder):
    found = analysed(folder, "examples", siblings=True)
    assert found["image"].unique(maintain_order=True).to_list() == ["x", "z"]
    first = found.filter(image="x")
    assert first["truth"][0] == "a, b"
    assert first["label"].to_list() == ["a", "d", "c"]
    assert first["right"].to_list() == [True, False, False]
    assert first["sibling"].to_list() == [True, False, True]


def test_precision_at_every_length(folder):
    found = analysed(folder, "precision_at", siblings=True)
    assert found["cutoff"].to_list() == list(range(1, 11))
    # Image x has the right label first, image z at rank 3; its sibling a is first.
    assert found["precision"][:3].to_list() == pytest.approx([1 / 2, 1 / 4, 1 / 3])
    assert found["sibling_precision"][:3].to_list() == pytest.approx([1, 1 / 2, 2 / 3])


def fitted_variant(folder, settings, module="opt_auc", refit=True):
    """Write a split of three images with the labels 0, then 0 and 1, then none, and what the variant was fitted with.

    Label 1 is there for validation: a variant that is not refit does not learn it.
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
    fitted_variant(folder, {})
    found = analysed(folder, "full_sample_loss")
    assert found["beta_0"].to_list() == [1, 2, 4, 16, 128]
    expected = full_sample_losses(np.ones((3, 2), np.float32), VECTORS, matrix_of([[0], [0, 1], []], 4), [1, 2])
    assert found["loss"].to_list()[:2] == pytest.approx(expected)
    fitted_variant(folder, {}, refit=False)
    found = analysed(folder, "full_sample_loss")
    expected = full_sample_losses(np.ones((3, 2), np.float32), VECTORS, matrix_of([[0], [0], []], 4), [1, 2])
    assert found["loss"].to_list()[:2] == pytest.approx(expected)
    fitted_variant(folder, {"gamma": 0.5}, "vse_fs")
    found = analysed(folder, "full_sample_loss")
    expected = full_sample_losses(np.ones((3, 2), np.float32), VECTORS, matrix_of([[0], [0, 1], []], 4), [1, 2], 0.5)
    assert found["loss"].to_list()[:2] == pytest.approx(expected)


def test_sampler_distances_are_of_the_variants_own_lambda(folder):
    fitted_variant(folder, {"rank_scale": 0.5})
    found = analysed(folder, "sampler_distance")
    assert found["image"].to_list() == [0, 1]  # image 2 has no label to learn
    of_lists, of_uniform = distances(np.ones((2, 2), np.float32), VECTORS, 2.0)
    assert found["lists"].to_list() == pytest.approx(of_lists.tolist())
    assert found["uniform"].to_list() == pytest.approx(of_uniform.tolist())


@pytest.mark.parametrize("name", ["full_sample_loss", "neighbours_of_labels", "sampler_distance"])
def test_a_model_without_vectors_is_one_line(folder, name, capsys):
    fitted_variant(folder, {})
    models.save(LabelWeights(np.eye(4, dtype=np.float32)), CASE.folder(folder / "results") / "model.npz")
    assert analyse(folder, name) == 1
    assert "in the paper's file in config/papers, name" in capsys.readouterr().err


NEW = '''"""Count the factors of some models."""

import polars as pl

from vsebench.core.schemas import CASE
from vsebench.evaluation.analyses.base import Reads

SCHEMA = CASE | {"factors": pl.Int64}
READS = Reads(model=("model.npz",))


def analyse(case):
    return pl.DataFrame({"factors": [case.model.label.shape[1]]})
'''


def test_a_new_analysis_is_one_file(folder):
    """The stage runs it, and tables, figures and claims can name it."""
    shutil.copytree(PACKAGE, folder / "src" / "vsebench", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "src" / "vsebench" / "evaluation" / "analyses" / "factors.py").write_text(NEW, encoding="utf-8")
    code = "from vsebench import cli; from vsebench.rendering.outline import GATHERED; import sys; "
    code += "print(GATHERED['factors']); cli.main(sys.argv[1:])"
    arguments = ["stage", "analyse", "factors", "--results", folder / "results", "--processed", folder / "processed"]
    arguments += ["--variants", "tiny/official/my_row", "--seeds", "1", "--out", folder / "factors.parquet"]
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True)
    assert done.stdout == "factors.parquet\n", done.stderr
    assert read_parquet(folder / "factors.parquet").row(0) == ("tiny", "official", "my_row", 1, 2)
