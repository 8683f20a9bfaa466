"""The stage `map_of_vectors`, the plane that it draws, and the figure that is made of it."""

import json

import numpy as np
import polars as pl
import pytest

from tests.stages.small import run
from tests.stages.test_images_from_words import write
from vsebench.core import schemas
from vsebench.evaluation.map_of_vectors import plane
from vsebench.rendering.figures.map_of_vectors import apart


def made(folder):
    out = folder / "map_of_vectors.parquet"
    assert run("map_of_vectors", "--results", folder / "results", "--processed", folder / "processed", "--rows",
               "tiny/official/my_row", "--seeds", 1, "--features", json.dumps({}), "--out", out) == 0  # fmt: skip
    return pl.read_parquet(out, schema=schemas.MAP_OF_VECTORS)


def test_images_and_candidate_labels_are_named(tmp_path):
    write(tmp_path)
    found = made(tmp_path)
    assert found.select("name", "is_label").rows() == [
        ("x", False), ("y", False), ("z", False), ("a", True), ("b", True),
    ]  # fmt: skip
    assert found["labels"].to_list() == [["a"], ["a", "b"], [], None, None]
    assert found.select("x", "y").null_count().row(0) == (0, 0)


def test_places_whose_images_are_known_have_no_lines(tmp_path):
    write(tmp_path, known=((), (2,), ()))
    assert made(tmp_path).is_empty()


def test_the_plane_is_that_of_the_principal_components():
    generator = np.random.default_rng(1)
    images = generator.normal(size=(50, 4)) * [3, 2, 0.1, 0.1]
    labels = generator.normal(size=(7, 4))
    placed, named = plane(images, labels)
    rows = images / np.linalg.norm(images, axis=1, keepdims=True)
    variances = np.sort(np.linalg.eigvalsh(np.cov(rows.T)))[::-1][:2]
    assert placed.var(axis=0, ddof=1) == pytest.approx(variances)
    assert placed.mean(axis=0) == pytest.approx(0)
    # An image and a label of one direction lie at one point, whatever their lengths.
    found = plane(images, 5 * images[:3])
    assert found[1] == pytest.approx(found[0][:3])
    assert (named.sum(axis=0) >= 0).all()


def test_vectors_of_zeros_have_a_place():
    placed, named = plane(np.array([[1.0, 0], [0, 1], [0, 0]]), np.zeros((1, 2)))
    assert np.isfinite(placed).all()
    assert np.isfinite(named).all()


def test_labels_that_mostly_share_their_images_are_left_out():
    assert apart([["sky", "clouds"], ["sky", "clouds"], ["sky"], ["clouds", "sea"], ["sea"], ["sea"]], 8) == [
        "clouds",
        "sea",
    ]
    assert apart([["sky"], ["sea"], ["sea"]], 1) == ["sea"]
