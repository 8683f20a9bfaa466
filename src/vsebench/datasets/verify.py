"""Is a file what it should be?"""

import hashlib
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

from vsebench.config import SourceFile


class BadContentError(Exception):
    """A file is not what it should be; the message says in a few words why."""


class Digest(NamedTuple):
    """What identifies a file's content."""

    bytes: int
    md5: str
    sha256: str


def verify(path: Path, expected: SourceFile) -> Digest:
    """Check the content at `path` against what is known of the file `expected`.

    Raises `BadContentError` where it is empty, of another kind than its name says (servers like to answer with an error
    page and the status of success), of another size, or has another checksum.
    """
    _check_kind(path, expected.name)
    digest = digest_of(path)
    for what, wanted, found in (
        ("size", expected.size, digest.bytes),
        ("md5", expected.md5, digest.md5),
        ("sha256", expected.sha256, digest.sha256),
    ):
        if wanted is not None and wanted != found:
            raise BadContentError(f"its {what} is {found}, not {wanted}")
    return digest


def digest_of(path: Path) -> Digest:
    """Compute size and checksums in one pass."""
    md5, sha256, size = hashlib.md5(usedforsecurity=False), hashlib.sha256(), 0
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            md5.update(block)
            sha256.update(block)
            size += len(block)
    return Digest(size, md5.hexdigest(), sha256.hexdigest())


def _check_kind(path: Path, name: str) -> None:
    with path.open("rb") as stream:
        head = stream.read(512).lstrip().lower()
    if not head:
        raise BadContentError("it is empty")
    if head.startswith((b"<!doctype html", b"<html")):
        raise BadContentError(f"it is a web page, not {name}")
    if name.endswith(".zip") and not zipfile.is_zipfile(path):
        raise BadContentError("it is not a zip archive, or not a whole one")
    if ".tar." in name or name.endswith((".tar", ".tgz")):
        _check_tar(path)


def _check_tar(path: Path) -> None:
    """Read the first header, which the compression and the tar format must both let through."""
    try:
        with tarfile.open(path) as archive:
            empty = archive.next() is None
    except (tarfile.TarError, zlib.error, EOFError, OSError):
        empty = True
    if empty:
        raise BadContentError("it is not a tar archive")
