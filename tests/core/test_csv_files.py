"""CSV results: a file that was changed after it was written is refused in one line."""

import shutil

import pytest

from tests.core.test_seals import FRAME
from vsebench.core.csv_files import read_csv, write_csv
from vsebench.core.errors import UserError
from vsebench.core.seals import job
from vsebench.core.storage import read_json, seal_of, write_parquet

TEXT = 'claim,verdict\n"Größe, ""a""",holds\n'


@pytest.fixture
def path(tmp_path):
    written = tmp_path / "results" / "claims.csv"
    write_csv(TEXT, written)
    return written


def test_the_text_is_read_as_it_was_written(path):
    assert path.read_bytes() == read_csv(path) == TEXT.encode()


@pytest.mark.parametrize(
    ("old", "new"), [("holds", "fails"), ("holds\n", "holds"), ("\n", "\r\n"), (TEXT, ""), ("Größe", "Grosse")]
)
def test_a_changed_text_is_refused(path, old, new):
    path.write_bytes(TEXT.replace(old, new).encode())
    with pytest.raises(UserError, match=r"claims\.csv: it was changed after it was written, or is damaged; delete it"):
        read_csv(path)


def test_a_changed_checksum_is_refused(path):
    beside = path.with_name("claims.csv.json")
    beside.write_text(beside.read_text().replace('"sha256": "', '"sha256": "0'))
    with pytest.raises(UserError, match=r"claims\.csv\.json: it was changed after it was written"):
        read_csv(path)


def test_the_files_of_another_table_are_refused(path):
    other = path.with_name("audit.csv")
    for end in ("", ".json"):
        shutil.copy2(f"{path}{end}", f"{other}{end}")
    with pytest.raises(UserError, match=r"audit\.csv\.json: written as claims\.csv\.json, then renamed or copied"):
        read_csv(other)


def test_a_checksum_is_needed_in_a_run_alone(path, tmp_path):
    for place in (tmp_path / "mine.csv", tmp_path / "results/packs/other/claims.csv"):
        place.parent.mkdir(parents=True, exist_ok=True)
        assert read_csv(shutil.copy2(path, place)) == TEXT.encode()
    path.with_name("claims.csv.json").unlink()
    with pytest.raises(UserError, match=r"claims\.csv: has no checksum, because claims\.csv\.json is missing; delete"):
        read_csv(path)


def test_the_checksum_names_what_the_job_read(path):
    with job():
        write_parquet(FRAME, path.with_name("metrics.parquet"))
        write_csv(TEXT, path)
    beside = path.with_name("claims.csv.json")
    assert list(seal_of(beside)["made_with"]) == ["metrics.parquet"]
    assert read_json(beside).keys() == {"sha256"}


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()])
def test_a_missing_file_and_a_folder_are_told(tmp_path, make):
    make(tmp_path / "x.csv")
    with pytest.raises(UserError, match=r"x\.csv: (no such file|cannot be read: Is a directory)"):
        read_csv(tmp_path / "x.csv")
