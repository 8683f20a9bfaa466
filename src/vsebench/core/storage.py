"""Write results so that no reader sees an incomplete file, and read them, with clear messages."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from vsebench.core.errors import UserError, refusal
from vsebench.core.schemas import SCHEMA_VERSION, Schema

NUMBER = "schema"  # the key of the schema number, in JSON and in the metadata of a Parquet file
ENTRIES = "entries"  # the key of a result that is a list; JSON stores it in an object with the schema number


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`; it replaces `path` only if the block succeeds.

    If there is no space or no permission to write, a `UserError` says so.
    """
    # Some writers choose their format by the suffix, so the temporary path has the same suffix.
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        if (refused := refusal(error)) is None:
            raise
        raise UserError(f"{path}: cannot be written: {refused}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Write a table; the same table gives the same bytes, with any number of threads."""
    number = {NUMBER: str(SCHEMA_VERSION)}
    with replacing(path) as temporary:
        frame.rechunk().write_parquet(
            temporary, compression="zstd", row_group_size=1 << 20, statistics=False, metadata=number
        )


def write_table(frame: pl.DataFrame, schema: Schema, path: Path) -> None:
    """Check the names, order and types of a table's columns, and write it."""
    if frame.schema != pl.Schema(schema):  # plain dictionaries would be equal in any order
        raise TypeError(f"{path}: the columns are {dict(frame.schema)}, but should be {schema}")
    write_parquet(frame, path)


def read_parquet(path: Path) -> pl.DataFrame:
    """Read a table that this package wrote; one with a newer schema number raises a `UserError`."""
    try:
        _check_number(pl.read_parquet_metadata(path).get(NUMBER, 0), path)
        return pl.read_parquet(path)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise UserError(f"{path}: not a readable parquet file ({error}); delete it and run again") from None


def numbered(value: dict[str, Any] | list[Any]) -> dict[str, Any]:
    """Return the content of a JSON file for a value: the value together with the schema number."""
    return {NUMBER: SCHEMA_VERSION} | (value if isinstance(value, dict) else {ENTRIES: value})


def write_json(value: dict[str, Any] | list[Any], path: Path) -> None:
    """Write JSON with a schema number, sorted keys and a final newline."""
    text = json.dumps(numbered(value), indent=2, sort_keys=True, allow_nan=False)
    with replacing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read_json(path: Path) -> Any:
    """Return the value that `write_json` wrote; a file with a newer schema number raises a `UserError`."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: not readable JSON ({error}); delete it and run again") from None
    if not isinstance(value, dict):
        return value
    _check_number(value.pop(NUMBER, 0), path)
    return value[ENTRIES] if value.keys() == {ENTRIES} else value


def _check_number(number: Any, path: Path) -> None:
    if str(number) not in map(str, range(SCHEMA_VERSION + 1)):
        limit = f"this version of vsebench reads up to {SCHEMA_VERSION}"
        advice = "install a newer version, or delete the file and run again"
        raise UserError(f"{path}: schema number {number}, but {limit}; {advice}")


def write_arrays(path: Path, **arrays: np.ndarray) -> None:
    """Write arrays as an uncompressed .npz."""
    with replacing(path) as temporary:
        np.savez(temporary, allow_pickle=False, **arrays)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read an .npz without executing anything in it."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except Exception as error:  # NumPy's reader raises a dozen kinds of errors for a damaged file
        raise UserError(f"{path}: not a readable .npz file ({error}); delete it and run again") from None


def features_file(name: str, is_sparse: bool) -> str:
    """Return the name of the file of a set of features in a processed data set; the only set may have no name.

    >>> features_file("", False), features_file("hue", True)
    ('features.npy', 'features-hue.npz')
    """
    return f"features{'-' if name else ''}{name}.{'npz' if is_sparse else 'npy'}"


def set_of(path: Path) -> str:
    """Return the name of the set in a file that `features_file` names."""
    return path.stem.partition("-")[2]
