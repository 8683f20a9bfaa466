"""Features of the LEAR archives; tests/fuzz and test_faults.py test the labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.fuzz.targets import LEAR, pack_lear
from vsebench.core.errors import UserError
from vsebench.formats.readers.lear import Options, read

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


def features_of(folder, name, files):
    """Return a feature of the two training and two test images of tests/fuzz, with these files in the archive."""
    pack_lear(folder, LEAR | files)
    return read(folder, Options(prefix="t", features=name)).features


def files_of(name, kind, matrix):
    return {f"t_train_{name}.{kind}": vectors(kind, matrix[:2]), f"t_test_{name}.{kind}": vectors(kind, matrix[2:])}


@given(st.data())
def test_the_features_that_were_written_are_read(tmp_path_factory, data):
    kind = data.draw(st.sampled_from(list(KINDS)))
    number = np.dtype(KINDS[kind][1])
    finite = {"allow_nan": False, "allow_infinity": False, "width": 32} if number.kind == "f" else {}
    elements = st.floats(**finite) if finite else st.integers(0, min(2**24, np.iinfo(number).max))
    matrix = data.draw(arrays(number, (4, data.draw(st.integers(1, 5))), elements=elements))
    features = features_of(tmp_path_factory.mktemp("raw"), "Gist", files_of("Gist", kind, matrix))
    assert features.values.dtype == np.float32
    assert np.array_equal(features.values, matrix.astype(np.float32))
    assert features.known.all()


def test_one_feature_can_be_chosen(tmp_path):
    ones, twos = np.ones((4, 2)), np.full((4, 4), 2)
    files = files_of("Gist", "fvec", ones) | files_of("Hsv", "hvecs32", twos) | files_of("HsvV3H1", "fvec", ones)
    assert features_of(tmp_path, "Hsv", files).values.tolist() == twos.tolist()
    assert features_of(tmp_path, None, files | {"t_train_Gist.fvec": b"nonsense"}) is None
    for name in ("Lab", "annot"):
        with pytest.raises(UserError, match=rf"t\.20091111\.tar\.bz2: contains no feature {name}"):
            features_of(tmp_path, name, files)


GIST = vectors("fvec", np.ones((2, 3)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t_test_Gist.fvec": b""}, "feature Gist: has 0 rows for the part 'test', which has 2 images"),
        ({"t_train_Gist.fvecs": GIST}, "Gist.fvecs more than once"),
        ({"t_train_Gist.fvec": GIST[:-1]}, "t_train_Gist.fvec: row 2: the file ends in the middle"),
        ({"t_train_Gist.fvec": b"\xff" * 32}, "t_train_Gist.fvec: row 1: the file ends"),
        ({"t_train_Gist.fvec": GIST[:16] + b"\2" + GIST[17:]}, "row 2: its length is 2, but the length of row 1 is 3"),
        ({"t_test_Gist.fvec": vectors("fvec", np.ones((2, 2)))}, "rows of train and test differ in length"),
        ({"t_train_Gist.fvec": vectors("fvec", np.array([[1], [np.nan]]))}, "row 2: contains a number that is"),
    ],
)  # fmt: skip
def test_a_fault_of_a_feature_is_named(tmp_path, changes, message):
    with pytest.raises(UserError) as error:
        features_of(tmp_path, "Gist", files_of("Gist", "fvec", np.ones((4, 3))) | changes)
    assert message in str(error.value)
    assert "t.20091111.tar.bz2" in str(error.value)
