import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.cli import main
from vsebench.core import storage
from vsebench.core.errors import UserError
from vsebench.core.seals import SCHEMA_VERSION
from vsebench.core.storage import (
    read_arrays,
    read_json,
    read_parquet,
    replacing,
    write_array,
    write_arrays,
    write_json,
    write_parquet,
    write_table,
)


def test_a_failing_writer_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "a.json"
    write_json({"old": 1}, path)

    def fail_half_way():
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert read_json(path) == {"old": 1}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".", ".: is a folder; name a file"),
        ("folder", "folder: is a folder; name a file"),
        ("file.yaml/a.csv", "file.yaml/a.csv: cannot be written, because file.yaml is not a folder"),
        ("file.yaml/b/a.csv", "file.yaml/b/a.csv: cannot be written, because file.yaml/b is not a folder"),
    ],
)
def test_a_folder_or_a_path_below_a_file_cannot_be_written_in_one_line(tmp_path, monkeypatch, path, message):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file.yaml").touch()
    with pytest.raises(UserError, match=f"^{re.escape(message)}$"):
        write_json({}, Path(path))
    assert {file.name for file in tmp_path.iterdir()} == {"folder", "file.yaml"}


def test_json_refuses_numbers_that_json_does_not_have(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json({"value": float("nan")}, tmp_path / "a.json")
    assert not list(tmp_path.iterdir())


def test_same_content_same_bytes(tmp_path):
    frame = pl.DataFrame({"a": np.arange(10000), "b": ["x", "y"] * 5000})
    write_parquet(frame, tmp_path / "1" / "a.parquet")
    write_parquet(pl.concat([frame[:77], frame[77:]]), tmp_path / "2" / "a.parquet")
    for folder in ("1", "2"):
        write_arrays(tmp_path / folder / "a.npz", image=np.ones((3, 2), np.float32))
        write_array(np.ones((3, 2)), tmp_path / folder / "a.npy")
    for name in ("a.parquet", "a.npz", "a.npy"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


@pytest.mark.parametrize(
    ("reader", "name"), [(read_parquet, "a.parquet"), (read_json, "a.json"), (read_arrays, "a.npz")]
)
@pytest.mark.parametrize("content", [None, b"", b"nonsense"])
def test_missing_and_damaged_files_are_named(tmp_path, reader, name, content):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=name):
        reader(path)


def test_a_table_whose_columns_are_not_those_of_its_schema_is_not_written(tmp_path):
    path = tmp_path / "a.parquet"
    schema = {"image": pl.Int32, "count": pl.Int32}
    frames = [
        pl.DataFrame({"image": [1]}, schema={"image": pl.Int32}),
        pl.DataFrame({"count": [1], "image": [1]}, schema={"count": pl.Int32, "image": pl.Int32}),
        pl.DataFrame({"image": [1], "count": [1]}),
    ]
    for frame in frames:
        with pytest.raises(TypeError, match=r"columns are .*, but should be"):
            write_table(frame, schema, path)
    assert not path.exists()
    write_table(frames[-1].cast(pl.Int32), schema, path)
    assert read_parquet(path).schema == pl.Schema(schema)


NEWER = SCHEMA_VERSION + 1
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=10,
)
RECORDS = st.dictionaries(st.text().filter(lambda key: key not in ("schema", "entries", "seal")), JSON)


@given(RECORDS | st.lists(JSON))
def test_json_is_read_as_it_was_written_and_has_the_number(value):
    with TemporaryDirectory() as folder:
        first, again = Path(folder) / "a.json", Path(folder) / "again" / "a.json"
        write_json(value, first)
        assert read_json(first) == value
        assert json.loads(first.read_text(encoding="utf-8"))["schema"] == SCHEMA_VERSION
        write_json(read_json(first), again)
        assert again.read_bytes() == first.read_bytes()


@given(st.lists(st.tuples(st.integers(-(2**31), 2**31 - 1), st.text() | st.none(), st.floats())))
def test_a_table_is_read_as_it_was_written_and_has_the_number(rows):
    frame = pl.DataFrame(rows, schema={"image": pl.Int32, "name": pl.String, "score": pl.Float64}, orient="row")
    with TemporaryDirectory() as folder:
        first, again = Path(folder) / "a.parquet", Path(folder) / "again" / "a.parquet"
        write_parquet(frame, first)
        for found in (read_parquet(first), pl.read_parquet(first)):
            assert found.equals(frame)
            assert found.schema == frame.schema
        assert pl.read_parquet_metadata(first)["schema"] == str(SCHEMA_VERSION)
        write_parquet(read_parquet(first), again)
        assert again.read_bytes() == first.read_bytes()


@pytest.mark.parametrize("value", [{"seed": 1}, [{"seed": 1}], [], {}, "text", 3])
def test_json_without_a_number_is_read_outside_of_a_run(tmp_path, value):
    for folder in (tmp_path / "results", tmp_path / "results/packs/a", tmp_path):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "a.json").write_text(json.dumps(value))
    assert read_json(tmp_path / "a.json") == read_json(tmp_path / "results/packs/a/a.json") == value
    with pytest.raises(UserError, match=r"a\.json: has no checksum: it was edited or damaged, or an older"):
        read_json(tmp_path / "results/a.json")


@pytest.mark.parametrize("metadata", [None, {"author": "a"}, {"schema": "0"}])
def test_a_table_without_a_newer_number_is_read_outside_of_a_run(tmp_path, metadata):
    frame = pl.DataFrame({"image": [1]})
    for folder in (tmp_path, tmp_path / "data"):
        folder.mkdir(exist_ok=True)
        frame.write_parquet(folder / "a.parquet", metadata=metadata)
    assert read_parquet(tmp_path / "a.parquet").equals(frame)
    with pytest.raises(UserError, match=r"a\.parquet: has no checksum"):
        read_parquet(tmp_path / "data/a.parquet")


@pytest.mark.parametrize("number", [NEWER, 10**30, "1.5", "new\nest", ""])
@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_another_number_is_refused_in_one_line(tmp_path, capsys, number, suffix):
    path, out = tmp_path / f"a.{suffix}", tmp_path / f"metrics.{suffix}"
    if suffix == "json":
        path.write_text(json.dumps({"schema": number, "seed": 1}))
    else:
        pl.DataFrame({"image": [1]}).write_parquet(path, metadata={"schema": str(number)})
    assert main(["stage", "gather", "--inputs", str(path), "--out", str(out)]) == 1
    written = str(number).replace("\n", " ")
    assert capsys.readouterr().err == (
        f"vsebench gather: {path}: schema number {written}, but this version of vsebench reads up to {SCHEMA_VERSION};"
        " install a newer version, or delete the file and run again\n"
    )
    assert not out.exists()


def test_a_newer_file_is_refused_before_the_rest_of_it_is_read(tmp_path):
    pl.DataFrame({"image": [1]}).write_parquet(tmp_path / "a.parquet", metadata={"schema": str(NEWER)})
    content = bytearray((tmp_path / "a.parquet").read_bytes())
    content[4:12] = b"unknown!"  # the first page; the number is in the footer
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(UserError, match=f"schema number {NEWER}"):
        read_parquet(tmp_path / "a.parquet")


def test_arrays_of_objects_are_not_written(tmp_path):
    with pytest.raises(TypeError, match="Python objects cannot be written"):
        write_arrays(tmp_path / "a.npz", ids=np.array(["a", None], dtype=object))
    assert not list(tmp_path.iterdir())


def test_a_large_array_of_an_archive_stays_in_its_file(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    arrays = {"kind": np.array("small"), "image": rng.random((40, 3)), "turned": np.asfortranarray(rng.random((30, 4)))}
    write_arrays(tmp_path / "a.npz", **arrays)
    monkeypatch.setattr(storage, "memory_limit", lambda: 1000)
    found = read_arrays(tmp_path / "a.npz")
    for name, array in arrays.items():
        assert np.array_equal(found[name], array)
        assert found[name].dtype == array.dtype
        assert type(found[name]) is np.ndarray
    assert isinstance(found["image"].base, np.memmap)
    assert not found["image"].flags.writeable
    assert not isinstance(found["kind"].base, np.memmap)
