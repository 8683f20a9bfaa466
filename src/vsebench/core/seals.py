"""Seals: data inside a file of results that show whether the file was changed, damaged or renamed, or is outdated.

A seal is JSON inside its file. The place of the seal depends on the format of the file:

- JSON: the key `seal`
- Parquet: the key `seal` of the metadata
- .npz: the comment of the archive
- .npy: the bytes after the array

A seal has the following keys:

checksum     SHA-256 of the file with 64 zeros in place of the checksum
made_with    path -> checksum, for each repeatable file that the same job had read or written before
path         the file's path below the folder of results or data
repeatable   whether the same run always gives the same bytes; false for measured times and descriptions of a machine
schema       the schema number

Whenever a file is read, its checksum and its path are checked. A job (`job`) also checks that the files that it reads
belong together: for example, that a model was fitted on the split whose test labels it ranks.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from mmap import ACCESS_READ, mmap
from pathlib import Path, PurePath
from typing import IO, Any

from vsebench.core.errors import UserError

# The schema number of Parquet and JSON results. Increase it when an older version of vsebench would fail on a file or
# misread it: when a column or key is removed or changes its meaning. From 3 on, files have seals.
SCHEMA_VERSION = 3

SEAL = "seal"
FOLDERS = ("results", "data")  # a seal states a file's path below the last folder of such a name
KEY = '"checksum": "'  # as `json.dumps` writes it
NO_CHECKSUM = "0" * 64
BLOCK = 2**20  # bytes that are read at a time
DELETE = "delete it and run again"


@dataclass
class Job:
    """The files that a job has read and written."""

    checksums: dict[str, str] = field(default_factory=dict)  # path in the seal -> checksum, of repeatable files
    # path -> the checksum of this file that another file states in `made_with`, and the other file
    stated: dict[str, tuple[str, Path]] = field(default_factory=dict)

    def add(self, path: Path, seal: dict[str, Any]) -> None:
        """Add a file that was read.

        A `UserError` is raised if the files of the job depend on different versions of the same file. Files that do not
        belong to the run, such as those of packs, are ignored.
        """
        if seal["path"] != below(path) or not is_in_run(path):  # such as a file of a pack, from another run
            return
        checksum, stated = seal["checksum"], self.stated.get(seal["path"])
        if stated and stated[0] != checksum:
            raise UserError(f"{stated[1]}: made with another version of {path}; delete {stated[1]} and run again")
        for name, of_name in seal["made_with"].items():
            if self.checksums.get(name, of_name) != of_name:
                raise UserError(f"{path}: made with another version of {name}; delete {path} and run again")
            first, by = self.stated.setdefault(name, (of_name, path))
            if first != of_name:
                raise UserError(f"{path} and {by}: made with different versions of {name}; delete both and run again")
        if seal["repeatable"]:
            self.checksums[seal["path"]] = checksum


_job: Job | None = None


@contextmanager
def job() -> Iterator[None]:
    """Check that all files that are read in a `with` block belong together."""
    global _job
    before, _job = _job, Job()
    try:
        yield
    finally:
        _job = before


def below(path: PurePath) -> str:
    """Return a file's path below the folder of results or data.

    If the file is in neither folder, the result is only the name of the file.

    >>> below(Path("runs/results/scene/official/metrics.parquet")), below(Path("copies/metrics.parquet"))
    ('scene/official/metrics.parquet', 'metrics.parquet')
    """
    parts = path.parts
    last = max((at for at, part in enumerate(parts[:-1]) if part in FOLDERS), default=len(parts) - 2)
    return "/".join(parts[last + 1 :])


def is_in_run(path: PurePath) -> bool:
    """Return whether a file is in a folder of results or data."""
    return not set(FOLDERS).isdisjoint(path.parts[:-1])


def open_seal(path: Path, repeatable: bool) -> dict[str, Any]:
    """Return the seal of a file that is about to be written, still without its checksum."""
    made_with = dict(sorted(_job.checksums.items())) if _job and is_in_run(path) else {}
    keys = {"checksum": NO_CHECKSUM, "made_with": made_with, "path": below(path)}
    return keys | {"repeatable": repeatable, "schema": SCHEMA_VERSION}


def close_seal(written: Path, path: Path, seal: dict[str, Any]) -> None:
    """Enter the checksum into a file that was written with the seal `seal`.

    `written` is the temporary path of the file, and `path` is its final path.
    """
    with written.open("r+b") as file:
        with mapped(file.fileno()) as content:
            at = _place(content, NO_CHECKSUM)
        checksum = _checksum(file, at)
        file.seek(at)
        file.write(checksum.encode())
    if _job and seal["repeatable"] and is_in_run(path):
        _job.checksums[seal["path"]] = checksum


def sealed_json(value: dict[str, Any], path: Path, **form: Any) -> str:
    """Return a value as JSON, with a seal for the file `path`.

    The line break that ends the file is left out. `form` contains keyword arguments for `json.dumps`.
    """
    text = json.dumps(value | {SEAL: open_seal(path, repeatable=False)}, **form)
    content = (text + "\n").encode()
    at = _place(content, NO_CHECKSUM)
    return (content[:at] + _checksum(BytesIO(content), at).encode() + content[at + len(NO_CHECKSUM) : -1]).decode()


def check_seal(path: Path, seal: object, schema: object = SCHEMA_VERSION) -> None:
    """Check a file's seal; raise a `UserError` if the file has no seal or if the seal does not match the file.

    A file whose schema number is below `SCHEMA_VERSION` has no seal. Such a file is accepted in a pack or outside a
    run's folders. `schema` is the schema number of the file.
    """
    if seal is None and str(schema) in map(str, range(SCHEMA_VERSION)) and (is_of_pack(path) or not is_in_run(path)):
        return
    read = checked(path, seal)
    if is_in_run(path) and not is_path(read["path"], below(path)):
        raise UserError(f"{path}: written as {read['path']}, then renamed or copied; {DELETE}")
    if _job:
        _job.add(path, read)


def is_of_pack(path: PurePath) -> bool:
    """Return whether a file is in the folder of an unpacked pack."""
    return below(path).startswith("packs/")


def is_path(sealed: str, path: str) -> bool:
    """Return whether the path in a seal matches a file's path: the shorter path must be the end of the longer one."""
    parts = zip(reversed(PurePath(sealed).parts), reversed(PurePath(path).parts), strict=False)
    return all(first == second for first, second in parts)


def checked(path: Path, seal: object) -> dict[str, Any]:
    """Return a file's seal; raise a `UserError` if the seal does not match the content of the file."""
    if not _is_seal(seal):
        cause = "it was edited or damaged, or an older version of vsebench wrote it"
        raise UserError(f"{path}: has no checksum: {cause}; {DELETE}")
    assert isinstance(seal, dict)
    with path.open("rb") as file:
        with mapped(file.fileno()) as content:
            at = _place(content, seal["checksum"])
        if _checksum(file, at) != seal["checksum"]:
            raise UserError(f"{path}: it was changed after it was written, or is damaged; {DELETE}")
    return seal


def seal_behind(path: Path) -> object:
    """Return the seal that follows the array of an .npy file; None if there is none."""
    with path.open("rb") as file, mapped(file.fileno()) as content:
        at = content.rfind(("{" + KEY).encode())
        return parsed(content[at:]) if at >= 0 else None


@contextmanager
def mapped(number: int) -> Iterator[mmap]:
    """Yield the content of an open file, mapped into memory.

    `number` is the file descriptor. An empty file raises a `ValueError`.
    """
    with mmap(number, 0, access=ACCESS_READ) as content:
        yield content


def parsed(text: str | bytes) -> object:
    """Parse JSON; return None if the text is not JSON."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _is_seal(seal: object) -> bool:
    """Return whether a value is a dictionary with all keys of a seal and values of the right types."""
    types = {"checksum": str, "made_with": dict, "path": str, "repeatable": bool, "schema": int}
    return isinstance(seal, dict) and all(isinstance(seal.get(key), kind) for key, kind in types.items())


def _place(content: mmap | bytes, checksum: str) -> int:
    """Return the position in a file's content at which the checksum begins."""
    return content.rfind((KEY + checksum).encode()) + len(KEY)


def _checksum(file: IO[bytes], at: int) -> str:
    """Return the SHA-256 of a file with zeros in place of its checksum.

    The checksum has 64 characters and begins at position `at`. The file is read in blocks, because a file that is
    mapped into memory would count as memory of this process.
    """
    digest = hashlib.sha256()
    file.seek(0)
    while block := file.read(min(BLOCK, at - file.tell())):
        digest.update(block)
    digest.update(NO_CHECKSUM.encode())
    file.seek(at + len(NO_CHECKSUM))
    while block := file.read(BLOCK):
        digest.update(block)
    return digest.hexdigest()
