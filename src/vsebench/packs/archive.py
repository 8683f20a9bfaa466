"""Read packs, which may be damaged or come from an untrusted source.

A pack is a zip file. It contains files of a folder of results, at the same paths as in this folder, and two files that
describe them: pack.json (see `manifest`) and ro-crate-metadata.json (see `ro_crate`). So an unpacked pack can be read
like a folder of results.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from vsebench.core.errors import UserError, one_line
from vsebench.packs.manifest import MANIFEST, Manifest, read_manifest

LARGEST = 1 << 30  # maximum number of bytes of a member
LARGEST_SUM = 1 << 32  # maximum number of bytes of all members together
NEEDED = ("summary.parquet", "metrics.parquet", "settings.json", "datasets.json", "machine.json", "outline.json")
# No member can lie outside the folder that a pack is unpacked to, because folders whose names have dots do not match.
MEMBER = re.compile(r"(?:[a-z0-9][a-z0-9_-]*/){0,4}[a-z0-9][a-z0-9_-]*\.(?:json|csv|md|parquet)")
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    LookupError,
)


def read_pack(path: Path) -> Manifest:
    """Return the manifest of a pack without unpacking the rest."""
    with reading(path) as archive:
        return _manifest(archive, path)


def read_text(path: Path, name: str) -> str | None:
    """Return the text of a pack's member without unpacking the rest; None if the pack has no such member."""
    with reading(path) as archive:
        _manifest(archive, path)
        return archive.read(name).decode() if name in archive.namelist() else None


def unpack(path: Path, folder: Path) -> Manifest:
    """Write all members of a pack into a folder, and return the manifest of the pack."""
    with reading(path) as archive:
        manifest = _manifest(archive, path)
        for member in archive.infolist():
            target = folder / member.filename
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(member))
    return manifest


@contextmanager
def reading(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a pack, check its members, and yield the open zip file.

    A `UserError` is raised if the file is missing or damaged, or if it is not a pack.
    """
    if not path.is_file():
        raise UserError(f"{path}: there is no pack and no folder of results with this name")
    with path.open("rb") as file, checked(file, str(path)) as archive:
        yield archive


@contextmanager
def checked(file: BinaryIO, where: str) -> Iterator[zipfile.ZipFile]:
    """Read a pack from an open file, check its members, and yield the zip file.

    A `UserError` is raised if the file is damaged or not a pack. Its message begins with `where`, the name of the pack.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            check_members(archive, where)
            yield archive
    except DAMAGED as error:
        raise UserError(f"{where}: not a readable pack ({one_line(error)}); download or copy it again") from None


def check_members(archive: zipfile.ZipFile, where: str) -> None:
    """Raise a `UserError` if a pack is too large or incomplete, or if a member is misnamed, repeated or too large."""
    names: set[str] = set()
    for member in archive.infolist():
        if not MEMBER.fullmatch(member.filename):
            raise UserError(f"{where}: {member.filename!r} does not belong in a pack; do not use this pack")
        if member.filename in names:
            raise UserError(f"{where}: {member.filename} occurs twice; do not use this pack")
        if member.file_size > LARGEST:
            raise UserError(
                f"{where}: {member.filename} has {member.file_size:,} bytes, but at most {LARGEST:,} are allowed"
            )
        names.add(member.filename)
    if sum(member.file_size for member in archive.infolist()) > LARGEST_SUM:
        raise UserError(f"{where}: its files have more than {LARGEST_SUM:,} bytes in total, so the pack is not read")
    for name in (MANIFEST, *NEEDED):
        if name not in names:
            raise UserError(f"{where}: not a pack of vsebench: it has no {name}")


def _manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    """Return the manifest, after comparing its checksums with the members of the pack."""
    manifest = read_manifest(json.loads(archive.read(MANIFEST)), str(path))
    for name, checksum in manifest.checksums.items():
        if name not in archive.namelist() or sha256(archive.read(name)).hexdigest() != checksum:
            raise UserError(f"{path}: {name} is missing or was changed after the pack was made; do not use this pack")
    return manifest
