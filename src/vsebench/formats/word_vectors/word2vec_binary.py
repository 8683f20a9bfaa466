r"""Read word vectors in word2vec's binary format: the numbers of words and dimensions, then each word and its vector.

    1500 300\n
    word, a space, 300 float32 (little-endian), \n

- Some programs do not write the line break after a vector, so the next byte is skipped only if it is a line break.
- A word ends at the first space. It need not be UTF-8 (in the vectors of Google News, some words are not). `_` joins
  the words of a phrase.
- The header's number of words must be right, so that a truncated file is detected. If a word occurs twice, its first
  vector counts.

Source: Mikolov, Sutskever, Chen, Corrado and Dean, NIPS 2013; https://code.google.com/archive/p/word2vec.
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import IO

import numpy as np

from vsebench.core.errors import UserError
from vsebench.formats.own_files import find
from vsebench.formats.word_vectors.word_files import MOST_DIMENSIONS, FileOptions, Kept, VectorsRead, open_words, shown

Options = FileOptions
LONGEST_WORD = 10_000  # bytes; a longer word means that the file has another format
HEADER = re.compile(rb"([0-9]{1,12}) ([0-9]{1,6}) ?\r?\n")
BLOCK = 1 << 20


def read_vectors(raw: Path, options: Options, needed: Collection[str]) -> VectorsRead:
    """Read the vectors of the needed words."""
    path = find(raw, options.file)
    with open_words(path, options.member) as stream:
        header = HEADER.fullmatch(stream.readline(100))
        if header is None or not 1 <= int(header[2]) <= MOST_DIMENSIONS:
            raise UserError(f"{path}: does not begin with the numbers of words and dimensions; use another adapter")
        n_words, dimensions = int(header[1]), int(header[2])
        kept = Kept(needed, dimensions)
        rows = _Rows(stream, 4 * dimensions)
        for number in range(1, n_words + 1):
            word, vector = rows.next(f"{path}: word {number} of {n_words}")
            if kept.needs(word):
                kept.add(word, np.frombuffer(vector, "<f4"), f"{path}: word {number}")
        if not rows.at_end():
            raise UserError(f"{path}: has more words than the {n_words} that its header states; use another adapter")
    return kept.result()


class _Rows:
    """Reads words with their vectors from blocks of a stream."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream, self._size = stream, size  # bytes of a vector
        self._block, self._position = b"", 0

    def next(self, where: str) -> tuple[bytes, bytes]:
        """Return the next word and its vector; raise a `UserError` that begins with `where` if there is none."""
        self._fill(LONGEST_WORD + self._size + 2)
        end = self._block.find(b" ", self._position, self._position + LONGEST_WORD)
        stop = end + 1 + self._size
        if end < 0 or stop > len(self._block):
            word = self._block[self._position : max(end, 0)]
            raise UserError(f"{where}: {shown(word)}: the file ends or is damaged here; download it again")
        word, vector = self._block[self._position : end], self._block[end + 1 : stop]
        self._position = stop + (self._block[stop : stop + 1] == b"\n")
        return word, vector

    def at_end(self) -> bool:
        """Return whether the stream has ended; reading to its end also verifies the checksum of a compressed file."""
        self._fill(1)
        return self._position == len(self._block)

    def _fill(self, size: int) -> None:
        """Read until the block holds `size` unread bytes, or the stream ends."""
        while len(self._block) - self._position < size and (more := self._stream.read(max(BLOCK, size))):
            self._block, self._position = self._block[self._position :] + more, 0
