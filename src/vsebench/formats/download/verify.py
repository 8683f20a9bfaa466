"""Check the kind, size and checksums of a downloaded file."""

import hashlib
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import NamedTuple

from vsebench.config.dataset import SourceFile
from vsebench.core.errors import UserError
from vsebench.formats.download.archives import check_compressed, check_tar

WEB_PAGE = re.compile(rb"(?:<\?xml[^>]*>\s*)?(?:<!doctype html|<html|<head|<!--.*<html)", re.IGNORECASE | re.DOTALL)
MAGIC = {
    ".gz": b"\x1f\x8b",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\0",
    ".zst": b"\x28\xb5\x2f\xfd",
    ".parquet": b"PAR1",
    ".npy": b"\x93NUMPY",
}


class BadContentError(Exception):
    """Raised if a file has the wrong content; the message states in a few words what is wrong."""


class Digest(NamedTuple):
    """Size and checksums of a file."""

    bytes: int
    md5: str
    sha256: str


def verify(path: Path, expected: SourceFile) -> Digest:
    """Check the content at `path` against the name, size and checksums of the file `expected`.

    Returns the size and checksums of the content. Raises a `BadContentError` if the content is empty, does not match
    the extension of the name, or does not have the expected size or checksum. A web page is refused too, because some
    servers send an error page with a success status.
    """
    _check_kind(path, expected.name, whole=not (expected.size or expected.has_checksum))
    digest = digest_of(path)
    for what, stated, actual in (
        ("size", expected.size, digest.bytes),
        ("md5", expected.md5, digest.md5),
        ("sha256", expected.sha256, digest.sha256),
    ):
        if stated is not None and stated != actual:
            raise BadContentError(f"its {what} is {actual}, not {stated}")
    return digest


def digest_of(path: Path) -> Digest:
    """Compute size and checksums in one pass over the file."""
    md5, sha256, size = hashlib.md5(usedforsecurity=False), hashlib.sha256(), 0
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            md5.update(block)
            sha256.update(block)
            size += len(block)
    return Digest(size, md5.hexdigest(), sha256.hexdigest())


def _check_kind(path: Path, name: str, whole: bool) -> None:
    """Check that the content fits the extension and, with `whole`, that tar and compressed files are complete."""
    with path.open("rb") as stream:
        head = stream.read(512).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head:
        raise BadContentError("it is empty")
    if WEB_PAGE.match(head) or (head.startswith(b"<?xml") and not name.endswith(".xml")):
        raise BadContentError(f"it is a web page, not {name}")
    if name.endswith((".zip", ".npz")) and not zipfile.is_zipfile(path):
        raise BadContentError("it is not a zip archive, or it is incomplete")
    if ".tar." in name or name.endswith((".tar", ".tgz")):
        with _refused("it is not a tar archive"):
            check_tar(path, whole=False)
        with _refused("it is not a complete tar archive"):
            check_tar(path, whole)
    elif not head.startswith(MAGIC.get(PurePath(name).suffix, b"")):
        raise BadContentError(f"it is not a {PurePath(name).suffix} file")
    elif whole and name.endswith((".gz", ".bz2", ".xz")):
        with _refused("it is not a complete file"):
            check_compressed(path)


@contextmanager
def _refused(why: str) -> Iterator[None]:
    try:
        yield
    except UserError:
        raise BadContentError(why) from None
