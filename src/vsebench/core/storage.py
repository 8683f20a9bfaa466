"""Write results so that no reader sees an incomplete file, and read results.

If a file cannot be read, a `UserError` says why. All functions that write a file seal it (see `seals`), except
`replacing`, `new_folder` and `move`.
"""

import json
import os
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import polars as pl

from vsebench.core.errors import UserError, refusal
from vsebench.core.machine import memory_limit
from vsebench.core.schemas import CAN_BE_NULL, NUMBERS, Schema
from vsebench.core.seals import (
    DELETE,
    SCHEMA_VERSION,
    SEAL,
    check_seal,
    close_seal,
    open_seal,
    parsed,
    seal_behind,
    sealed_json,
)

NUMBER = "schema"  # the key of the schema number, in JSON and in the metadata of a Parquet file
SECONDS = "seconds"  # a column of measured times, which differ between two runs
LARGE = 1 / 3  # share of the memory; an array that would take more stays in its file
# position of the lengths of name and extra field in a member's local header (section 4.3.7 of the ZIP specification)
SIZES_OF_NAMES = 26
ENTRIES = "entries"  # the key of a list, which JSON stores in an object with the schema number


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path; the file written there replaces `path` if the block succeeds.

    The temporary path is in the folder of `path`. If `path` is a folder or is below a file, or if there is no space or
    no permission to write, a `UserError` says so.
    """
    # Some writers choose their format by the suffix, so the temporary path has the same suffix.
    temporary = path.parent / f".{path.stem}.{os.getpid()}.tmp{path.suffix}"
    try:
        _make_folder_of(path)
        yield temporary
        move(temporary, path)
    except (OSError, pl.exceptions.PolarsError) as error:
        if (refused := refusal(error)) is None:
            raise
        raise UserError(f"{path}: cannot be written: {refused}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder, which is renamed to `path` if the block succeeds.

    The temporary folder is beside `path`. `path` must not exist yet.
    """
    temporary = path.parent / f".{path.name}.{os.getpid()}.tmp"
    _make_folder_of(path)
    try:
        temporary.mkdir()
        yield temporary
        temporary.rename(path)
    finally:
        rmtree(temporary, ignore_errors=True)


def check_folder(path: Path, option: str = "") -> None:
    """Raise a `UserError` if `path` cannot be a folder, because it is a file or is below a file.

    The message begins with `option`.
    """
    existing = next((each for each in (path, *path.parents) if each.exists()), path)
    if existing.is_file():
        raise UserError(f"{option}{path}: {existing} is a file; name a folder")


def _make_folder_of(path: Path) -> None:
    if path.is_dir():
        raise UserError(f"{path}: is a folder; name a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise UserError(f"{path}: cannot be written, because {error.filename} is not a folder") from None


def move(written: Path, path: Path) -> None:
    """Rename the complete file `written` to `path`, after its content has reached the disk.

    Both paths must be in the same file system.
    """
    _flush(written)  # otherwise, a crash of the computer could leave an empty file under the new name
    written.replace(path)
    _flush(path.parent)


def _flush(path: Path) -> None:
    """Wait until a file, or a folder's list of names, has been written to the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Write a table as a Parquet file.

    The same table always gives the same bytes, whatever the number of threads.
    """
    seal = open_seal(path, repeatable=SECONDS not in frame.columns)
    metadata = {NUMBER: str(SCHEMA_VERSION), SEAL: json.dumps(seal)}
    with replacing(path) as temporary:
        frame.rechunk().write_parquet(
            temporary, compression="zstd", row_group_size=1 << 20, statistics=False, metadata=metadata
        )
        close_seal(temporary, path, seal)


def write_table(frame: pl.DataFrame, schema: Schema, path: Path) -> None:
    """Write a table after checking the names, order and types of its columns."""
    if frame.schema != pl.Schema(schema):  # plain dictionaries would be equal in any order
        raise TypeError(f"{path}: the columns are {dict(frame.schema)}, but should be {schema}")
    write_parquet(frame, path)


def read_parquet(path: Path) -> pl.DataFrame:
    """Read a table that this package wrote.

    A missing or unreadable file, a newer schema number, or a wrong seal raises a `UserError`.
    """
    try:
        metadata = pl.read_parquet_metadata(path)
        number = _check_number(metadata.get(NUMBER, 0), path)
        check_seal(path, parsed(metadata.get(SEAL, "")), number)
        return pl.read_parquet(path)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise unreadable(path, "a readable parquet file", error) from None


def read_table(path: Path, schema: Schema, n_labels: int | None = None) -> pl.DataFrame:
    """Read a table that was written with this schema.

    A missing column, a column of another type, or an impossible number (see `schemas.NUMBERS`) raises a `UserError`.
    If `n_labels` is given, the numbers in the column `label` must be below `n_labels`.
    """
    frame = read_parquet(path)
    check_columns(frame, schema, path)
    for name, is_possible in NUMBERS.items():
        if schema.get(name) != pl.Int32:
            continue
        possible = is_possible(frame).all(ignore_nulls=name in CAN_BE_NULL)  # None if a null is not ignored
        if not possible or (name == "label" and n_labels is not None and (frame["label"] >= n_labels).any()):
            raise UserError(f"{path}: the column {name!r} has impossible numbers; {DELETE}")
    return frame[list(schema)]


def check_columns(frame: pl.DataFrame, schema: Schema, path: Path) -> None:
    """Raise a `UserError` unless a table that was read from `path` has the columns of a schema, with their types."""
    for name, kind in pl.Schema(schema).items():
        if name not in frame.columns:
            raise UserError(f"{path}: has no column {name!r}; {DELETE}")
        if frame.schema[name] != kind:
            raise UserError(f"{path}: the column {name!r} is of type {frame.schema[name]} instead of {kind}; {DELETE}")


def as_sealed_json(value: dict[str, Any] | list[Any], path: Path, **form: Any) -> str:
    """Return the content of a JSON file: a value, the schema number and a seal.

    The final newline is left out. `form` contains keyword arguments for `json.dumps`.
    """
    return sealed_json(
        {NUMBER: SCHEMA_VERSION} | (value if isinstance(value, dict) else {ENTRIES: value}), path, **form
    )


def write_json(value: dict[str, Any] | list[Any], path: Path) -> None:
    """Write JSON with a schema number, a seal, sorted keys and a final newline."""
    text = as_sealed_json(value, path, indent=2, sort_keys=True, allow_nan=False)
    with replacing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read_json(path: Path) -> Any:
    """Return the value that `write_json` wrote.

    A file with a newer schema number or with a seal that does not match the file raises a `UserError`.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise unreadable(path, "readable JSON", error) from None
    if not isinstance(value, dict):
        check_seal(path, None, 0)
        return value
    number = _check_number(value.pop(NUMBER, 0), path)
    check_seal(path, value.pop(SEAL, None), number)
    return value[ENTRIES] if value.keys() == {ENTRIES} else value


def _check_number(number: Any, path: Path) -> Any:
    if str(number) not in map(str, range(SCHEMA_VERSION + 1)):
        limit = f"this version of vsebench reads up to {SCHEMA_VERSION}"
        advice = "install a newer version, or delete the file and run again"
        raise UserError(f"{path}: schema number {number}, but {limit}; {advice}")
    return number


def write_arrays(path: Path, **arrays: np.ndarray) -> None:
    """Write arrays of numbers or text as an uncompressed .npz."""
    if any(np.asarray(array).dtype.hasobject for array in arrays.values()):
        raise TypeError(f"{path}: Python objects cannot be written, because reading them would execute code")
    seal = open_seal(path, repeatable=True)
    with replacing(path) as temporary:
        np.savez(temporary, **arrays)  # type: ignore[arg-type]  # NumPy 2.0 has no argument `allow_pickle`
        with zipfile.ZipFile(temporary, "a") as archive:
            archive.comment = json.dumps(seal).encode()
        close_seal(temporary, path, seal)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read an .npz file without executing anything in it.

    An array that would take more than the share `LARGE` of the memory is memory-mapped, read-only.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            check_seal(path, parsed(archive.comment))
            places = {info.filename.removesuffix(".npy"): _place_of_large(archive, info) for info in archive.infolist()}
        with np.load(path, allow_pickle=False) as arrays:
            return {
                name: arrays[name] if place is None else np.asarray(np.memmap(path, mode="r", **place))
                for name, place in places.items()
            }
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except UserError:
        raise
    except Exception as error:  # NumPy's reader raises a dozen kinds of errors for a damaged file
        raise unreadable(path, "a readable .npz file", error) from None


def is_large(n_bytes: int) -> bool:
    """Return whether an array of `n_bytes` bytes must stay in its file, because it would take too much memory."""
    return n_bytes > LARGE * memory_limit()


def _place_of_large(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> dict[str, Any] | None:
    """Return where a large array is in an .npz file, as keyword arguments of `np.memmap`.

    The result is None if the array is not large or cannot be memory-mapped.
    """
    if not is_large(info.file_size) or info.compress_type != zipfile.ZIP_STORED:
        return None
    with archive.open(info) as member:
        if np.lib.format.read_magic(member) != (1, 0):
            return None
        shape, is_transposed, dtype = np.lib.format.read_array_header_1_0(member)
        header = member.tell()
    if dtype.hasobject:
        return None
    assert archive.fp is not None
    archive.fp.seek(info.header_offset + SIZES_OF_NAMES)
    names = sum(struct.unpack("<HH", archive.fp.read(4)))
    offset = info.header_offset + SIZES_OF_NAMES + 4 + names + header
    return {"dtype": dtype, "shape": shape, "offset": offset, "order": "F" if is_transposed else "C"}


def write_array(array: np.ndarray, path: Path) -> None:
    """Write an array as an .npy file that can be memory-mapped."""
    with replacing(path) as temporary:
        np.save(temporary, array, allow_pickle=False)
        seal_array(temporary, path)


def seal_array(written: Path, path: Path) -> None:
    """Append a seal to an .npy file; readers of .npy files ignore the seal.

    `written` is the temporary path of the file, and `path` is its final path.
    """
    seal = open_seal(path, repeatable=True)
    with written.open("ab") as file:
        file.write(b"\n" + json.dumps(seal).encode())
    close_seal(written, path, seal)


def map_array(path: Path) -> np.ndarray:
    """Return an array that `write_array` wrote, memory-mapped and read-only."""
    try:
        check_seal(path, seal_behind(path))
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (OSError, ValueError, EOFError) as error:
        raise unreadable(path, "a readable .npy file", error) from None
    return array


def unreadable(path: Path, wanted: str, error: BaseException) -> UserError:
    """Return the error for a file that cannot be read.

    Its message says what the file should be (`wanted`), and advises the user to delete the file. If `path` is a folder
    or a device, the message asks for a file instead.
    """
    if not path.is_file():
        return UserError(f"{path}: is a folder or a device; name a file")
    return UserError(f"{path}: not {wanted} ({error}); {DELETE}")


def seal_of(path: Path) -> object:
    """Return the seal in a .json, .npy, .npz or .parquet file; None if the file has no seal."""
    if path.suffix == ".parquet":
        return parsed(pl.read_parquet_metadata(path).get(SEAL, ""))
    if path.suffix == ".npz":
        with zipfile.ZipFile(path) as archive:
            return parsed(archive.comment)
    if path.suffix == ".npy":
        return seal_behind(path)
    value = parsed(path.read_bytes())
    return value.get(SEAL) if isinstance(value, dict) else None


def features_file(name: str, is_sparse: bool) -> str:
    """Return the name of the file that contains a set of features in a processed data set.

    `name` is the name of the set. It may be empty if the data set has only one set.

    >>> features_file("", False), features_file("hue", True)
    ('features.npy', 'features-hue.npz')
    """
    return f"features{'-' if name else ''}{name}.{'npz' if is_sparse else 'npy'}"


def set_of(path: Path) -> str:
    """Return the name of a set of features, given the path of its file (see `features_file`)."""
    return path.stem.partition("-")[2]
