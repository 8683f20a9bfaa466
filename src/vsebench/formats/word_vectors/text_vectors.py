"""Word vectors as text: a line per word, with its numbers, and single blanks between them.

    GloVe       no header:                      word 0.1 -0.2 ...
    word2vec    the first line says how many:   1500 300
    fastText    the same (.vec), with a blank at the end of each line

- The first line is a header if it is two whole numbers, the second of which is the number of numbers in most of the
  next lines. A header has to be right, so that a file without its end is noticed.
- A word may have blanks inside (the files of Common Crawl have `. . .`), so a line is split from its right end.
- A word is bytes up to a blank: it may have a no-break space (U+00A0) or a line separator of Unicode (U+0085) inside,
  at which Python's `str.split` and `str.splitlines` would cut it.
- Of a word that is there twice the first line counts. Numbers are checked in the lines that are wanted, the number of
  them in every line.

Sources: Pennington, Socher and Manning, GloVe, EMNLP 2014, https://nlp.stanford.edu/projects/glove;
https://fasttext.cc/docs/en/english-vectors.html.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.formats.own_files import find
from vsebench.formats.word_vectors import word_files
from vsebench.formats.word_vectors.word_files import MOST_DIMENSIONS, Kept, WordVectors, open_words, shown

FIRST_LINES = 100  # of which most say the number of dimensions
LONGEST_LINE = 1 << 22  # bytes
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
NAMED_NUMBER = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
HEADER = re.compile(rb"([0-9]+) ([0-9]+)")
LONGEST_HEADER = 24  # bytes


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
        The file is missing or damaged; the header does not fit; a line has another number of numbers than most, or
        a wanted one what is no finite number. It names file, line and word.
    """
    path = find(raw, options.file)
    with open_words(path, options.member) as stream:
        lines = _lines(stream, path)
        first = list(islice(lines, FIRST_LINES))
        n_words, dimensions = _shape(first, path)
        rows = chain(first, lines) if n_words is None else chain(first[1:], lines)
        kept = Kept(wanted, dimensions)
        n_read = 0
        for number, line in enumerate(rows, 1 if n_words is None else 2):
            n_read += 1
            word = _word(line, dimensions, path, number)
            if kept.wants(word):
                kept.add(word, _numbers(line, word, path, number), f"{path}: line {number}")
    if n_words is not None and n_read != n_words:
        raise UserError(f"{path}: line 1: the header says {n_words} words, but there are {n_read}; download it again")
    return kept.result()


def _lines(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    """Yield the lines without their ends and without one blank before these."""
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise UserError(f"{path}: line {number}: longer than {LONGEST_LINE} bytes; this is no text of word vectors")
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        yield text.removesuffix(b"\n").removesuffix(b"\r").removesuffix(b" ")


def _shape(first: list[bytes], path: Path) -> tuple[int | None, int]:
    """Return the number of words, None without a header, and the number of dimensions."""
    if not first:
        raise UserError(f"{path}: is empty")
    header = HEADER.fullmatch(first[0])
    if header and len(first[0]) > LONGEST_HEADER:
        raise UserError(f"{path}: line 1: a header of {shown(first[0])}; this is no text of word vectors")
    if header and len(first) == 1:
        raise UserError(f"{path}: line 1: a header of {header[1].decode()} words, and no word follows")
    counts = Counter(line.count(b" ") for line in first[1 if header else 0 :])
    dimensions = counts.most_common(1)[0][0]
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise UserError(f"{path}: lines of {dimensions} numbers after a word; this is no text of word vectors")
    if header is None or (dimensions == 1 and int(header[2]) != 1):
        return None, dimensions  # two whole numbers can also be a word and its only number
    if int(header[2]) != dimensions:
        raise UserError(f"{path}: line 1: a header of {header[2].decode()} dimensions, but lines have {dimensions}")
    return int(header[1]), dimensions


def _word(line: bytes, dimensions: int, path: Path, number: int) -> bytes:
    """Return the word of a line, after a check of the number of its numbers."""
    word = line[: line.find(b" ")] if line.count(b" ") == dimensions else line.rsplit(b" ", dimensions)[0]
    pieces = word.split(b" ")
    # Too few numbers leave a shorter line; too many leave some of them in the word.
    extra = len(pieces) > 1 and (NUMBER.fullmatch(pieces[-1]) or NAMED_NUMBER.fullmatch(pieces[-1]))
    if line.count(b" ") < dimensions or extra or b"" in pieces:
        there = len(line.split(b" ")) - 1
        raise UserError(f"{path}: line {number}: {shown(word)}: {there} numbers where most lines have {dimensions}")
    return word


def _numbers(line: bytes, word: bytes, path: Path, number: int) -> NDArray[np.float64]:
    texts = line[len(word) + 1 :].split(b" ")
    wrong = [text for text in texts if not NUMBER.fullmatch(text)]
    if wrong:
        raise UserError(f"{path}: line {number}: {shown(word)}: {shown(wrong[0])} is not a finite number")
    return np.array([float(text) for text in texts])
