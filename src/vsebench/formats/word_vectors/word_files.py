"""What the readers of word vectors share: options, opening a file, and the vectors that are kept.

A file is read once from its start to its end, and only the wanted words are kept, so that its size does not matter.
Whether it is compressed (gzip, or a zip archive) is read off its first bytes and not off its name. Words are compared
as bytes, in UTF-8: some files have words that are not.
"""

import gzip
import io
import zipfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.formats.download.archives import DAMAGE

GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")  # the last: an empty archive
FASTTEXT_BIN = (793712314).to_bytes(4, "little")  # how fastText's own binary models begin
MOST_DIMENSIONS = 100_000
LONGEST_WORD = 10_000  # bytes; an encoding error makes longer ones


class WordFileOptions(Strict):
    """The file of a source of words."""

    file: str  # one that the configuration lists under `files`, or a path
    member: str | None = None  # the file inside of a zip archive that has several


@dataclass(frozen=True)
class WordVectors:
    """The vectors of the wanted words that a file has.

    Attributes
    ----------
    vectors : word -> (d,) float32; words whose vector is zero are left out
    dimensions : d, also where no word was found
    repeated : wanted words that are in the file more than once; the first counts
    """

    vectors: dict[str, NDArray[np.float32]]
    dimensions: int
    repeated: list[str]


class Kept:
    """The vectors that a reader has found so far."""

    def __init__(self, wanted: Collection[str], dimensions: int) -> None:
        self.dimensions = dimensions
        self._wanted = {word.encode(): word for word in wanted}
        self._found: dict[str, NDArray[np.float32]] = {}
        self._repeated: dict[str, None] = {}

    def wants(self, word: bytes) -> bool:
        """Return whether the vector of a word is needed; a word that was there before is counted."""
        name = self._wanted.get(word)
        if name in self._found:
            self._repeated[name] = None
            return False
        return name is not None

    def add(self, word: bytes, numbers: NDArray[np.floating], where: str) -> None:
        """Keep a vector of `dimensions` numbers; raise a `UserError` that begins with `where` if one is not finite."""
        with np.errstate(over="ignore"):  # what is too big for float32 becomes infinite
            vector = numbers.astype(np.float32)
        if not np.isfinite(vector).all():
            raise UserError(f"{where}: the vector of {shown(word)} has a number that is not finite in 32 bits")
        self._found[self._wanted[word]] = vector

    def result(self) -> WordVectors:
        """Return what was found."""
        vectors = {word: vector for word, vector in self._found.items() if vector.any()}
        return WordVectors(vectors, self.dimensions, list(self._repeated))


def shown(word: bytes) -> str:
    """Return a word for a message, cut where it is long."""
    return repr(word[:60].decode(errors="replace"))


@contextmanager
def open_words(path: Path, member: str | None) -> Iterator[IO[bytes]]:
    """Open a file of words, unpacked if need be.

    Parameters
    ----------
    member : the file inside of a zip archive; None where the archive has one file

    Raises
    ------
    UserError
        The file is missing or damaged, also where this shows only while it is read; or a zip archive has no such
        member, or several and none is named; or it is a model of fastText (.bin).
    """
    with ExitStack() as stack:
        try:
            buffered = stack.enter_context(io.BufferedReader(_unpacked(path, member, stack), 1 << 20))
            if buffered.peek(4).startswith(FASTTEXT_BIN):
                raise UserError(f"{path}: a binary model of fastText; take the text file of its vectors (.vec)")
            yield buffered
        except FileNotFoundError:
            raise UserError(f"{path}: no such file; the download stage puts it there") from None
        except DAMAGE as error:
            said = " ".join(str(error).split())[:200]
            raise UserError(f"{path}: not a readable file of words ({said}); download it again") from None


def _unpacked(path: Path, member: str | None, stack: ExitStack) -> Any:
    stream = stack.enter_context(path.open("rb"))
    head = stream.read(4)
    stream.seek(0)
    if head.startswith(ZIP):
        archive = stack.enter_context(zipfile.ZipFile(stream))
        files = [one.filename for one in archive.infolist() if not one.is_dir()]
        if member is None and len(files) > 1:
            raise UserError(f"{path}: an archive of {', '.join(files)[:300]}; name one in options.member")
        if not files:
            raise UserError(f"{path}: an archive without a file")
        if (member or files[0]) not in files:
            raise UserError(f"{path}: contains no {member}; there are {', '.join(files)[:300]}")
        return stack.enter_context(archive.open(member or files[0]))
    if member is not None:
        raise UserError(f"{path}: no zip archive, so it has no member {member}; remove options.member")
    if head.startswith(GZIP):
        return stack.enter_context(gzip.open(stream))
    return stream
