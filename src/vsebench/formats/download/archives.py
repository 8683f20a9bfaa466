"""Read members of tar and zip archives, in memory or as a stream; nothing is extracted to disk.

These rules protect against damaged and malicious archives. An archive that breaks a rule raises a `UserError`.

- Members are chosen by name and read as bytes, so `..` or a leading slash in a name is harmless.
- A member to be read must be a plain file (no link, device or sparse file) with a unique name.
- The members that one call of `read_members` reads may contain at most `MEMORY` bytes in all.
- A tar archive may unpack to at most `MEMORY` bytes or `RATIO` times its own size, whichever is more. The headers of a
  member may take at most `HEADER` bytes.
- Compressed tar archives are read to the end, so that their checksum is verified.
"""

import bz2
import gzip
import io
import json
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from vsebench.core.errors import UserError

MEMORY = 1 << 30  # bytes
RATIO = 200  # the largest ratio among the official archives is 79
HEADER = 1 << 20  # bytes; tarfile would read a header of any stated size into memory
BLOCK = 1 << 20

Chooser = Callable[[str], bool]


def read_members(archive: Path, is_chosen: Chooser) -> dict[str, bytes]:
    """Read the chosen files of a .zip archive or of a tar archive, which may be compressed.

    `is_chosen` returns whether to read a member, given its full name. The result maps the full name of each chosen
    member to its content, in the order of the archive. Raises a `UserError` if the archive is missing or damaged, or
    breaks one of the rules of this module.
    """
    if archive.suffix == ".zip":
        with _explained(archive):
            return _read_zip(archive, is_chosen)
    content: dict[str, bytes] = {}
    left = MEMORY
    with open_members(archive, is_chosen) as members:
        for name, stream in members:
            content[name] = stream.read(left + 1)
            left -= len(content[name])
            if left < 0:
                raise _too_big(archive)
    return content


@contextmanager
def open_members(archive: Path, is_chosen: Chooser) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
    """Open the chosen files of a tar archive as streams, one after the other.

    Members that are too big for memory can be read in this way. `is_chosen` returns whether to open a member, given its
    full name. Yields an iterator over pairs (full name, stream); read each stream before you ask for the next pair.

    Raises a `UserError` if the archive is missing or damaged, or breaks one of the rules of this module. Damage may be
    found only while a stream is read, or at the end of the `with` block.
    """
    with _explained(archive):
        unpacked = _Unpacked(archive)
    with unpacked:
        with _explained(archive):
            members = unpacked.tar()
        yield _streams(members, unpacked, is_chosen, archive)
        with _explained(archive):
            unpacked.drain()


def check_tar(path: Path, whole: bool) -> None:
    """Raise a `UserError` if a tar archive contains no member or cannot be read.

    If `whole` is false, only the header of the first member is read.
    """
    with _explained(path), _Unpacked(path) as unpacked:
        members = unpacked.tar()
        if members.next() is None:
            raise tarfile.ReadError("it contains no file")
        while whole and _next(members, unpacked) is not None:
            pass
        if whole:
            unpacked.check_end(members.offset)


def check_compressed(path: Path) -> None:
    """Raise a `UserError` if a compressed file cannot be read to its end."""
    with _explained(path), _Unpacked(path) as unpacked:
        unpacked.drain()


class _Unpacked(io.RawIOBase):
    """The decompressed content of an archive or of a compressed file, as a stream that enforces the module's limits."""

    OPENERS: tuple[tuple[bytes, Any], ...] = (
        (b"\x1f\x8b", gzip.open),
        (b"BZh", bz2.open),
        (b"\xfd7zXZ\0", lzma.open),
        (b"", io.open),
    )

    def __init__(self, archive: Path) -> None:
        with archive.open("rb") as stream:
            head = stream.read(6)
        self.limit = max(MEMORY, RATIO * archive.stat().st_size)
        self.left: int | None = None  # how many more bytes of a header may be read; None outside headers
        self.stream: IO[bytes] = next(opener for magic, opener in self.OPENERS if head.startswith(magic))(archive, "rb")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.stream.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position; skipped bytes count towards the limit, because they too are decompressed."""
        self._check(offset)
        return self.stream.seek(offset, whence)

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes; raise a `tarfile.ReadError` if `size` exceeds `HEADER`.

        tarfile requests more bytes at once only if a header states a false length. Newer versions of tarfile read a
        long header in pieces, so the sum of the pieces may not exceed `HEADER` either.
        """
        if not 0 <= size <= (HEADER if self.left is None else self.left):
            raise tarfile.ReadError("a header is too long")
        if self.left is not None:
            self.left -= size
        data = self.stream.read(size)
        self._check(self.stream.tell())
        return data

    def tar(self) -> tarfile.TarFile:
        """Open the stream as a tar archive; this reads the first header."""
        with self.reading_header():
            return tarfile.TarFile(fileobj=self)

    @contextmanager
    def reading_header(self) -> Iterator[None]:
        """Raise a `tarfile.ReadError` if a `with` block reads more than `HEADER` bytes.

        The block reads the header of a member and any extra headers before it.
        """
        self.left = HEADER
        try:
            yield
        finally:
            self.left = None

    def _check(self, offset: int) -> None:
        if offset > self.limit:
            raise tarfile.ReadError(f"it unpacks to more than {self.limit} bytes")

    def drain(self) -> None:
        """Read to the end, which verifies the checksum of a compressed file."""
        while self.read(BLOCK):
            pass

    def check_end(self, offset: int) -> None:
        """Check that a block of zeros, which ends every tar archive, is at `offset`, and read the rest."""
        self.seek(offset)
        if self.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
            raise tarfile.ReadError("its end is missing")
        self.drain()

    def close(self) -> None:
        self.stream.close()
        super().close()


class _Member(io.RawIOBase):
    """The stream of a member's bytes; a damaged archive raises a `UserError`."""

    def __init__(self, stream: IO[bytes], archive: Path) -> None:
        self.stream, self.archive = stream, archive

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _explained(self.archive):
            data = self.stream.read(min(len(buffer), BLOCK))
        buffer[: len(data)] = data
        return len(data)


def _streams(
    members: tarfile.TarFile, unpacked: _Unpacked, is_chosen: Chooser, archive: Path
) -> Iterator[tuple[str, IO[bytes]]]:
    seen: set[str] = set()
    while True:
        with _explained(archive):
            member = _next(members, unpacked)
        if member is None:
            return
        if member.isdir() or not is_chosen(member.name):
            continue
        _check_member(archive, member.name, seen, member.isreg() and not member.issparse())
        with _explained(archive):
            stream = members.extractfile(member)
        assert stream is not None  # extractfile returns None only for members that are not files
        yield member.name, io.BufferedReader(_Member(stream, archive), BLOCK)


def _next(members: tarfile.TarFile, unpacked: _Unpacked) -> tarfile.TarInfo | None:
    with unpacked.reading_header():
        member = members.next()
    members.members = []  # type: ignore[attr-defined]  # otherwise TarFile keeps all members in memory
    return member


def _check_member(archive: Path, name: str, seen: set[str], plain: bool) -> None:
    if len(name.splitlines()) > 1:
        raise UserError(
            f"{archive}: {name!r}: the name contains a line break; rename the file, or use the official archive"
        )
    if not plain:
        raise UserError(f"{archive}: {name}: is not a plain file (it may be a link); use the official archive")
    if name in seen:
        raise UserError(f"{archive}: contains {name} more than once; remove one, or use the official archive")
    seen.add(name)


def _read_zip(archive: Path, is_chosen: Chooser) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as members:
        chosen = [member for member in members.infolist() if not member.is_dir() and is_chosen(member.filename)]
        # The sizes in the headers can be trusted, because zipfile never reads more of a member than its header states.
        if sum(member.file_size for member in chosen) > MEMORY:
            raise _too_big(archive)
        content: dict[str, bytes] = {}
        seen: set[str] = set()
        for member in chosen:
            kind = stat.S_IFMT(member.external_attr >> 16)
            _check_member(archive, member.filename, seen, kind in (0, stat.S_IFREG))
            content[member.filename] = members.read(member)
        return content


def _too_big(archive: Path) -> UserError:
    return UserError(f"{archive}: the files to read exceed {MEMORY} bytes in all; use the official archive")


# Errors that the libraries raised when archives were damaged on purpose (docs/reliability.md).
DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    EOFError, OSError, ValueError, OverflowError, RuntimeError, KeyError, IndexError,
)  # fmt: skip


@contextmanager
def _explained(archive: Path) -> Iterator[None]:
    """Turn errors caused by a missing or damaged archive into a `UserError`."""
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{archive}: no such file; run the download stage, which puts it there") from None
    except DAMAGE as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{archive}: not a readable archive ({reason}); delete it and download it again") from None


def by_basename(archive: Path, names: list[str]) -> dict[str, bytes]:
    """Read the members whose file names are in `names`, in any folder of the archive.

    Returns the content of each member by its file name. If a file is missing or occurs more than once, a `UserError`
    names it.
    """
    content: dict[str, bytes] = {}
    for name, data in read_members(archive, lambda name: name.rpartition("/")[2] in names).items():
        basename = name.rpartition("/")[2]
        if basename in content:
            raise UserError(f"{archive}: contains {basename} more than once; use the official archive")
        content[basename] = data
    missing = [name for name in names if name not in content]
    if missing:
        listed = " or ".join((name if name.isprintable() else ascii(name))[:80] for name in missing[:3])
        listed += f" (number of missing files: {len(missing)})" if len(missing) > 3 else ""
        raise UserError(f"{archive}: contains no {listed}; use the official archive")
    return content


def read_json_member(archive: Path, name: str, kept: Collection[str]) -> Any:
    """Parse a JSON file in an archive, and keep only those keys of its objects that are in `kept`.

    With all keys, the result could take gigabytes. Raises a `UserError` that names the archive and the file if the file
    is missing, is not JSON, or contains an object with duplicate keys.
    """

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            raise ValueError("an object has a duplicate key")
        return {key: value for key, value in values.items() if key in kept}

    data = by_basename(archive, [name])[name]
    try:
        text = data.decode("utf-8-sig")
        del data  # frees up to 0.4 GB
        return json.loads(text, object_pairs_hook=keep)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{archive}: {name}: not readable JSON ({error}); use the official archive") from None


def line_blocks(stream: IO[bytes], size: int = 1 << 22) -> Iterator[bytes]:
    """Yield blocks of whole lines, of about `size` bytes each; if the last line has no newline, one is added."""
    rest = b""
    while block := stream.read(size):
        lines, newline, tail = block.rpartition(b"\n")
        if newline:
            yield rest + lines + newline
            rest = tail
        else:
            rest += block
    if rest:
        yield rest + b"\n"


def whole_lines(data: bytes, where: str) -> list[str]:
    """Split text into lines as `text_lines` does, but raise a `UserError` if the last line has no line break.

    A file without this line break may be incomplete: its last line may end in the middle of a number or a name.
    """
    lines = text_lines(data, where)
    if data and not data.endswith((b"\n", b"\r")):
        raise UserError(f"{where}: has no line break at its end, so a part of it may be missing; download it again")
    return lines


def text_lines(data: bytes, where: str) -> list[str]:
    """Split UTF-8 text into lines without surrounding white space; blank lines at the end are removed.

    Lines end with LF, CR LF or CR. str.splitlines() would also split at other characters, which names can contain. If
    the text is not UTF-8, a `UserError` is raised that begins with `where`.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{where}: line {line}: not UTF-8 text") from None
    lines = [line.strip() for line in io.StringIO(text, newline=None)]
    while lines and not lines[-1]:
        lines.pop()
    return lines
