"""The stage `label_vectors`."""

import numpy as np
import polars as pl

from tests.stages.small import run
from tests.stages.test_images_from_words import CASE, LABELS, write
from vsebench import models
from vsebench.core import schemas
from vsebench.models import LabelWeights


def made(folder):
    out = folder / "label_vectors.parquet"
    assert run("label_vectors", "--results", folder / "results", "--processed", folder / "processed", "--rows",
               "tiny/official/my_row", "--seeds", 1, "--out", out) == 0  # fmt: skip
    return pl.read_parquet(out, schema=schemas.LABEL_VECTORS)


def test_vectors_have_length_1_and_their_labels_names(tmp_path):
    write(tmp_path)
    found = made(tmp_path)
    assert found["label"].to_list() == ["a", "b", "c"]
    expected = LABELS / np.linalg.norm(LABELS, axis=1, keepdims=True)
    np.testing.assert_allclose(np.array(found["vector"].to_list()), expected, rtol=1e-6)


def test_a_model_without_vectors_has_no_lines(tmp_path):
    write(tmp_path)
    models.save(LabelWeights(np.zeros((3, 3), dtype=np.float32)), CASE.folder(tmp_path / "results") / "model.npz")
    assert made(tmp_path).is_empty()
