"""Options that the readers of word vectors share, and functions that open a file and collect vectors.

A file is read once from start to end, and only the needed words are kept, so it need not fit into memory. Compression
(gzip or zip) is recognised by the first bytes, not by the name. Words are compared as bytes, since some files contain
words that are not valid UTF-8.
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

from vsebench.core.errors import UserError, one_line
from vsebench.core.yaml_files import Strict
from vsebench.formats.download.archives import DAMAGE

GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")  # the last one marks an empty archive
FASTTEXT_BIN = (793712314).to_bytes(4, "little")  # the first bytes of fastText's binary models
MOST_DIMENSIONS = 100_000


class FileOptions(Strict):
    """The file of word vectors."""

    file: str  # the file of word vectors: a name that the configuration lists under `files`, or a path
    member: str | None = None  # the file to read in a zip archive of several files


@dataclass(frozen=True)
class VectorsRead:
    """The vectors of those needed words that a file contains.

    Attributes
    ----------
    vectors : word -> (d,) float32; words whose vector is zero are left out
    dimensions : d, the length of the file's vectors; it is given even if the file contains none of the needed words
    repeated : the needed words that occur more than once in the file; the first vector of each is used
    """

    vectors: dict[str, NDArray[np.float32]]
    dimensions: int
    repeated: list[str]


class Kept:
    """Collects the vectors of the needed words."""

    def __init__(self, needed: Collection[str], dimensions: int) -> None:
        self.dimensions = dimensions
        self._needed = {word.encode(): word for word in needed}
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._repeated: dict[str, None] = {}

    def needs(self, word: bytes) -> bool:
        """Return whether a word is needed and has no vector yet; if it has one, the word is noted as repeated."""
        name = self._needed.get(word)
        if name in self._vectors:
            self._repeated[name] = None
            return False
        return name is not None

    def add(self, word: bytes, numbers: NDArray[np.floating], where: str) -> None:
        """Keep a vector of `dimensions` numbers; raise a `UserError` beginning with `where` if not all are finite."""
        with np.errstate(over="ignore"):  # numbers that are too large for float32 become infinite
            vector = numbers.astype(np.float32)
        if not np.isfinite(vector).all():
            raise UserError(f"{where}: the vector of {shown(word)} has a number that is not finite as float32")
        self._vectors[self._needed[word]] = vector

    def result(self) -> VectorsRead:
        """Return the collected vectors."""
        vectors = {word: vector for word, vector in self._vectors.items() if vector.any()}
        return VectorsRead(vectors, self.dimensions, list(self._repeated))


def mean_of_prompts(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the mean of the vectors of a word's prompts, after each vector is scaled to length 1.

    The shape of `vectors` is (p, d), with one row per prompt. The shape of the result is (d,). Vectors of zeros are
    left out; if all vectors are zero, so is the result. If a number or the length of a vector is not finite, the result
    is NaN.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # no warnings about infinite lengths or quotients
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
        lengths[np.isinf(lengths)] = np.nan  # infinite, too, if squares of large numbers overflow
        unit = vectors[lengths != 0] / lengths[lengths != 0, np.newaxis]
    return np.asarray(unit.sum(axis=0, dtype=np.float64) / max(1, len(unit)))


def shown(word: bytes) -> str:
    """Return a word for a message; a long word is truncated."""
    return repr(word[:60].decode(errors="replace"))


@contextmanager
def open_words(path: Path, member: str | None) -> Iterator[IO[bytes]]:
    """Open a file of words and decompress it if necessary; `member` is the file to read in a zip archive.

    Raises a `UserError` if

    - the file is missing or damaged (damage may be found only while the file is read),
    - the file is a zip archive that lacks the member, or that has several members while `member` is None,
    - `member` is given, but the file is not a zip archive, or
    - the file is a fastText model (.bin).
    """
    with ExitStack() as stack:
        try:
            buffered = stack.enter_context(io.BufferedReader(_unpacked(path, member, stack), 1 << 20))
            if buffered.peek(4).startswith(FASTTEXT_BIN):
                raise UserError(f"{path}: is a binary fastText model; use the text file of its vectors (.vec) instead")
            yield buffered
        except FileNotFoundError:
            raise UserError(f"{path}: no such file; run the download stage") from None
        except DAMAGE as error:
            raise UserError(f"{path}: not a readable file of words ({one_line(error)}); download it again") from None


def _unpacked(path: Path, member: str | None, stack: ExitStack) -> Any:
    stream = stack.enter_context(path.open("rb"))
    head = stream.read(4)
    stream.seek(0)
    if head.startswith(ZIP):
        archive = stack.enter_context(zipfile.ZipFile(stream))
        files = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
        if member is None and len(files) > 1:
            raise UserError(f"{path}: contains {', '.join(files)[:300]}; name one of them in options.member")
        if not files:
            raise UserError(f"{path}: the archive contains no file")
        if (member or files[0]) not in files:
            raise UserError(f"{path}: contains no {member}; it contains {', '.join(files)[:300]}")
        return stack.enter_context(archive.open(member or files[0]))
    if member is not None:
        raise UserError(f"{path}: is not a zip archive, so it has no member {member}; remove options.member")
    if head.startswith(GZIP):
        return stack.enter_context(gzip.open(stream))
    return stream
