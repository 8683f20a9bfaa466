import numpy as np
import polars as pl
import pytest

from vsebench.core.errors import UserError
from vsebench.core.storage import (
    read_arrays,
    read_json,
    read_parquet,
    replacing,
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


def test_json_refuses_numbers_that_json_does_not_have(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json({"value": float("nan")}, tmp_path / "a.json")
    assert not list(tmp_path.iterdir())


def test_same_content_same_bytes(tmp_path):
    frame = pl.DataFrame({"a": np.arange(10000), "b": ["x", "y"] * 5000})
    write_parquet(frame, tmp_path / "1.parquet")
    write_parquet(pl.concat([frame[:77], frame[77:]]), tmp_path / "2.parquet")
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()
    for name in ("1.npz", "2.npz"):
        write_arrays(tmp_path / name, image=np.ones((3, 2), np.float32))
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


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


def test_pickles_are_not_read(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, a=np.array([{}], dtype=object))
    with pytest.raises(UserError, match=r"a\.npz"):
        read_arrays(path)


def test_a_table_whose_columns_are_not_those_of_its_schema_is_not_written(tmp_path):
    path = tmp_path / "a.parquet"
    schema = {"image": pl.Int32, "count": pl.Int32}
    frames = [
        pl.DataFrame({"image": [1]}, schema={"image": pl.Int32}),
        pl.DataFrame({"count": [1], "image": [1]}, schema={"count": pl.Int32, "image": pl.Int32}),
        pl.DataFrame({"image": [1], "count": [1]}),
    ]
    for frame in frames:
        with pytest.raises(TypeError, match=r"columns .*, the schema has"):
            write_table(frame, schema, path)
    assert not path.exists()
    write_table(frames[-1].cast(pl.Int32), schema, path)
    assert read_parquet(path).schema == pl.Schema(schema)
