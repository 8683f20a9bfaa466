r"""Word vectors as word2vec writes them in binary: a line with two numbers, then each word with its numbers.

    1500 300\n
    word, a blank, 300 float32 (little-endian), \n

- Some programs leave out the line break after a vector, so a byte is skipped there only if it is one.
- A word ends at the first blank. It may be no UTF-8 (in the file of Google News some are not), and phrases have `_`.
- The header has to be right, so that a file without its end is noticed. Of a word that is there twice the first counts.

Source: Mikolov, Sutskever, Chen, Corrado and Dean, NIPS 2013; https://code.google.com/archive/p/word2vec.
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import IO

import numpy as np

from vsebench.core.errors import UserError
from vsebench.formats.own_files import find
from vsebench.formats.word_vectors import word_files
from vsebench.formats.word_vectors.word_files import LONGEST_WORD, MOST_DIMENSIONS, Kept, WordVectors, open_words, shown

HEADER = re.compile(rb"([0-9]{1,12}) ([0-9]{1,6}) ?\r?\n")
BLOCK = 1 << 20


class Options(word_files.WordFileOptions):
    """Those of every file of words."""


def read_vectors(raw: Path, options: Options, wanted: Collection[str]) -> WordVectors:
    """Read the vectors of the wanted words.

    Parameters
    ----------
    raw : folder with downloaded files
    options : the file
    wanted : words as they are in the file, upper and lower case included

    Raises
    ------
    UserError
        The file is missing or damaged, the header is none, there are fewer or more words than it says, or a wanted
        vector has a number that is not finite. It names file and word.
    """
    path = find(raw, options.file)
    with open_words(path, options.member) as stream:
        header = HEADER.fullmatch(stream.readline(100))
        if header is None or not 1 <= int(header[2]) <= MOST_DIMENSIONS:
            raise UserError(f"{path}: does not begin with the number of words and of dimensions; is it another format?")
        n_words, dimensions = int(header[1]), int(header[2])
        kept = Kept(wanted, dimensions)
        rows = _Rows(stream, 4 * dimensions)
        for number in range(1, n_words + 1):
            word, vector = rows.next(f"{path}: word {number} of {n_words}")
            if kept.wants(word):
                kept.add(word, np.frombuffer(vector, "<f4"), f"{path}: word {number}")
        if not rows.at_end():
            raise UserError(f"{path}: more than the {n_words} words of its header; is it another format?")
    return kept.result()


class _Rows:
    """Reads words with their vectors from blocks of a stream."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream, self._size = stream, size  # bytes of a vector
        self._block, self._place = b"", 0

    def next(self, where: str) -> tuple[bytes, bytes]:
        """Return the next word and its vector; raise a `UserError` that begins with `where` if the file has none."""
        self._fill(LONGEST_WORD + self._size + 2)
        end = self._block.find(b" ", self._place, self._place + LONGEST_WORD)
        stop = end + 1 + self._size
        if end < 0 or stop > len(self._block):
            raise UserError(
                f"{where}: {shown(self._block[self._place : max(end, 0)])}: the file ends or is damaged here"
            )
        word, vector = self._block[self._place : end], self._block[end + 1 : stop]
        self._place = stop + (self._block[stop : stop + 1] == b"\n")
        return word, vector

    def at_end(self) -> bool:
        """Return whether nothing is left; reading to the end also compares a checksum."""
        self._fill(1)
        return self._place == len(self._block)

    def _fill(self, size: int) -> None:
        """Have `size` bytes in the block, or what is left of the stream."""
        while len(self._block) - self._place < size and (more := self._stream.read(max(BLOCK, size))):
            self._block, self._place = self._block[self._place :] + more, 0
