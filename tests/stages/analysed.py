"""A small fitted model, and the stage `analyse` run on it in this process."""

import json
import shutil

import numpy as np
import polars as pl

from tests.builders import matrix_of
from tests.stages.small import run, write_labels
from vsebench import models
from vsebench.core import schemas
from vsebench.core.storage import write_table
from vsebench.core.tasks import Case, Task
from vsebench.data import splits
from vsebench.data.problem import HeldOut, LabelMatrix, Split, Training
from vsebench.evaluation.analyses.base import load_analysis
from vsebench.models import Embeddings

CASE = Case(Task("tiny", "official"), "my_row", 1)
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
    write_labels(processed, ["a", "b", "c"])
    images = {"image": range(4), "id": ["w", "x", "y", "z"], "part": None, "has_features": False}
    write_table(pl.DataFrame(images, schema=schemas.IMAGES), schemas.IMAGES, processed / "images.parquet")


def analyse(folder, name, *rows, siblings=False, features=None):
    """Run an analysis on `results` and `processed` of a folder; return its exit status.

    The analysis finds the splits and the files in its READS, and no others. `features` is a file of the data set tiny.
    """
    reads, seen = load_analysis(name).READS, folder / "seen"
    kept = {*reads.model, *reads.decided, *reads.dataset, *(["siblings.parquet"] if reads.siblings else [])}
    kept |= {"features.npy", "images.parquet"} if reads.features else set()

    def others(path, names):
        return [] if path.endswith("/split") else [name for name in names if "." in name and name not in kept]

    shutil.rmtree(seen, ignore_errors=True)
    for part in ("results", "processed"):
        shutil.copytree(folder / part, seen / part, ignore=others)
    options = ["--with-siblings", "tiny"] if siblings else []
    if features:
        files = [str(seen / "processed" / "tiny" / features)]
        options += ["--features", json.dumps({"/".join(row.split("/")[:3]): files for row in rows})]
    rows = rows or ["tiny/official/my_row"]
    return run("analyse", name, "--results", seen / "results", "--processed", seen / "processed", "--variants", *rows,
               "--seeds", 1, *options, "--out", folder / f"{name}.parquet")  # fmt: skip


def analysed(folder, name, *rows, **options):
    """Run an analysis; returns the table that it wrote."""
    assert analyse(folder, name, *rows, **options) == 0
    found = pl.read_parquet(folder / f"{name}.parquet")
    assert found.schema == pl.Schema(load_analysis(name).SCHEMA)
    return found
