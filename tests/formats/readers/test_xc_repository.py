"""The text format of the Extreme Classification Repository; `tests/formats/test_faults.py` has its malformed files."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import check
from vsebench.formats.download import archives
from vsebench.formats.readers import xc_repository

number = st.floats(width=32, allow_nan=False, allow_infinity=False).filter(bool)


def options(**given):
    return check(xc_repository.Options, {"features": "sparse", **given}, "options")


@st.composite
def data_sets(draw):
    """Return the numbers of features and of labels, and for each image its labels and its features with values."""
    width, n_labels = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    labels = st.lists(st.integers(0, n_labels - 1), unique=True, max_size=n_labels)
    values = st.dictionaries(st.integers(0, width - 1), number, max_size=width)
    return width, n_labels, draw(st.lists(st.tuples(labels, values), min_size=1, max_size=9))


def text_of(width, n_labels, images):
    """Write a file as the repository describes it."""
    lines = [
        ",".join(map(str, labels)) + " " + " ".join(f"{at}:{value!r}" for at, value in values.items())
        for labels, values in images
    ]
    return "\n".join([f"{len(images)} {width} {n_labels}", *lines]) + "\n"


def check_content(annotations, width, n_labels, images):
    wanted_labels, wanted = np.zeros((len(images), n_labels)), np.zeros((len(images), width), dtype=np.float32)
    for row, (labels, values) in enumerate(images):
        wanted_labels[row, labels] = 1
        for at, value in values.items():
            wanted[row, at] = value
    found = np.zeros_like(wanted_labels)
    found[annotations.pairs["image"], annotations.pairs["label"]] = annotations.pairs["count"]
    assert np.array_equal(found, wanted_labels)
    assert np.array_equal(annotations.features.values.toarray(), wanted)
    assert list(annotations.labels) == [str(label) for label in range(n_labels)]


@given(data_sets(), st.integers(1, 40), st.data())
def test_what_was_written_is_read_in_blocks_of_any_size(tmp_path_factory, written, size, data):
    """Features of an image are in any order, and a block ends anywhere in a line."""
    folder = tmp_path_factory.mktemp("raw")
    (folder / "x.txt").write_text(text_of(*written))
    images = len(written[2])
    order = data.draw(st.lists(st.permutations(range(1, images + 1)), min_size=2, max_size=2))
    cut = data.draw(st.integers(1, images))
    rows = [f"{first} {second}" for first, second in zip(*order, strict=True)]
    (folder / "tr.txt").write_text("\n".join(rows[:cut]) + "\n")
    (folder / "ts.txt").write_text("\n".join(rows[cut:] or rows[:0]) + "\n")
    splits = {"train": "tr.txt", "test": "ts.txt"} if cut < images else {"train": "tr.txt"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xc_repository, "line_blocks", lambda stream: archives.line_blocks(stream, size))
        annotations = xc_repository.read(folder, options(data="x.txt", splits=splits, split=2))
    check_content(annotations, *written)
    parts = {image: "train" if at < cut else "test" for at, image in enumerate(order[1])}
    assert annotations.parts.to_list() == [parts[image] for image in range(1, images + 1)]
    assert annotations.images.to_list() == [f"x-{image:06d}" for image in range(1, images + 1)]


def test_files_that_are_parts(tmp_path):
    (tmp_path / "train.txt").write_text("2 3 2\n0 0:1\n1 2:0.5\n")
    (tmp_path / "test.txt.gz").write_bytes(gzip.compress(b"1 3 2\n 1:2\n"))
    annotations = xc_repository.read(tmp_path, options(parts={"train": "train.txt", "test": "test.txt.gz"}))
    assert annotations.images.to_list() == ["train-000001", "train-000002", "test-000001"]
    assert annotations.parts.to_list() == ["train", "train", "test"]
    check_content(annotations, 3, 2, [([0], {0: 1}), ([1], {2: 0.5}), ([], {1: 2})])
    (tmp_path / "train.txt").write_text("2 3 4\n0 0:1\n1 2:0.5\n")
    with pytest.raises(
        UserError, match=r"test\.txt\.gz: its first line states 3 features and 2 labels, unlike that of train\.txt"
    ):
        xc_repository.read(tmp_path, options(parts={"train": "train.txt", "test": "test.txt.gz"}))


def test_a_repeated_label_counts_once_and_is_reported(tmp_path):
    (tmp_path / "x.txt").write_text("1 2 3\n2,0,2 1:1\n")
    annotations = xc_repository.read(tmp_path, options(data="x.txt"))
    check_content(annotations, 2, 3, [([0, 2], {1: 1})])
    assert [(entry.what, entry.number) for entry in annotations.dropped] == [("labels", 1)]


def test_an_image_in_no_split_file_has_no_part(tmp_path):
    (tmp_path / "x.txt").write_text("3 2 1\n0 1:1\n0 0:1\n \n")
    (tmp_path / "tr.txt").write_text("3\n")
    (tmp_path / "ts.txt").write_text("1\n")
    splits = {"train": "tr.txt", "test": "ts.txt"}
    annotations = xc_repository.read(tmp_path, options(data="x.txt", splits=splits))
    assert annotations.parts.to_list() == ["test", None, "train"]


def test_a_damaged_gz_is_refused(tmp_path):
    (tmp_path / "x.txt.gz").write_bytes(gzip.compress(b"1 2 1\n0 1:1\n")[:-9])
    with pytest.raises(UserError, match=r"x\.txt\.gz: not a readable file"):
        xc_repository.read(tmp_path, options(data="x.txt.gz"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "name the files of images in either `data` or `parts`"),
        ({"data": "a.txt", "parts": {"train": "b.txt"}}, "name the files of images in either `data` or `parts`"),
        ({"parts": {"train": "b.txt"}, "split": 3}, "`splits` and `split` apply to a single file (`data`)"),
        ({"data": "a.txt", "split": 2}, "`split` is a column of the files in `splits`; name these files"),
        ({"data": "../a.txt"}, "options: data: "),
    ],
)
def test_options_that_do_not_fit(given, message):
    with pytest.raises(UserError, match=re.escape(message)):
        options(**given)
