"""Write the results of a run to a pack, and read packs that may be damaged or made by others.

A pack is a zip file. Its members are files of a folder of results, at the same paths, and two files that describe them:
pack.json (`manifest`) and ro-crate-metadata.json (`ro_crate`). So an unpacked pack is read like a folder of results.
The same results give the same bytes: members are sorted and have the same date.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from vsebench.core.errors import UserError, one_line
from vsebench.core.storage import numbered, replacing
from vsebench.core.tasks import Case, Entry
from vsebench.packs.manifest import MANIFEST, Manifest, files_read, manifest_of, read_manifest
from vsebench.packs.ro_crate import CRATE, describe
from vsebench.protocols.base import load_protocol

SUFFIX = ".vsepack"
DATE = (1980, 1, 1, 0, 0, 0)  # of all members; the earliest that a zip file can state
LARGEST = 1 << 30  # bytes of a member
LARGEST_SUM = 1 << 32  # bytes of all members
NEEDED = ("summary.parquet", "metrics.parquet", "settings.json", "datasets.json", "machine.json", "outline.json")
IF_MADE = ("timing.parquet", "claims.csv", "comparison.csv")
# No member can lie outside the folder that a pack is unpacked to: the names of folders contain no dots.
MEMBER = re.compile(r"(?:[a-z0-9][a-z0-9_-]*/){0,4}[a-z0-9][a-z0-9_-]*\.(?:json|csv|parquet)")
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


@dataclass(frozen=True)
class Run:
    """The results of a run, from a folder or from a pack.

    Attributes
    ----------
    path : the folder or the pack, as the user named it
    folder : a folder of results with the files that a pack has
    """

    path: Path
    folder: Path
    manifest: Manifest


def write_pack(results: Path, data: Path, out: Path) -> Manifest:
    """Write a pack of a finished run, and return its manifest.

    Parameters
    ----------
    results : the folder of its results
    data : the folder of its data, whose files are hashed where they are there
    out : the file to write
    """
    manifest = manifest_of(results, data)
    files = {name: results / name for name in members_of(manifest, results)}
    for path in files.values():
        if not path.is_file():
            raise UserError(f"{path}: no such file; finish the run, then pack its results")
    sizes = {name: path.stat().st_size for name, path in files.items()}
    texts = {
        MANIFEST: _json(numbered(manifest.model_dump(mode="json"))),
        CRATE: _json(describe(manifest, sizes, (results / "summary.parquet").stat().st_mtime)),
    }
    with replacing(out) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name in sorted([*texts, *files]):
            member = zipfile.ZipInfo(name, DATE)
            member.create_system, member.external_attr = 3, 0o644 << 16  # as on Unix, on any system
            # Parquet files are compressed already.
            member.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
            archive.writestr(member, texts[name] if name in texts else files[name].read_bytes())
    return manifest


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def members_of(manifest: Manifest, results: Path) -> list[str]:
    """Return the paths of the files of results that belong in the pack."""
    names = [*NEEDED, *(name for name in IF_MADE if (results / name).is_file())]
    for task, packed in manifest.of_tasks.items():
        decided = {Entry.of(name).variant for name in packed.decided}
        for method, seeds in packed.methods.items():
            files = ["ranks.parquet", *files_read(manifest.metrics)]
            files += ["lists.parquet", "decisions.parquet"] if method in decided else []
            if not load_protocol(task.protocol).new_images:  # then images are not ranked for labels
                files = [file for file in files if file != "label_ranks.parquet"]
            folders = [Case(task, method, seed).folder(Path()) for seed in seeds]
            names += [f"{folder}/{file}" for folder in folders for file in dict.fromkeys(files)]
        splits = [Case(task, "", seed).split(Path()) for seed in packed.splits]
        names += [f"{split}/{file}" for split in splits for file in ("split.json", "labels.parquet")]
    return names


@contextmanager
def opened(path: Path) -> Iterator[Run]:
    """Yield the results in a folder or a pack; those of a pack are in a temporary folder until the block ends."""
    if path.is_dir():
        yield Run(path, path, manifest_of(path))
        return
    with TemporaryDirectory(prefix="vsebench-") as folder:
        yield Run(path, Path(folder), unpack(path, Path(folder)))


def read_pack(path: Path) -> Manifest:
    """Return the manifest of a pack without unpacking the rest."""
    with reading(path) as archive:
        return _manifest(archive, path)


def unpack(path: Path, folder: Path) -> Manifest:
    """Write all members of a pack into a folder, and return its manifest."""
    with reading(path) as archive:
        manifest = _manifest(archive, path)
        for member in archive.infolist():
            target = folder / member.filename
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(member))
    return manifest


@contextmanager
def reading(path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield a pack whose members are checked; a file that is no pack, or a damaged one, raises a `UserError`."""
    if not path.is_file():
        raise UserError(f"{path}: no such pack, and no folder of results")
    with path.open("rb") as file, checked(file, str(path)) as archive:
        yield archive


@contextmanager
def checked(file: BinaryIO, where: str) -> Iterator[zipfile.ZipFile]:
    """Yield an open pack whose members are checked; `where` names it in errors."""
    try:
        with zipfile.ZipFile(file) as archive:
            check_members(archive, where)
            yield archive
    except DAMAGED as error:
        raise UserError(f"{where}: not a readable pack ({one_line(error)}); get it again") from None


def check_members(archive: zipfile.ZipFile, where: str) -> None:
    """Refuse a member that no pack has: with another name, twice, or too large."""
    names: set[str] = set()
    for member in archive.infolist():
        if not MEMBER.fullmatch(member.filename):
            raise UserError(f"{where}: {member.filename!r} does not belong in a pack; do not use this file")
        if member.filename in names:
            raise UserError(f"{where}: {member.filename} is there twice; do not use this file")
        if member.file_size > LARGEST:
            raise UserError(f"{where}: {member.filename} has {member.file_size:,} bytes; at most {LARGEST:,} are read")
        names.add(member.filename)
    if sum(member.file_size for member in archive.infolist()) > LARGEST_SUM:
        raise UserError(f"{where}: the members have more than {LARGEST_SUM:,} bytes, which are not read")
    for name in (MANIFEST, *NEEDED):
        if name not in names:
            raise UserError(f"{where}: not a pack of vsebench: it has no {name}")


def _manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    return read_manifest(json.loads(archive.read(MANIFEST)), str(path))
