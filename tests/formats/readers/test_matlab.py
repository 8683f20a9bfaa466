"""Struct arrays in MATLAB files."""

import os
import signal

import numpy as np
import pytest

from tests.formats.readers.ilsvrc2010_files import mat, structs
from vsebench.core.errors import UserError
from vsebench.formats.readers.matlab import read_structs


def test_an_unwanted_field_may_be_anything():
    data = mat({"s": structs([{"a": 1.0, "b": np.array([[1.0, "x"]], dtype=object)}])})
    assert read_structs(data, "s", {"a": None}, "here") == [{"a": [1]}]


WHOLE = mat({"s": structs([{"a": 1.0, "b": "text", "c": {"d": 2.0}, "e": 1j, "f": np.eye(2, dtype=object)}])}, False)


@pytest.mark.parametrize(
    ("variable", "fields", "message"),
    [
        ("t", {"a": None}, "there is no variable 't'"),
        ("s", {"x": None}, "s has no field 'x'"),
        ("s", {"a": {"x": None}}, "s(1).a is not a struct"),
        ("s", {"c": None}, "s(1).c is neither a line of text nor real numbers"),
        ("s", {"c": {"x": None}}, "s(1).c has no field 'x'"),
        ("s", {"e": None}, "s(1).e is neither a line of text nor real numbers"),
        ("s", {"f": None}, "s(1).f is neither a line of text nor real numbers"),
    ],
)
def test_what_is_missing_or_of_another_kind_is_named(variable, fields, message):
    with pytest.raises(UserError) as error:
        read_structs(WHOLE, variable, fields, "here")
    assert str(error.value) == f"here: not the expected MATLAB file: {message}"


def test_a_text_of_two_lines_is_refused():
    data = mat({"s": structs([{"a": np.array(["ab", "cd"])}])})
    with pytest.raises(UserError, match=r"s\(1\)\.a is neither a line of text nor real numbers"):
        read_structs(data, "s", {"a": None}, "here")


FAULTS = {
    "empty": b"",
    "text": b"a text\n" * 99,
    "of version 7.3": WHOLE[:124] + b"\x00\x02IM",
    "cut off": WHOLE[: len(WHOLE) // 2],
    "no variable": WHOLE[:128],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line(fault):
    with pytest.raises(UserError) as error:
        read_structs(FAULTS[fault], "s", {"a": None}, "here")
    assert str(error.value).startswith("here: not the expected MATLAB file: ")


def kill_this_process(*arguments):
    os.kill(os.getpid(), signal.SIGSEGV)


def test_a_file_that_ends_the_reading_process_is_one_line(monkeypatch):
    monkeypatch.setattr("vsebench.formats.readers.matlab._read", kill_this_process)
    with pytest.raises(UserError, match="here: the process that read this file was killed"):
        read_structs(WHOLE, "s", {"a": None}, "here")
