"""The protocol `from-<data set>`: two data sets are joined, one is trained on and the other tested on."""

import numpy as np
import polars as pl
import pytest

from tests.builders import dense, rows_of
from tests.stages.small import run, write_labels
from vsebench.core.errors import UserError
from vsebench.core.schemas import IMAGES, PAIRS
from vsebench.core.storage import read_parquet, write_array, write_arrays, write_table
from vsebench.data import needs, splits
from vsebench.data.problem import Dataset, LabelMatrix
from vsebench.protocols.base import load_protocol, source_of, split_dataset

WORD_VECTORS = {"sky": 1.0, "sea": 2.0, "cat": 3.0, "tree": 4.0, "car": 5.0}  # `img_07` has none
TESTED = (["sky", "img_07", "sea", "car"], [[0, 2], [1], [0, 3], [2], []], ["train", "test", "test", None, "test"])
TRAINED = (
    ["cat", "sea", "tree"],
    [[0, 1], [1, 2], [2], [0], [1], [0, 2]],
    ["train", "test", "train", "train", "train", "valid"],
)


def write_set(folder, names, rows, parts, dimensions=3, word_vectors=2, prefix=""):
    """Write a processed data set whose features hold the number of the image, and words that of the name."""
    pairs = [(image, label, 1 + image % 2) for image, row in enumerate(rows) for label in row]
    write_table(pl.DataFrame(pairs, schema=PAIRS, orient="row"), PAIRS, folder / "pairs.parquet")
    images = {"image": range(len(rows)), "id": [f"{prefix or folder.name}{i}" for i in range(len(rows))], "part": parts}
    images["has_features"] = [image != 0 for image in range(len(rows))]
    write_table(pl.DataFrame(images, schema=IMAGES), IMAGES, folder / "images.parquet")
    write_labels(folder, names, frequency=0)
    vectors = np.array([[WORD_VECTORS.get(name, 0)] * word_vectors for name in names], dtype=np.float32)
    write_arrays(folder / "word_vectors.npz", vectors=vectors, known=vectors.any(axis=1))
    values = np.tile(np.arange(len(rows), dtype=np.float32)[:, np.newaxis], (1, dimensions))
    write_array(values, folder / "features.npy")


def join(folder):
    sets = [folder / "tested", folder / "trained"]
    return run("join", "--tested", sets[0], "--trained", sets[1], "--features", *(one / "features.npy" for one in sets),
               "--out", folder / "joined")  # fmt: skip


@pytest.fixture
def joined(tmp_path):
    write_set(tmp_path / "tested", *TESTED)
    write_set(tmp_path / "trained", *TRAINED)
    assert join(tmp_path) == 0
    return tmp_path / "joined"


def test_images_and_labels_of_the_tested_set_keep_their_numbers(joined):
    labels = read_parquet(joined / "labels.parquet")
    assert labels["name"].to_list() == ["sky", "img_07", "sea", "car", "cat", "tree"]
    assert labels["trained"].to_list() == [False, False, True, False, True, True]
    assert labels["tested"].to_list() == [True] * 4 + [False] * 2
    images = read_parquet(joined / "images.parquet")
    tested, trained = [None, "test", "test", None, "test"], ["train", None, "train", "train", "train", "valid"]
    assert images["part"].to_list() == tested + trained
    rows = [[], [1], [0, 3], [], [], [2, 4], [], [5], [4], [2], [4, 5]]
    dataset = splits.load_dataset(joined, joined / "word_vectors.npz")
    assert rows_of(dataset.labels) == rows
    assert dataset.labels.count_of_pair.tolist() == [2, 1, 1, 1, 1, 1, 2, 1, 2, 2]
    assert needs.WORD_VECTORS.load(joined / "word_vectors.npz").vectors[:, 0].tolist() == [1, 0, 2, 5, 3, 4]
    assert dataset.with_word_vectors.tolist() == [True, False, True, True, True, True]


def test_what_the_trained_set_says_of_tested_images_is_kept_by_id_and_name(tmp_path):
    names, rows, parts = TRAINED
    write_set(tmp_path / "tested", *TESTED)
    write_set(tmp_path / "trained", names, rows, parts)
    path = tmp_path / "trained" / "images.parquet"
    ids = ["tested2", "tested1", "i9", "i8", "tested0", "tested4"]
    write_table(read_parquet(path).with_columns(id=pl.Series(ids)), IMAGES, path)
    assert join(tmp_path) == 0
    given = needs.GIVEN_LABELS.load(tmp_path / "joined" / "given.parquet")
    # Only `sea` is a label of both, 2 in the tested set; the trained set's images 0, 1 and 4 have it.
    assert rows_of(given) == [[2], [2], [2]] + [[]] * 8
    assert given.count_of_pair.tolist() == [1, 2, 1]


def test_an_image_that_is_tested_is_not_trained_on(tmp_path, capsys):
    write_set(tmp_path / "tested", *TESTED, prefix="i")  # tests i1, i2 and i4
    write_set(tmp_path / "trained", *TRAINED, prefix="i")
    assert join(tmp_path) == 0
    parts = read_parquet(tmp_path / "joined" / "images.parquet")["part"].to_list()
    assert parts[5:] == ["train", None, None, "train", None, "valid"]
    assert read_parquet(tmp_path / "joined" / "pairs.parquet")["image"].unique().to_list() == [1, 2, 5, 8, 10]
    assert "tested have the same ids: 3\n" in capsys.readouterr().out


def test_features_stand_in_the_order_of_the_images(joined):
    features = needs.FEATURES.load(joined / "features.npy")
    assert features.values[:, 0].tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5]
    assert np.flatnonzero(~features.known).tolist() == [0, 5]


def test_labels_of_one_set_are_learnt_and_those_of_the_other_asked_for(joined):
    split = split_dataset("from-trained", splits.load_dataset(joined, joined / "word_vectors.npz"), 1)
    assert split.first.images.tolist() == [5, 7, 8, 9]
    assert split.final.images.tolist() == [5, 7, 8, 9, 10]
    assert split.valid.images.tolist() == [10]
    assert split.test.images.tolist() == [1, 2, 4]
    assert np.flatnonzero(split.first.learnt).tolist() == np.flatnonzero(split.valid.candidates).tolist() == [2, 4, 5]
    assert np.flatnonzero(split.test.candidates).tolist() == [0, 2, 3]  # img_07 has no word vector
    assert rows_of(split.test.right) == [[], [0, 3], []]
    assert not dense(split.final.labels)[:, ~split.final.learnt].any()
    assert split.test.known.n_pairs == 0


def test_every_image_of_a_set_without_a_partition_is_trained_or_tested_on(tmp_path):
    write_set(tmp_path / "tested", *TESTED[:2], [None] * 5)
    write_set(tmp_path / "trained", *TRAINED[:2], [None] * 6)
    assert join(tmp_path) == 0
    assert read_parquet(tmp_path / "joined" / "images.parquet")["part"].to_list() == ["test"] * 5 + ["train"] * 6


def test_the_stage_split_reads_what_was_joined(joined, tmp_path):
    assert run("split", "--processed", joined, "--word-vectors", joined / "word_vectors.npz",
               "--protocol", "from-trained",
               "--seed", 1, "--out", tmp_path / "split") == 0  # fmt: skip
    assert splits.load(tmp_path / "split").test.images.tolist() == [1, 2, 4]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"dimensions": 4},
            "features are dense with 3 numbers and dense with 4 numbers, but must be the same for both data sets",
        ),
        (
            {"word_vectors": 3},
            "the word vectors of the two data sets have 2 and 3 dimensions; use one source for both data sets",
        ),
        ({"names": ["cat", "sea", "sea"]}, "two labels of one data set have the name 'sea'"),
    ],
)
def test_sets_that_cannot_be_joined_are_refused_in_one_line(tmp_path, capsys, changes, message):
    names, rows, parts = TRAINED
    write_set(tmp_path / "tested", *TESTED)
    write_set(tmp_path / "trained", changes.pop("names", names), rows, parts, **changes)
    assert join(tmp_path) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_data_set_that_is_not_joined_is_refused():
    with pytest.raises(UserError, match="this protocol needs two joined data sets"):
        load_protocol("from-other").split(Dataset(LabelMatrix.empty(3, 2)), np.random.default_rng(1))


def test_its_name_says_what_is_trained_on():
    protocol = load_protocol("from-mirflickr-tags457")
    assert source_of("from-mirflickr-tags457") == "mirflickr-tags457"
    assert source_of("official") is None
    assert "mirflickr-tags457" in protocol.description
    assert protocol.new_images
    assert protocol.unseen
    assert not protocol.only_unseen
    with pytest.raises(UserError, match="there is no protocol 'from-'"):
        load_protocol("from-")
