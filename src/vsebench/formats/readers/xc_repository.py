"""Read data sets in the text format of the Extreme Classification Repository.

A file of images (plain text or .gz) begins with a line of sizes. Each further line describes one image:

    7395 1836 159        the first line: the numbers of images, features and labels
    12,30 0:1 7:0.25     an image's labels, then its features and their values; labels and features are
                         numbered from 0
     3:1                 the line of an image without a label begins with a space

The features of an image can be in any order. Features that are not listed are 0. Values become float32. A label that is
repeated in a line counts once. Labels have no names in this format, so they are named by their numbers.

Small data sets of the repository have one file of images and two split files: one for training images, and one for test
images. A split file has one column per split. It contains image numbers, which are counted from 1:

    1 3 2                image 1 is a training image of the first split, image 3 of the second, image 2 of the third
    2 4 3

Large data sets have one file of training images and one of test images instead. Images are named by file and number:
the first image of `Bibtex_data.txt` is `Bibtex_data-000001`.

Files are read in blocks of lines, so the text of a file is never in memory as a whole. An entry (a feature and its
value) takes 8 bytes of memory in the result, and at most three times as much during reading.

No real file was available: the reader was written from the repository's description and tested on generated files.

Source: Bhatia, Dahiya, Jain, Kar, Mittal, Prabhu and Varma, "The extreme classification repository: multi-label
datasets and code", http://manikvarma.org/downloads/XC/XMLRepository.html, 2016.
"""

import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.data.features import Features, csr
from vsebench.formats.annotations import Dropped, RawAnnotations, check_unique, count_pairs, image_ids
from vsebench.formats.download.archives import line_blocks

# A damaged first line must not fill the memory with names of labels; the largest data set has nine million labels.
HEADER = re.compile(rb"\s*([0-9]{1,8})\s+([0-9]{1,8})\s+([0-9]{1,7})\s*")
LABELS = re.compile(rb"[0-9]{1,9}(?:,[0-9]{1,9})*")
ENTRY = rb"[0-9]{1,9}:[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
ENTRIES = re.compile(rb"(?:" + ENTRY + rb"(?: +|$))*+")  # *+ does not backtrack, which is six times as fast
SPLIT_LINE = re.compile(rb"[0-9]{1,9}(?:[ \t]+[0-9]{1,9})*")
REPEATED = "repeated in the line of an image, and counted once"

Part = Literal["train", "valid", "test"]
FileName = Annotated[str, Field(pattern=r"^[\w.+-]+$")]


class Options(Strict):
    """Options: the files to read.

    `data` and `splits` are for data sets with a single file of images and split files. `parts` is for data sets with
    one file of images per part.
    """

    features: Literal["sparse"]  # how features are stored
    data: FileName | None = None  # name of the file with all images
    splits: dict[Part, FileName] = Field(default={})  # with `data`: the name of the split file of each part
    split: int = Field(default=1, ge=1)  # the column to use in the split files, counted from 1
    parts: dict[Part, FileName] = Field(default={})  # instead of `data`: name of each part's file of images

    @model_validator(mode="after")
    def _one_or_several(self) -> "Options":
        if (self.data is None) == (not self.parts):
            raise PydanticCustomError("data", "name the files of images in either `data` or `parts`")
        if self.parts and (self.splits or self.split != 1):
            raise PydanticCustomError("splits", "`splits` and `split` apply to a single file (`data`); remove them")
        if self.split != 1 and not self.splits:
            raise PydanticCustomError("split", "`split` is a column of the files in `splits`; name these files")
        return self


class Sizes(NamedTuple):
    """The numbers in the first line of a file of images."""

    images: int
    features: int
    labels: int


class Lines(NamedTuple):
    """The labels and features of some or all images of a file.

    Attributes
    ----------
    label_counts, feature_counts : numbers of labels and of features of each image, int64 of shape (n_images,)
    labels : labels of all images, in the order of the lines, int32 of shape (sum of label_counts,)
    features : features of all images, in ascending order in each line, int32 of shape (sum of feature_counts,)
    values : finite values of these features, in the same order, float32 of shape (sum of feature_counts,)
    """

    label_counts: NDArray[np.int64]
    labels: NDArray[np.int32]
    feature_counts: NDArray[np.int64]
    features: NDArray[np.int32]
    values: NDArray[np.float32]


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read labels and features.

    Images are in the order of the files and, in each file, in the order of the lines.

    A missing or malformed file raises a `UserError` that names the file and, where possible, the line. Two files that
    contradict each other raise a `UserError` that names both files.
    """
    names = [options.data] if options.data is not None else [*options.parts.values()]
    sizes, files = zip(*(read_images(raw / name) for name in names), strict=True)
    for name, of_file in zip(names, sizes, strict=True):
        if of_file[1:] != sizes[0][1:]:
            stated = f"{of_file.features} features and {of_file.labels} labels"
            raise UserError(f"{raw / name}: its first line states {stated}, unlike that of {names[0]}")
    n_images = [of_file.images for of_file in sizes]
    images = [f"{_stem(name)}-{row:06d}" for name, n in zip(names, n_images, strict=True) for row in range(1, n + 1)]
    check_unique(images, str(raw / names[0]), "image")
    lines = _joined(files)
    offsets = np.append(0, np.cumsum(lines.feature_counts))
    values = csr(lines.values, lines.features, offsets, (len(images), sizes[0].features))
    values.eliminate_zeros()
    found = count_pairs(np.repeat(np.arange(len(images)), lines.label_counts), lines.labels, sizes[0].labels)
    repeated = len(lines.labels) - len(found)
    return RawAnnotations(
        image_ids(images),
        [str(label) for label in range(sizes[0].labels)],
        found.with_columns(count=pl.lit(1, dtype=pl.Int32)),
        [Dropped("labels", repeated, REPEATED)] if repeated else [],
        _parts(raw, options, n_images),
        Features(values, np.ones(len(images), dtype=np.bool_), where=str(raw / names[0])),
    )


def read_images(path: Path) -> tuple[Sizes, Lines]:
    """Read a file of images in blocks of lines.

    Returns the sizes in the first line, and the labels and features of all images.

    Raises a `UserError` that names the line if a line is malformed or has a feature twice, or if the number of a label
    or feature is too large for the sizes in the first line. A `UserError` is also raised if the number of images is not
    as stated in the first line.
    """
    blocks: list[Lines] = []
    number = 1  # number of the last line that was read
    sizes: Sizes | None = None
    for block in _blocks(path):
        lines = [line.removesuffix(b"\r") for line in block[:-1].split(b"\n")]
        if sizes is None:
            sizes = _read_header(lines.pop(0), path)
        left = sizes.images - (number - 1)
        extra = next((row for row, line in enumerate(lines[left:]) if line.strip()), None)
        if extra is not None:
            stated = f"the first line states {sizes.images} images"
            raise UserError(f"{path}: line {number + left + extra + 1}: is one image too many; {stated}")
        blocks.append(_read_lines(lines[:left], number + 1, sizes, path))
        number += len(lines[:left])
    if sizes is None:
        raise UserError(f"{path}: is empty; the first line must state the numbers of images, features and labels")
    if number - 1 < sizes.images:
        raise UserError(f"{path}: has {number - 1} images, but its first line states {sizes.images}; it is incomplete")
    return sizes, _joined(blocks)


def _stem(name: str) -> str:
    return name.removesuffix(".gz").removesuffix(".txt")


def _joined(parts: Sequence[Lines]) -> Lines:
    return parts[0] if len(parts) == 1 else Lines(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run the download stage") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path}: not a readable file ({error}); delete it and download it again") from None


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in blocks of whole lines."""
    opener: Any = gzip.open if path.suffix == ".gz" else io.open
    with _explained(path), opener(path, "rb") as stream:
        yield from line_blocks(stream)


def _read_header(line: bytes, path: Path) -> Sizes:
    match = HEADER.fullmatch(line)
    sizes = Sizes(*map(int, match.groups())) if match else Sizes(0, 0, 0)
    if 0 in sizes:
        wanted = "must be the numbers of images, features and labels, each at least 1"
        raise UserError(f"{path}: line 1: {_shown(line)} {wanted}")
    return sizes


def _read_lines(lines: list[bytes], first: int, sizes: Sizes, path: Path) -> Lines:
    """Parse the lines of some images.

    `first` is the line number of the first of these lines.
    """
    heads, _, tails = zip(*(line.partition(b" ") for line in lines), strict=True) if lines else ((), (), ())
    for number, (head, tail) in enumerate(zip(heads, tails, strict=True), first):
        if head and not LABELS.fullmatch(head):
            advice = "separated by commas; a line without labels begins with a space"
            raise UserError(f"{path}: line {number}: {_shown(head)} must be label numbers, {advice}")
        if not ENTRIES.fullmatch(tail.strip()):
            raise UserError(
                f"{path}: line {number}: {_wrong_entry(tail)} must be a feature number, a colon and a value"
            )
    labels = np.array([int(word) for head in heads if head for word in head.split(b",")], dtype=np.int64)
    numbers, values = _entries(tails)
    label_counts = np.array([head.count(b",") + 1 if head else 0 for head in heads], dtype=np.int64)
    feature_counts = np.array([tail.count(b":") for tail in tails], dtype=np.int64)
    _check_below(labels, label_counts, sizes.labels, "label", first, path)
    _check_below(numbers, feature_counts, sizes.features, "feature", first, path)
    features, narrow = _in_order(numbers, values, feature_counts, first, path)
    return Lines(label_counts, labels.astype(np.int32), feature_counts, features, narrow)


def _entries(tails: Sequence[bytes]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the features and values of all entries in `tails`.

    `tails` contains the text after the labels in each line. This text must have been checked. Polars parses the text,
    because this is the fastest way.
    """
    words = b" ".join(tails).split()
    if not words:
        return np.empty(0, dtype=np.int32), np.empty(0)
    schema = {"feature": pl.Int32, "value": pl.Float64}
    table = pl.read_csv(io.BytesIO(b"\n".join(words)), has_header=False, separator=":", schema=schema)
    return table["feature"].to_numpy(), table["value"].to_numpy()


def _shown(text: bytes) -> str:
    return repr(text.strip()[:40].decode(errors="replace"))


def _wrong_entry(tail: bytes) -> str:
    return next(_shown(word) for word in tail.split(b" ") if not re.fullmatch(ENTRY, word) and word.strip(b" "))


def _line_of(entry: int, counts: NDArray[np.int64], first: int) -> int:
    """Return the number of the line that contains an entry.

    `entry` is the position of the entry among all entries. `counts` contains the number of entries in each line, and
    `first` is the number of the first line.
    """
    return first + int(np.searchsorted(np.cumsum(counts), entry, side="right"))


def _check_below(
    numbers: NDArray[np.integer], counts: NDArray[np.int64], limit: int, what: str, first: int, path: Path
) -> None:
    wrong = np.flatnonzero(numbers >= limit)
    if len(wrong):
        where = f"{path}: line {_line_of(int(wrong[0]), counts, first)}"
        raise UserError(f"{where}: {what} {numbers[wrong[0]]} does not exist; numbers are from 0 to {limit - 1}")


def _in_order(
    features: NDArray[np.int32], values: NDArray[np.float64], counts: NDArray[np.int64], first: int, path: Path
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the features, in ascending order in each line, and their values as float32.

    `counts` contains the number of features in each line, and `first` is the number of the first line. Raises a
    `UserError` if a line has a feature twice, or if a value is too large for float32.
    """
    line = np.repeat(np.arange(len(counts)), counts)
    if np.any((np.diff(features) <= 0) & (np.diff(line) == 0)):
        order = np.lexsort((features, line))
        features, values = features[order], values[order]
        twice = np.flatnonzero((np.diff(features) == 0) & (np.diff(line) == 0))
        if len(twice):
            where = f"{path}: line {_line_of(int(twice[0]), counts, first)}"
            raise UserError(f"{where}: feature {features[twice[0]]} occurs twice")
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(narrow))
    if len(wrong):
        where = f"{path}: line {_line_of(int(wrong[0]), counts, first)}"
        raise UserError(f"{where}: the value of feature {features[wrong[0]]} is too large for a 32-bit number")
    return features, narrow


def _parts(raw: Path, options: Options, n_images: list[int]) -> pl.Series | None:
    """Return the part of each image, or None if there is no partition.

    The part of an image that is in no split file is null.
    """
    if options.parts:
        return pl.Series("part", np.repeat([*options.parts], n_images).tolist(), dtype=pl.String)
    if not options.splits:
        return None
    parts: list[str | None] = [None] * n_images[0]
    for part, name in options.splits.items():
        for line, number in enumerate(read_split(raw / name, options.split), 1):
            where = f"{raw / name}: line {line}"
            if not 1 <= number <= n_images[0]:
                raise UserError(f"{where}: image {number} does not exist; {options.data} has {n_images[0]} images")
            if parts[number - 1] is not None:
                raise UserError(f"{where}: image {number} of split {options.split} is already in {parts[number - 1]!r}")
            parts[number - 1] = part
    return pl.Series("part", parts, dtype=pl.String)


def read_split(path: Path, split: int) -> list[int]:
    """Return the image numbers in column `split` of a split file.

    Images and columns are counted from 1.

    Raises a `UserError` that names the line if a line is malformed or has no such column.
    """
    numbers = []
    with _explained(path):
        lines = path.read_bytes().rstrip().split(b"\n")
    for number, line in enumerate((line.strip() for line in lines), 1):
        if not SPLIT_LINE.fullmatch(line):
            raise UserError(f"{path}: line {number}: {_shown(line)} must be image numbers, one per split")
        words = line.split()
        if len(words) < split:
            raise UserError(f"{path}: line {number}: has {len(words)} columns, but the option `split` is {split}")
        numbers.append(int(words[split - 1]))
    return numbers
