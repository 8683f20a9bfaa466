"""Splits in files."""

from dataclasses import fields

import numpy as np
import polars as pl
import pytest

from tests.builders import matrix_of
from vsebench.core.errors import UserError
from vsebench.core.schemas import PAIRS
from vsebench.core.storage import read_json, read_parquet
from vsebench.data import splits
from vsebench.data.problem import Dataset, HeldOut, LabelMatrix, Split, Training
from vsebench.protocols.base import split_dataset


@pytest.fixture(scope="module")
def dataset():
    rng = np.random.default_rng(0)
    rows = [np.flatnonzero(row).tolist() for row in rng.random((60, 9)) < 0.4]
    counts = rng.integers(1, 4, sum(map(len, rows)))
    return Dataset(
        matrix_of(rows, 9, counts), np.tile(["train", "train", "test"], 20), with_word_vectors=np.arange(9) < 8
    )


def same(one, other):
    """Return whether two objects contain the same arrays."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, Split | Training | HeldOut | LabelMatrix):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    return one == other


@pytest.mark.parametrize(
    "protocol", ["distinct", "regions", "images", "official", "unseen_labels", "unseen_labels_all"]
)
def test_what_is_saved_is_loaded(tmp_path, dataset, protocol):
    split = split_dataset(protocol, dataset, 1)
    splits.save(split, tmp_path)
    assert same(splits.load(tmp_path), split)
    assert {path.name for path in tmp_path.iterdir()} == set(splits.FILES)


def test_labels_that_are_not_learnt_and_no_candidates_stay_so(tmp_path):
    train = matrix_of([[0], [1], []], 3)
    valid = matrix_of([[2]], 3)
    nothing = matrix_of([], 3)
    learnt, all_three = np.array([True, True, False]), np.ones(3, dtype=bool)
    images = np.array([0, 1], dtype=np.int32)
    last = np.array([2], dtype=np.int32)
    split = Split(
        Training(train, images, learnt),
        HeldOut(last, valid, matrix_of([[]], 3), ~learnt),
        Training(matrix_of([[0], [1], [2]], 3), np.arange(3, dtype=np.int32), all_three),
        HeldOut(last[:0], nothing, nothing, all_three),
    )
    splits.save(split, tmp_path)
    assert same(splits.load(tmp_path), split)


def test_without_the_test_its_file_is_not_opened(tmp_path, dataset):
    splits.save(split_dataset("distinct", dataset, 1), tmp_path)
    whole = splits.load(tmp_path)
    (tmp_path / "test.parquet").unlink()
    assert "test.parquet" not in splits.FIT_FILES
    found = splits.load(tmp_path, with_test=False)
    assert same(found.final, whole.final)
    assert same(found.valid, whole.valid)
    assert len(found.test.images) == found.test.right.n_pairs == 0
    with pytest.raises(UserError, match=r"test\.parquet: no such file"):
        splits.load(tmp_path)


def test_tables_hold_pairs_of_images_and_counts(tmp_path, dataset):
    splits.save(split_dataset("regions", dataset, 1), tmp_path)
    parts = {name: read_parquet(tmp_path / f"{name}.parquet") for name in ("train", "valid", "test")}
    assert all(part.schema == pl.Schema(PAIRS) for part in parts.values())
    total = pl.concat(parts.values()).group_by("image", "label").agg(pl.col("count").sum()).sort("image", "label")
    assert total.equals(dataset.labels.to_pairs())
    sizes = {f"n_{name}": int(part["count"].sum()) for name, part in parts.items()}
    record = read_json(tmp_path / "split.json")
    assert len(record.pop("hash")) == 64
    assert record.pop("n_test_learnt") > 0  # one of several regions with the same label is held out
    assert record == {"n_images": 60, "n_labels": 9} | sizes
