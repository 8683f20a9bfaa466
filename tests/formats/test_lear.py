import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vsebench.core.errors import UserError
from vsebench.formats.readers.lear import Options, parse_hvecs, read

OPTIONS = Options(prefix="tiny")
GIST_OPTIONS = Options(prefix="tiny", features="Gist")
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
    assert annotations.parts.to_list() == ["train"] * n_train + ["test"] * (shape[0] - n_train)
    assert annotations.features is None
    dense = np.zeros(shape, dtype=int)
    dense[annotations.pairs["image"], annotations.pairs["label"]] = annotations.pairs["count"]
    assert np.array_equal(dense, matrix)


def spoil(name, data):
    return lambda content: content.update({name: data})


FAULTS = {
    "missing member": (lambda content: content.pop("tiny_test_list.txt"), "contains no tiny_test_list.txt"),
    "label twice": (spoil("tiny_dictionary.txt", b"a\na\nb\n"), "duplicate label 'a' (2 times)"),
    "image twice": (spoil("tiny_test_list.txt", b"img/0\n"), "duplicate image 'img/0' (2 times)"),
    "fewer rows than images": (
        spoil("tiny_train_annot.hvecs", hvecs(MATRIX[:1])),
        "tiny_train_annot.hvecs: has 1 rows, but tiny_train_list.txt has 2 images",
    ),
    "other row length": (
        spoil("tiny_train_annot.hvecs", hvecs(MATRIX[:1]) + np.array([2, 0, 0, 0], "<i2").tobytes()),
        "tiny_train_annot.hvecs: row 2: its length is 2, but the dictionary has 3 labels",
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


KINDS = {
    "hvec": ("<u2", "<u2"),
    "hvecs": ("<u2", "<u2"),
    "hvecs32": ("<u4", "<u4"),
    "fvec": ("<u4", "<f4"),
    "fvecs": ("<u4", "<f4"),
    "dvecs": ("<u4", "<f8"),
}


def vectors(kind, matrix):
    length, number = (np.dtype(name) for name in KINDS[kind])
    return b"".join(length.type(len(row)).tobytes() + row.astype(number).tobytes() for row in matrix)


def with_features(n_train=2, **features):
    content = members(MATRIX, n_train)
    for name, (kind, matrix) in features.items():
        content[f"tiny_train_{name}.{kind}"] = vectors(kind, matrix[:n_train])
        content[f"tiny_test_{name}.{kind}"] = vectors(kind, matrix[n_train:])
    return content


@given(st.data())
def test_the_features_that_were_written_are_read(tmp_path_factory, data):
    kind = data.draw(st.sampled_from(list(KINDS)))
    number = np.dtype(KINDS[kind][1])
    finite = {"allow_nan": False, "allow_infinity": False, "width": 32} if number.kind == "f" else {}
    elements = st.floats(**finite) if finite else st.integers(0, min(2**24, np.iinfo(number).max))
    matrix = data.draw(arrays(number, (3, data.draw(st.integers(1, 5))), elements=elements))
    folder = tmp_path_factory.mktemp("raw")
    write(folder, with_features(n_train=data.draw(st.integers(0, 3)), Gist=(kind, matrix)))
    features = read(folder, GIST_OPTIONS).features
    assert features.values.dtype == np.float32
    assert np.array_equal(features.values, matrix.astype(np.float32))
    assert features.known.all()


def test_one_feature_can_be_chosen(tmp_path):
    ones, twos = np.ones((3, 2)), np.full((3, 4), 2)
    write(tmp_path, with_features(Gist=("fvec", ones), Hsv=("hvecs32", twos), HsvV3H1=("fvec", ones)))
    assert read(tmp_path, OPTIONS).features is None
    assert read(tmp_path, Options(prefix="tiny", features="Hsv")).features.values.tolist() == twos.tolist()
    with pytest.raises(UserError, match=r"tiny\.20091111\.tar\.bz2: contains no feature Lab"):
        read(tmp_path, Options(prefix="tiny", features="Lab"))
    with pytest.raises(UserError, match="contains no feature annot"):
        read(tmp_path, Options(prefix="tiny", features="annot"))


def test_features_that_nobody_asks_for_are_not_parsed(tmp_path):
    write(tmp_path, members(MATRIX, 2) | {"tiny_train_Gist.fvec": b"nonsense"})
    assert read(tmp_path, OPTIONS).features is None
    with pytest.raises(UserError, match=r"Gist\.fvec: row 1"):
        read(tmp_path, GIST_OPTIONS)


GIST = vectors("fvec", np.ones((2, 3)))
FEATURE_FAULTS = {
    "one part": ({"tiny_train_Gist.fvec": GIST}, "feature Gist: 0 rows for 1 test images"),
    "too few rows": (
        {"tiny_train_Gist.fvec": GIST[:16], "tiny_test_Gist.fvec": GIST[:16]},
        "1 rows for 2 train images",
    ),
    "another kind as well": (
        {"tiny_train_Gist.fvec": GIST, "tiny_train_Gist.fvecs": GIST},
        "Gist.fvecs more than once",
    ),
    "cut off": ({"tiny_train_Gist.fvec": GIST[:-1]}, "tiny_train_Gist.fvec: row 2: the file ends in the middle"),
    "cut off at once": ({"tiny_train_Gist.fvec": GIST[:3]}, "tiny_train_Gist.fvec: row 1: the file ends in the middle"),
    "immense length": ({"tiny_train_Gist.fvec": b"\xff" * 32}, "tiny_train_Gist.fvec: row 1: the file ends"),
    "another length": (
        {"tiny_train_Gist.fvec": GIST[:16] + b"\2" + GIST[17:]},
        "tiny_train_Gist.fvec: row 2: its length is 2, but that of row 1 is 3",
    ),
    "parts of different length": (
        {"tiny_train_Gist.fvec": GIST, "tiny_test_Gist.fvec": vectors("fvec", np.ones((1, 2)))},
        "feature Gist: the rows of train and test differ in length",
    ),
    "not finite": (
        {"tiny_train_Gist.fvec": vectors("fvec", np.array([[1.0, 2.0], [np.nan, 0.0]]))},
        "tiny_train_Gist.fvec: row 2: contains a number that is not finite",
    ),
    "too big": (
        {"tiny_train_Gist.dvec": vectors("dvecs", np.array([[1e300], [1.0]]))},
        "row 1: contains a number that is not",
    ),
}


@pytest.mark.parametrize("fault", FEATURE_FAULTS)
def test_a_fault_of_a_feature_is_named(tmp_path, fault):
    changes, message = FEATURE_FAULTS[fault]
    write(tmp_path, members(MATRIX, 2) | changes)
    with pytest.raises(UserError) as error:
        read(tmp_path, GIST_OPTIONS)
    assert message in str(error.value)
    assert "tiny.20091111.tar.bz2" in str(error.value)
    assert "\n" not in str(error.value)
