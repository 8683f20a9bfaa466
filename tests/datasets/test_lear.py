import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vsebench.datasets.lear import Options, parse_hvecs, read
from vsebench.errors import UserError

OPTIONS = Options(prefix="tiny")
MATRIX = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0]], dtype="<i2")


def hvecs(matrix):
    return np.hstack([np.full((len(matrix), 1), matrix.shape[1]), matrix]).astype("<i2").tobytes()


def members(matrix, n_train):
    n, n_labels = matrix.shape
    names = [f"img/{i}" for i in range(n)]
    return {
        "tiny_dictionary.txt": "".join(f"label{i}\n" for i in range(n_labels)).encode(),
        "tiny_train_list.txt": "\n".join(names[:n_train]).encode(),
        "tiny_train_annot.hvecs": hvecs(matrix[:n_train]),
        "tiny_test_list.txt": ("\n".join(names[n_train:]) + "\n").encode(),
        "tiny_test_annot.hvecs": hvecs(matrix[n_train:]),
    }


def write(folder: Path, content):
    with tarfile.open(folder / "tiny.20091111.tar.bz2", "w:bz2") as archive:
        for name, data in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


@given(st.data())
def test_what_was_written_is_read(tmp_path_factory, data):
    shape = data.draw(st.tuples(st.integers(1, 12), st.integers(1, 9)))
    matrix = data.draw(arrays("<i2", shape, elements=st.integers(0, 1)))
    n_train = data.draw(st.integers(0, shape[0]))
    folder = tmp_path_factory.mktemp("raw")
    write(folder, members(matrix, n_train))
    annotations = read(folder, OPTIONS)
    assert annotations.images.to_list() == [f"img/{i}" for i in range(shape[0])]
    assert annotations.labels == [f"label{i}" for i in range(shape[1])]
    dense = np.zeros(shape, dtype=int)
    dense[annotations.pairs["image"], annotations.pairs["label"]] = annotations.pairs["count"]
    assert np.array_equal(dense, matrix)


def spoil(name, data):
    return lambda content: content.update({name: data})


FAULTS = {
    "missing member": (lambda content: content.pop("tiny_test_list.txt"), "holds no tiny_test_list.txt"),
    "label twice": (spoil("tiny_dictionary.txt", b"a\na\nb\n"), "'a' stands there 2 times"),
    "image twice": (spoil("tiny_test_list.txt", b"img/0\n"), "image 'img/0' stands there 2 times"),
    "fewer rows than images": (
        spoil("tiny_train_annot.hvecs", hvecs(MATRIX[:1])),
        "tiny_train_annot.hvecs: has 1 rows where tiny_train_list.txt has 2 images",
    ),
    "other row length": (
        spoil("tiny_train_annot.hvecs", hvecs(MATRIX[:1]) + np.array([2, 0, 0, 0], "<i2").tobytes()),
        "tiny_train_annot.hvecs: row 2: its length is 2, the dictionary has 3 labels",
    ),
    "cut off": (spoil("tiny_train_annot.hvecs", hvecs(MATRIX[:2])[:-3]), "row 2: the file ends in the middle"),
    "not binary": (
        spoil("tiny_train_annot.hvecs", hvecs(np.array([[1, 0, 0], [0, 7, 0]]))),
        "row 2: label 2 is 7, neither 0 nor 1",
    ),
    "not text": (spoil("tiny_train_list.txt", b"img/0\n\xff\xfe\n"), "tiny_train_list.txt: line 2: not UTF-8 text"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(tmp_path, fault):
    content = members(MATRIX, 2)
    change, message = FAULTS[fault]
    change(content)
    write(tmp_path, content)
    with pytest.raises(UserError) as error:
        read(tmp_path, OPTIONS)
    assert message in str(error.value)
    assert "tiny.20091111.tar.bz2" in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_and_damaged_archives_are_named(tmp_path):
    with pytest.raises(UserError, match=r"tiny\.20091111\.tar\.bz2: no such file"):
        read(tmp_path, OPTIONS)
    write(tmp_path, members(np.zeros((3, 3), "<i2"), 2))
    archive = tmp_path / "tiny.20091111.tar.bz2"
    archive.write_bytes(archive.read_bytes()[:-40])
    with pytest.raises(UserError, match="not a readable archive"):
        read(tmp_path, OPTIONS)


def test_no_rows_at_all():
    assert parse_hvecs(b"", 4, "here").shape == (0, 4)


def test_a_lone_byte_is_no_row():
    with pytest.raises(UserError, match="ends in the middle"):
        parse_hvecs(b"\x04", 4, "here")
