"""Damaged files are read correctly or refused in one line; `python -m tests.reliability fuzz` tries more."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz import references
from tests.fuzz.mutate import CHOICES, Edit, apply
from tests.fuzz.targets import CSV, TARGETS, WIDE, FuzzError, Target, check, original

number = st.integers(0, (1 << 20) - 1)
SLOW = ("ILSVRC 2010", "ILSVRC 2010, compressed")  # a process for each MATLAB file
edits = st.lists(st.builds(Edit, st.sampled_from(CHOICES), number, number, number, number), min_size=1, max_size=5)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", sorted(TARGETS))
def test_damaged_files(name):
    # Without the phase that shrinks examples, which takes minutes: examples are small.
    examples = 5 if name in SLOW else 25

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None, phases=[Phase.generate])
    @given(edits)
    def run(edits):
        with TemporaryDirectory() as folder:
            check(TARGETS[name], apply(TARGETS[name].files, edits), Path(folder))

    run()


@pytest.mark.parametrize("name", [name for name, target in TARGETS.items() if target.expect])
def test_the_plain_reading_of_whole_files_is_the_readers(name, tmp_path):
    target = TARGETS[name]
    assert target.expect(target.files) == original(target, tmp_path)


def test_a_reader_that_guesses_is_caught(tmp_path):
    """Shows that the fuzzer finds faults."""

    def careless(files, folder):
        return [float(word) for word in files["a"].split() if word.isdigit()]

    def meant(files):
        words = files["a"].split()
        return [float(word) for word in words] if all(word.isdigit() for word in words) else None

    target = Target({"a": b"1 2 3"}, careless, meant)
    assert check(target, {"a": b"1 2 4"}, tmp_path) == "other"
    with pytest.raises(FuzzError, match="instead of None"):
        check(target, {"a": b"1 x 3"}, tmp_path)
    with pytest.raises(FuzzError, match="KeyError"):
        check(target, {}, tmp_path)


def test_the_plain_reading_of_csv():
    assert references.csv_rows('a,"b ""c"", d"\n\n"",\n') == [["a", 'b "c", d'], [], ["", ""]]
    assert references.csv_rows('a"b,c') == [['a"b', "c"]]
    assert references.csv_rows('"a"b,c') is None
    assert references.table_csv({"t.csv": CSV}).counts["01.jpg", "sky"] == 3
    assert references.table_csv({"t.csv": WIDE}, wide=True).images == ["1", "2", "3"]
