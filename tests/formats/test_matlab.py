"""Struct arrays in MATLAB files, beside `scipy.io.loadmat`."""

import io
import struct
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.formats.ilsvrc2010_files import mat, structs
from vsebench.core.errors import UserError
from vsebench.formats.readers import matlab
from vsebench.formats.readers.matlab import read_structs

OF_MATLAB = sorted((Path(scipy.io.__file__).parent / "matlab/tests/data").glob("teststruct*.mat"))
DTYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64]
numbers = st.sampled_from(DTYPES).flatmap(lambda dtype: arrays(dtype, st.tuples(st.integers(0, 1), st.integers(0, 4))))
texts = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_categories=["Cs"]), max_size=9)
FIELDS = {"name": None, "inner": {"values": None}}


def second_reading(data):
    """Return what SciPy reads of the fields above."""
    found = scipy.io.loadmat(io.BytesIO(data))["s"].ravel(order="F")
    return [
        {
            "name": str(entry["name"][0]) if entry["name"].size else "",
            "inner": [{"values": inner["values"].ravel(order="F")} for inner in entry["inner"].ravel(order="F")],
        }
        for entry in found
    ]


def plain(found):
    """Return the same in plain Python, with the types of numbers that are there; NaN, which equals nothing, as text."""
    if isinstance(found, np.ndarray):
        return [found.dtype.str if found.size else "", [repr(number) for number in found.tolist()]]
    if isinstance(found, dict):
        return {name: plain(value) for name, value in found.items()}
    return [plain(value) for value in found] if isinstance(found, list) else found


@given(st.lists(st.tuples(texts, st.lists(numbers, min_size=1, max_size=2)), min_size=1, max_size=3), st.booleans())
def test_scipy_reads_the_same(rows, compressed):
    entries = [
        {"name": text, "unwanted": {"cell": np.array([["a", 1]], dtype=object)}, "inner": structs(inner)}
        for text, values in rows
        for inner in [[{"other": 1.0, "values": value} for value in values]]
    ]
    data = mat({"before": np.eye(2), "s": structs(entries), "after": "text"}, compressed)
    found = read_structs(data, "s", FIELDS, "here")
    assert plain(found) == plain(second_reading(data))


OF_FILE = {
    "teststruct": {"stringfield": None, "doublefield": None},
    "teststructarr": {"one": None, "two": None},
    "teststructnest": {"one": None, "two": {"three": None}},
}


@pytest.mark.skipif(not OF_MATLAB, reason="this SciPy came without its test files")
@pytest.mark.parametrize("path", OF_MATLAB, ids=lambda path: path.stem)
def test_files_that_matlab_wrote(path):
    """Of MATLAB 6.1 on Solaris (big-endian) to 7.4 on Linux; they come with SciPy."""
    name = path.stem.split("_")[0]
    found = read_structs(path.read_bytes(), name, OF_FILE[name], "here")
    if name == "teststruct":
        assert found[0]["stringfield"] == "Rats live on no evil star."
        assert found[0]["doublefield"] == pytest.approx([2**0.5, np.e, np.pi])
    else:
        assert found[0]["one"].tolist() == [1]
        assert found[-1]["two"] in ("number 2", [{"three": "number 3"}])


def test_an_unwanted_field_may_be_anything():
    data = mat({"s": structs([{"a": 1.0, "b": np.array([[1.0, "x"]], dtype=object)}])})
    assert read_structs(data, "s", {"a": None}, "here") == [{"a": [1]}]


WHOLE = mat({"s": structs([{"a": 1.0, "b": "text", "c": {"d": 2.0}, "e": 1j, "f": np.eye(2, dtype=object)}])}, False)


@pytest.mark.parametrize(
    ("variable", "fields", "message"),
    [
        ("t", {"a": None}, "there is no variable 't'"),
        ("s", {"x": None}, "s has no field 'x'"),
        ("s", {"a": {"x": None}}, "s(1).a is no struct"),
        ("s", {"c": None}, "s(1).c is neither text nor real numbers"),
        ("s", {"c": {"x": None}}, "s(1).c has no field 'x'"),
        ("s", {"e": None}, "s(1).e is neither text nor real numbers"),
        ("s", {"f": None}, "s(1).f is neither text nor real numbers"),
    ],
)
def test_what_is_missing_or_of_another_kind_is_named(variable, fields, message):
    with pytest.raises(UserError) as error:
        read_structs(WHOLE, variable, fields, "here")
    assert str(error.value) == f"here: not a MATLAB file as expected: {message}"


def big_endian(data):
    return data[:124] + b"\x01\x00MI" + data[128:]


ELEMENTS = WHOLE[128:]
FAULTS = {
    "empty": (b"", "it has no header of version 5"),
    "text": (b"a text\n" * 99, "it has no header of version 5"),
    "of version 7.3": (WHOLE[:124] + b"\x00\x02IM", "it is of version 7.3"),
    "the other byte order": (big_endian(WHOLE), ""),
    "twice": (WHOLE + ELEMENTS, "there are two variables 's'"),
    "no variable": (WHOLE[:128], "there is no variable 's'"),
    "another element": (WHOLE + struct.pack("<II", 9, 8) + bytes(8), "an element of type 9"),
    "too long": (WHOLE + b"\0", "it ends too soon"),
    "not compressed": (WHOLE[:128] + struct.pack("<II", 15, 8) + bytes(8), "its compressed content is damaged"),
    "many structs": (WHOLE.replace(struct.pack("<IIII", 5, 8, 1, 1), struct.pack("<IIII", 5, 8, 9**9, 9**9), 1), "it"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line(fault):
    data, message = FAULTS[fault]
    assert data != WHOLE
    with pytest.raises(UserError) as error:
        read_structs(data, "s", {"a": None}, "here")
    assert str(error.value).startswith(f"here: not a MATLAB file as expected: {message}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_that_is_cut_off_is_refused(compressed):
    data = mat({"s": structs([{"a": 1.0, "b": "text"}])}, compressed)
    for length in range(len(data)):
        with pytest.raises(UserError):
            read_structs(data[:length], "s", {"a": None, "b": None}, "here")


def test_what_unpacks_to_too_much_is_refused(monkeypatch):
    data = mat({"zeros": np.zeros(10_000), "s": structs([{"a": 1.0}])})
    assert read_structs(data, "s", {"a": None}, "here")
    monkeypatch.setattr(matlab, "MEMORY", 50_000)
    with pytest.raises(UserError, match="or is too big"):
        read_structs(data, "s", {"a": None}, "here")
