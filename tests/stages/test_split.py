"""The stage `split`; tests/protocols has what each protocol holds out."""

import re

import numpy as np
import polars as pl
import pytest

from tests.stages.small import run, split, write_processed
from vsebench.core.storage import read_parquet, write_arrays, write_parquet
from vsebench.data import splits


def test_the_same_seed_writes_the_same_bytes(tmp_path):
    write_processed(tmp_path)
    files = []
    for _ in range(2):
        assert split(tmp_path, "images", seed=4) == 0
        files.append([(tmp_path / "split" / name).read_bytes() for name in splits.FILES])
    assert files[0] == files[1]


def split_with_unseen(folder, text):
    """Split under `unseen_labels_all` with named unseen labels; the last label has no word vector."""
    write_processed(folder)
    known = np.arange(24) < 23
    write_arrays(folder / "w.npz", vectors=np.ones((24, 2), dtype=np.float32) * known[:, np.newaxis], known=known)
    (folder / "unseen.txt").write_text(text)
    arguments = ["--processed", folder, "--word-vectors", folder / "w.npz", "--unseen-labels", folder / "unseen.txt"]
    return run("split", *arguments, "--protocol", "unseen_labels_all", "--seed", 1, "--out", folder / "split")


def test_named_labels_are_never_trained(tmp_path):
    assert split_with_unseen(tmp_path, "l3\nl20\r\nl7\n\n") == 0
    labels = read_parquet(tmp_path / "split/labels.parquet")
    assert labels.filter(pl.col("test") & ~pl.col("final"))["label"].to_list() == [3, 7, 20]
    assert not set(read_parquet(tmp_path / "split/final.parquet")["label"]) & {3, 7, 20}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("l3\nL4\n", r"line 2: the data set \S+ has no label 'L4'"),
        ("l23\n", "line 1: 'l23' has no word vector to rank it by; remove this line"),
        ("\n", r"unseen\.txt: contains no label"),
    ],
)
def test_unseen_labels_that_are_not_there_are_one_line(tmp_path, capsys, text, message):
    assert split_with_unseen(tmp_path, text) == 1
    error = capsys.readouterr().err
    assert re.search(message, error)
    assert error.count("\n") == 1


def without_partition(images):
    return images.with_columns(part=pl.lit(None, pl.String))


def test_official_needs_a_partition(tmp_path, capsys):
    write_processed(tmp_path)
    write_parquet(without_partition(read_parquet(tmp_path / "images.parquet")), tmp_path / "images.parquet")
    assert split(tmp_path, "official") == 1
    error = capsys.readouterr().err
    assert f"{tmp_path}: this data set has no official partition; use the protocol 'images' or, for a table of" in error
    assert error.count("\n") == 1


def test_a_part_without_a_label_is_refused(tmp_path, capsys):
    write_processed(tmp_path)
    pairs = read_parquet(tmp_path / "pairs.parquet")
    write_parquet(pairs.filter(pl.col("image") % 20 > 3), tmp_path / "pairs.parquet")
    assert split(tmp_path, "official") == 1
    assert "protocol 'official' leaves no label for the test" in capsys.readouterr().err
