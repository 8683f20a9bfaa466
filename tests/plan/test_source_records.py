"""The record that stands for the source files of a job."""

import os
from pathlib import Path

import pytest

from vsebench.plan import source_records
from vsebench.plan.source_records import record_of

OLD, NEWER = 10**18, 10**18 + 10**9  # times in nanoseconds


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two source files in the current folder, the second of them newer."""
    monkeypatch.chdir(tmp_path)
    for name, age in (("a.py", OLD), ("b.py", NEWER)):
        Path(name).write_text(f"# {name}\n")
        os.utime(name, ns=(age, age))
    return ["a.py", "b.py"]


@pytest.fixture
def planned_again():
    """Forget what this process knows of the files, as a second process would."""

    def forget():
        source_records._record_of.cache_clear()
        source_records._checksum.cache_clear()

    return forget


def test_a_record_is_as_old_as_the_newest_file(files):
    assert Path(record_of(files)).stat().st_mtime_ns == NEWER


def test_a_record_stays_while_the_files_have_the_same_content(files, planned_again):
    path = Path(record_of(files))
    os.utime("a.py")
    planned_again()
    assert Path(record_of(files)) == path
    assert path.stat().st_mtime_ns == NEWER


def test_an_edit_makes_a_new_record_even_if_the_file_keeps_its_time(files, planned_again):
    path = Path(record_of(files))
    before = path.read_text()
    Path("a.py").write_text("# edited\n")
    os.utime("a.py", ns=(OLD, OLD))
    planned_again()
    assert Path(record_of(files)) == path
    assert path.stat().st_mtime_ns > NEWER
    assert path.read_text() != before


def test_other_files_have_another_record(files):
    assert record_of(files) != record_of(files[:1])
