"""Reading members of tar and zip archives, in memory or as a stream; nothing is extracted to disk."""

import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from vsebench.errors import UserError

Chooser = Callable[[str], bool]


def read_members(archive: Path, wanted: Chooser) -> dict[str, bytes]:
    """Read those files of an archive whose name `wanted` accepts.

    Parameters
    ----------
    archive
        A .zip file, or a tar file however compressed.
    wanted
        Tells from a member's full name whether to read it.

    Returns
    -------
    The content of each member by its full name, in the archive's order.

    Raises
    ------
    UserError
        The archive is missing or damaged.
    """
    reader = _read_zip if archive.suffix == ".zip" else _read_tar
    with _explained(archive):
        return reader(archive, wanted)


@contextmanager
def open_members(archive: Path, wanted: Chooser) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
    """Open the files of a tar archive whose name `wanted` accepts one after the other, for members too big for memory.

    Yields an iterator over (full name, stream); read a stream before taking the next. Raises a `UserError` like
    `read_members`, also for damage that shows while a stream is read.
    """

    def streams() -> Iterator[tuple[str, IO[bytes]]]:
        for member in members:
            stream = members.extractfile(member) if member.isfile() and wanted(member.name) else None
            if stream is not None:
                yield member.name, stream

    with _explained(archive), tarfile.open(archive) as members:
        yield streams()


@contextmanager
def _explained(archive: Path) -> Iterator[None]:
    """Turn what a missing or damaged archive raises into a `UserError`."""
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{archive}: no such file; the download stage puts it there") from None
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise UserError(f"{archive}: not a readable archive ({error}); delete it and download it again") from None


def _read_zip(archive: Path, wanted: Chooser) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as members:
        return {name: members.read(name) for name in members.namelist() if not name.endswith("/") and wanted(name)}


def _read_tar(archive: Path, wanted: Chooser) -> dict[str, bytes]:
    content = {}
    with tarfile.open(archive) as members:
        for member in members:
            if member.isfile() and wanted(member.name):
                stream = members.extractfile(member)
                assert stream is not None  # so it is for files
                content[member.name] = stream.read()
    return content


def by_basename(archive: Path, names: list[str]) -> dict[str, bytes]:
    """Read members by the last part of their name, wherever in the archive they lie.

    Raises a `UserError` that names what is missing or stands there twice.
    """
    content: dict[str, bytes] = {}
    for name, data in read_members(archive, lambda name: name.rpartition("/")[2] in names).items():
        basename = name.rpartition("/")[2]
        if basename in content:
            raise UserError(f"{archive}: holds {basename} twice, so it is unclear which is meant")
        content[basename] = data
    missing = [name for name in names if name not in content]
    if missing:
        raise UserError(f"{archive}: holds no {', '.join(missing)}; is it the official archive?")
    return content


def text_lines(data: bytes, where: str) -> list[str]:
    """Split a text member into its lines without surrounding white space; blank lines at the end do not count."""
    try:
        lines = [line.strip() for line in data.decode("utf-8-sig").splitlines()]
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{where}: line {line}: not UTF-8 text") from None
    while lines and not lines[-1]:
        lines.pop()
    return lines
