"""Read word vectors from a text file: each line has a word and its numbers, separated by single spaces.

    GloVe       no header; each line looks like `word 0.1 -0.2 ...`
    word2vec    the first line is a header with the number of words and the number of dimensions, such as `1500 300`
    fastText    (.vec files) the same header as word2vec, and a space at the end of each line

- The first line is a header if it consists of two whole numbers. There is one exception: if most of the next lines have
  only one value, and the second whole number is not 1, then the first line is a word and its value.
- The header's number of dimensions must be the number of values in most of the next lines. The header's number of words
  must be right, so that a truncated file is detected.
- A word may contain spaces (in the vectors of Common Crawl, `. . .` is a word), so a line is split from its end.
- Only ordinary spaces separate a word from its numbers. A word may contain a no-break space (U+00A0) or Unicode's next
  line (U+0085), where Python's `str.split` and `str.splitlines` would split it.
- The last line must end with a line break too; without one, its last number may be cut off.
- If a word occurs twice, its first line counts. The number of values is checked in every line; the values themselves
  are checked only for the first word and for the needed words.

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
from vsebench.formats.word_vectors.word_files import MOST_DIMENSIONS, FileOptions, Kept, VectorsRead, open_words, shown

Options = FileOptions
FIRST_LINES = 100  # number of lines at the start of a file from which the number of dimensions is determined
LONGEST_LINE = 1 << 22  # bytes
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
NAMED_NUMBER = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
HEADER = re.compile(rb"([0-9]+) ([0-9]+)")
LONGEST_HEADER = 24  # bytes


def read_vectors(raw: Path, options: Options, needed: Collection[str]) -> VectorsRead:
    """Read the vectors of the needed words."""
    path = find(raw, options.file)
    with open_words(path, options.member) as stream:
        lines = _lines(stream, path)
        first = list(islice(lines, FIRST_LINES))
        n_words, dimensions = _header(first, path)
        rows = chain(first, lines) if n_words is None else chain(first[1:], lines)
        kept = Kept(needed, dimensions)
        n_read = 0
        for number, line in enumerate(rows, 1 if n_words is None else 2):
            n_read += 1
            word = _word(line, dimensions, path, number)
            if n_read == 1:
                _numbers(line, word, path, number)  # without this check, binary data could pass as text
            if kept.needs(word):
                kept.add(word, _numbers(line, word, path, number), f"{path}: line {number}")
    if n_words is not None and n_read != n_words:
        found = f"but there are {n_read}; download the file again"
        raise UserError(f"{path}: line 1: the header states {n_words} words, {found}")
    return kept.result()


def _lines(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    """Yield the lines without their line ends and without one trailing space."""
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            wrong = "this is not a text file of word vectors"
            raise UserError(f"{path}: line {number}: exceeds {LONGEST_LINE} bytes; {wrong}")
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        yield text.removesuffix(b"\n").removesuffix(b"\r").removesuffix(b" ")
        if not line.endswith((b"\n", b"\r")):
            missing = "has no line break, so a part of it may be missing"
            raise UserError(f"{path}: line {number}: {missing}; download the file again, or add a line break")


def _header(first: list[bytes], path: Path) -> tuple[int | None, int]:
    """Return the number of words (None without a header) and the number of dimensions."""
    if not first:
        raise UserError(f"{path}: is empty; download it again")
    if any(b"\r" in line for line in first):
        raise UserError(f"{path}: contains carriage returns inside lines; convert its line ends to line feeds")
    header = HEADER.fullmatch(first[0])
    if header and len(first[0]) > LONGEST_HEADER:
        raise UserError(f"{path}: line 1: has the header {shown(first[0])}; this is not a text file of word vectors")
    if header and len(first) == 1:
        raise UserError(f"{path}: line 1: the header states {header[1].decode()} words, but no word follows")
    counts = Counter(line.count(b" ") for line in first[1 if header else 0 :])
    dimensions = counts.most_common(1)[0][0]
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise UserError(f"{path}: most lines have {dimensions} numbers; this is not a text file of word vectors")
    if header is None or (dimensions == 1 and int(header[2]) != 1):
        return None, dimensions  # two whole numbers can also be a word and its one-dimensional vector
    if int(header[2]) != dimensions:
        stated = header[2].decode()
        raise UserError(f"{path}: line 1: the header states {stated} dimensions, but most lines have {dimensions}")
    return int(header[1]), dimensions


def _word(line: bytes, dimensions: int, path: Path, number: int) -> bytes:
    """Return the word of a line, after checking the number of values that follow it."""
    word = line[: line.find(b" ")] if line.count(b" ") == dimensions else line.rsplit(b" ", dimensions)[0]
    pieces = word.split(b" ")
    # A line with too few numbers has too few spaces; if it has too many, some of them are at the end of `word`. If the
    # line break between two lines is missing, `word` contains one number fewer than there are dimensions.
    in_word = sum(NUMBER.fullmatch(piece) is not None for piece in pieces[1:])
    last_is_number = len(pieces) > 1 and (NUMBER.fullmatch(pieces[-1]) or NAMED_NUMBER.fullmatch(pieces[-1]))
    extra = last_is_number or in_word >= max(dimensions - 1, 1)
    if line.count(b" ") < dimensions or extra or b"" in pieces:
        actual = len(line.split(b" ")) - 1
        raise UserError(f"{path}: line {number}: {shown(word)} has {actual} numbers, but most lines have {dimensions}")
    return word


def _numbers(line: bytes, word: bytes, path: Path, number: int) -> NDArray[np.float64]:
    texts = line[len(word) + 1 :].split(b" ")
    wrong = [text for text in texts if not NUMBER.fullmatch(text)]
    if wrong:
        raise UserError(f"{path}: line {number}: {shown(word)}: {shown(wrong[0])} is not a finite number")
    return np.array([float(text) for text in texts])
