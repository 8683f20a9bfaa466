"""A raw file that was changed after its record is refused."""

import json
import os

import pytest

from tests import data_sets
from vsebench.core.errors import UserError
from vsebench.formats.download.recorded import check_recorded

FILE = {"name": "x.csv", "sources": []}


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """A folder with a downloaded file and its record."""
    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    folder = tmp_path / "raw"
    folder.mkdir()
    (folder / "x.csv").write_text("image,label\n1,a\n2,b\n")
    assert data_sets.download({"adapter": "lear", "files": [FILE]}, folder) == 0
    return folder


def test_recorded_files_pass_and_so_does_a_folder_without_records(raw, tmp_path):
    check_recorded(raw)
    check_recorded(tmp_path)


@pytest.mark.parametrize("text", ["image,label\n1,a\n2,c\n", "image,label\n1,a\n", ""])
def test_a_changed_file_is_refused_whatever_its_time(raw, text):
    path = raw / "x.csv"
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_text(text)
    os.utime(path, ns=times)
    with pytest.raises(UserError, match=r"x\.csv: was changed after its sha256 was recorded in .*provenance\.json"):
        check_recorded(raw)


def test_a_deleted_file_is_left_to_its_reader(raw):
    (raw / "x.csv").unlink()
    check_recorded(raw)


@pytest.mark.parametrize("content", ["[]", "{}", '{"files": [1]}', '{"files": [{"name": "x.csv"}]}', "not json"])
def test_a_foreign_record_is_one_line(raw, content):
    (raw / "provenance.json").write_text(content)
    with pytest.raises(UserError, match=r"provenance\.json: "):
        check_recorded(raw)


def test_an_own_table_that_was_changed_is_refused_before_it_is_read(tmp_path, capsys):
    table, raw = tmp_path / "own.csv", tmp_path / "raw"
    table.write_text("image,label\n" + "".join(f"{n},{label}\n" for n in range(9) for label in "ab"))
    definition = {"adapter": "table", "options": {"pairs": str(table)}, "files": []}
    assert data_sets.download(definition, raw) == 0
    assert data_sets.prepare(definition, raw, tmp_path / "out") == 0
    table.write_text(table.read_text().replace("8,b", "8,c"))
    capsys.readouterr()
    assert data_sets.prepare(definition, raw, tmp_path / "other") == 1
    assert f"{table}: was changed after its sha256 was recorded" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()
    record = json.loads((raw / "provenance.json").read_text())
    assert [file["name"] for file in record["files"]] == [str(table)]
