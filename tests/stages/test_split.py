"""The stage `split`; tests/protocols has what each protocol holds out."""

import re

import numpy as np
import polars as pl
import pytest

from tests.stages.small import run, split, write_processed
from vsebench.core.storage import read_json, read_parquet, write_arrays, write_parquet
from vsebench.data import splits
from vsebench.data.problem import Dataset, LabelMatrix
from vsebench.protocols.base import split_dataset


@pytest.mark.parametrize("protocol", ["distinct", "regions", "images", "official"])
def test_every_file_of_a_split_is_written(tmp_path, protocol):
    write_processed(tmp_path)
    assert split(tmp_path, protocol) == 0
    assert {path.name for path in (tmp_path / "split").iterdir()} == set(splits.FILES)
    sizes = read_json(tmp_path / "split/split.json")
    assert (sizes["n_images"], sizes["n_labels"]) == (80, 24)
    assert sizes["n_train"] + sizes["n_valid"] + sizes["n_test"] == 320


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
        ("l23\n", "line 1: 'l23' has no word vector, so it cannot be ranked; remove it"),
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
    assert f"{tmp_path}: this data set has no official partition; use the protocol 'images'" in error
    assert error.count("\n") == 1


def test_a_part_without_a_label_is_refused(tmp_path, capsys):
    write_processed(tmp_path)
    pairs = read_parquet(tmp_path / "pairs.parquet")
    write_parquet(pairs.filter(pl.col("image") % 20 > 3), tmp_path / "pairs.parquet")
    assert split(tmp_path, "official") == 1
    assert "protocol 'official' leaves no label for the test" in capsys.readouterr().err


def test_regions_of_saiapr_leave_what_the_papers_print(mirror):
    """79,527 training and 20,000 test pairs; a fifth of the test labels stay in training, 923 images lose all."""
    from vsebench.formats.readers import saiapr

    annotations = saiapr.read(mirror, saiapr.Options(archive="saiapr_tc-12.tar.gz"))
    matrix = LabelMatrix.from_pairs(annotations.pairs, 20000, len(annotations.labels))
    found = split_dataset("regions", Dataset(matrix), 1)
    final = found.final.labels
    assert final.count_of_pair.sum() == 79527
    assert found.test.right.count_of_pair.sum() == 20000
    known = splits.pairs_of(found.test).join(final.to_pairs(), on=["image", "label"], how="semi")
    assert 0.185 < known.height / 20000 < 0.205
    assert (final.n_labels_of_row == 0).sum() == 923
