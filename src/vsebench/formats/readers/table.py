"""Read a table of annotations, such as a user's own data.

    long    one row per label of an image:   image,label[,count]
    wide    one row per image:               image,"label label ..."

The extension of the file's name determines the format: .csv, .tsv, .jsonl, .ndjson or .parquet. All of them except
.parquet may be followed by .gz or .zst, for a compressed file; Parquet has its own compression. The first line of a CSV
or TSV file contains the names of the columns. Columns that the options do not name are ignored.

Image ids and label names are text, so numbers keep their leading zeros. Names that differ only in case, or
only in the Unicode form of a character, are different names. White space around a name is removed; inside a name it is
kept. If an image has the same label several times, the counts are added up, in both layouts. In the wide layout an
image may have several rows, and an image without labels is kept. Images and labels are sorted (by code points), so the
order of the rows does not matter.
"""

import csv
import gzip
import itertools
import json
import re
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.errors import UserError, one_line
from vsebench.core.schemas import PAIRS
from vsebench.core.yaml_files import Strict
from vsebench.formats.annotations import RawAnnotations, fault_of, image_ids, sort_names
from vsebench.formats.own_files import find

FORMATS = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
COMPRESSIONS = (".gz", ".zst")
LARGEST = 2**31 - 1  # counts are Int32
LONGEST_LINE = 1 << 24  # bytes; in the wide layout, a line contains all labels of an image
PARTS = {"train": "train", "valid": "valid", "val": "valid", "validation": "valid", "test": "test"}


class Options(Strict):
    """Options: the table, and the names of its columns."""

    pairs: str  # the table's file: a name that the configuration lists under `files`, or a path
    layout: Literal["long", "wide"] = "long"  # whether a row is one label of an image, or all labels of an image
    image: str = "image"  # name of the column of image ids
    label: str = "label"  # name of the column of labels (wide layout: of lists of labels)
    count: str | None = None  # name of the column of counts (long layout only); none: "count", if this column exists
    separator: str | None = Field(default=None, min_length=1)  # text between labels (wide layout); none: white space
    part: str | None = None  # name of the column of parts (train, valid or test), for the protocol `official`

    @field_validator("pairs")
    @classmethod
    def _known_format(cls, pairs: str) -> str:
        return check_format(pairs)

    @model_validator(mode="after")
    def _fitting(self) -> "Options":
        if self.layout == "wide" and self.count is not None:
            raise PydanticCustomError("layout", "count: a wide table has no counts; remove this key")
        if self.layout == "long" and self.separator is not None:
            raise PydanticCustomError("layout", "separator: only a wide table has one; remove this key")
        if len({self.image, self.label, self.count or 1, self.part or 2}) < 4:
            raise PydanticCustomError("columns", "image, label, count and part must name different columns")
        return self


def check_format(name: str) -> str:
    """Check the extension of a table's file, and return `name`, the name of this file.

    Raises a `PydanticCustomError` if the extension is unknown.
    """
    if format_of(name) not in FORMATS:
        endings = "in .parquet, or in .csv, .tsv, .jsonl or .ndjson with or without .gz or .zst"
        raise PydanticCustomError("format", f"the name must end {endings}")
    return name


class TableError(Exception):
    """A mistake in a header or a cell; the caller adds the file and the row to the message."""


class Row(NamedTuple):
    """A row of the table, with unchecked cells.

    `number` is the line number of the row in the file. In a Parquet file, which has no lines, it is the row number.
    """

    number: int
    image: Any
    label: Any
    count: Any  # None means 1


def format_of(name: str) -> str:
    """Return the extension that determines a table's format, in lower case.

    For `table.csv.gz`, the result is ".csv". For `table.parquet.gz`, the result is ".gz", which is no known format,
    because a Parquet file must not be compressed again.
    """
    path = PurePath(name.lower())
    if path.suffix not in COMPRESSIONS:
        return path.suffix
    ending = PurePath(path.stem).suffix
    return ending if ending != ".parquet" else path.suffix


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the table. Images and labels are sorted by name.

    If several rows have the same image and label, their counts are added up.

    Raises a `UserError` in these cases:

    - The file is missing, damaged, or not in the format that its name states.
    - A column is missing.
    - A row has no image or, in the long layout, no label.
    - A count is not a positive whole number.
    - No image has a label.
    - With the option `part`: a part is unknown, an image is in two parts, or no image is in "test".

    If the mistake is in a row, the message names the line or, for a Parquet file, the row number.
    """
    path = find(raw, options.pairs)
    images, labels = Names("image"), Names("label")
    columns = array("i"), array("i"), array("q")
    for row in rows_of(path, options):
        try:
            image = images.number(row.image)
            for label in [row.label] if options.layout == "long" else split(row.label, options):
                columns[0].append(image)
                columns[1].append(labels.number(label))
                columns[2].append(1 if row.count is None else parse_count(row.count))
        except TableError as error:
            raise UserError(f"{position(path, row.number)}: {error}") from None
    if not columns[0]:
        raise UserError(f"{path}: " + ("no image has a label" if images.known else "the table has no rows"))
    (ids, image_ranks), (names, label_ranks) = sort_names(images.known), sort_names(labels.known)
    pairs = add_up(image_ranks[np.array(columns[0])], label_ranks[np.array(columns[1])], np.array(columns[2]), path)
    parts = None if options.part is None else parts_of(path, options)
    ordered = None if parts is None else pl.Series([parts[image] for image in ids], dtype=pl.String)
    return RawAnnotations(image_ids(ids), names, pairs, parts=ordered)


def parts_of(path: Path, options: Options) -> dict[str, str]:
    """Return a dictionary from each image to its part: "train", "valid" or "test".

    Raises a `UserError` if a part is unknown, if an image is in two parts, or if no image is in "test".
    """
    columns = options.model_copy(update={"label": options.part, "layout": "long", "count": None})
    parts: dict[str, str] = {}
    for row in rows_of(path, columns):
        image, part = str(row.image).strip(), PARTS.get(str(row.label).strip().lower())
        where = f"{position(path, row.number)}: {options.part}"
        if part is None:
            raise UserError(f"{where}: {row.label!r} is not a part; use train, valid or test")
        if parts.setdefault(image, part) != part:
            raise UserError(f"{where}: {image!r} is in {part!r} here, but in {parts[image]!r} in an earlier row")
    if "test" not in parts.values():
        raise UserError(f"{path}: {options.part}: no image is in the part 'test'")
    return parts


class Names:
    """Numbers the names of images or labels from 0, in the order of first occurrence."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.known: dict[str, int] = {}
        self._cells: dict[str, int] = {}  # text of a cell -> number of its name; each text is checked only once

    def number(self, cell: Any) -> int:
        """Return the number of the name in a cell; raise a `TableError` if the cell contains no name."""
        number = self._cells.get(cell) if isinstance(cell, str) else None
        if number is None:
            number = self.known.setdefault(name_of(cell, self.what), len(self.known))
            self._cells[cell] = number
        return number


def name_of(cell: Any, what: str) -> str:
    """Return the name in a cell.

    `what` is the kind of name, such as 'image'. Raises a `TableError` if the cell contains no valid name.
    """
    if cell is None:
        raise TableError(f"the {what} is missing")
    if not isinstance(cell, str):
        raise TableError(f"the {what} is {cell!r}, but must be text or a whole number")
    name = cell.strip()
    if fault := fault_of(name):
        raise TableError(f"the {what} {fault}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise TableError(f"the {what} {name!r} is not Unicode text (it has an unpaired surrogate)") from None
    return name


def position(path: Path, number: int) -> str:
    """Return a text that names the file and the line or row, for error messages."""
    return f"{path}: {'row' if format_of(path.name) == '.parquet' else 'line'} {number}"


def split(cell: Any, options: Options) -> list[Any]:
    """Split a cell of a wide table into labels.

    In Parquet and JSON Lines files, a cell can already be a list. Such a list is returned unchanged. Raises a
    `TableError` if the cell contains neither text nor a list.
    """
    if cell is None:
        return []
    if isinstance(cell, list):
        return cell
    if not isinstance(cell, str):
        raise TableError(f"the labels are {cell!r}, but must be text or a list")
    return [label for label in cell.split(options.separator) if label.strip()]


def parse_count(cell: Any) -> int:
    """Parse a count; raise a `TableError` if it is not a positive whole number."""
    text = cell.strip() if isinstance(cell, str) else ""
    if not re.fullmatch("[0-9]{1,10}", text) or not 1 <= int(text) <= LARGEST:
        raise TableError(f"the count is {cell!r}, but must be a whole number from 1 to {LARGEST}")
    return int(text)


def add_up(images: NDArray[np.int32], labels: NDArray[np.int32], counts: NDArray[np.int64], path: Path) -> pl.DataFrame:
    """Add up the counts of equal (image, label) pairs.

    The same position in the three arrays belongs to the same pair. Returns a table of distinct pairs with the Int32
    columns image, label and count, sorted by image and label. Raises a `UserError` if a sum is too large for Int32.
    """
    rows = pl.DataFrame({"image": images, "label": labels, "count": counts})
    pairs = rows.group_by("image", "label").agg(pl.col("count").sum()).sort("image", "label")
    if pairs["count"].max() > LARGEST:  # type: ignore[operator]
        raise UserError(f"{path}: the counts of an (image, label) pair add up to more than {LARGEST}")
    return pairs.cast(PAIRS)


def rows_of(path: Path, options: Options) -> Iterator[Row]:
    """Yield the rows of a table of any format."""
    readers = {".csv": read_csv, ".tsv": read_csv, ".parquet": read_parquet}
    reader = readers.get(format_of(path.name), read_json_lines)
    with explained(path):
        yield from reader(path, options)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the errors that a damaged file raises into a `UserError`."""
    try:
        yield
    except (OSError, EOFError, zlib.error, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UserError(f"{path}: not a readable {path.suffix} file ({one_line(error)})") from None


def read_csv(path: Path, options: Options) -> Iterator[Row]:
    """Yield the rows of a CSV or TSV table.

    A cell may be in double quotes. A cell that contains a line break must be in double quotes.
    """
    delimiter = "\t" if format_of(path.name) == ".tsv" else ","
    reader = csv.reader(lines_of(path), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        names = columns_of(header, options)
        image, label, count = (-1 if name is None else header.index(name) for name in names)
        for cells in reader:
            if len(cells) == len(header):
                yield Row(reader.line_num, cells[image], cells[label], None if count < 0 else cells[count])
            elif cells:  # the line is not empty
                sizes = f"{len(cells)} columns, but the first line has {len(header)}"
                raise UserError(f"{position(path, reader.line_num)}: {sizes}")
    except csv.Error as error:
        raise UserError(f"{position(path, reader.line_num)}: {error}") from None
    except TableError as error:
        raise UserError(f"{path}: {error}") from None


def columns_of(header: list[str], options: Options) -> tuple[str, str, str | None]:
    """Return the names of the columns of images, labels and counts.

    If the table has no counts, the third name is None. A missing or repeated column raises a `TableError`.
    """
    count = options.count or "count"
    has_count = options.layout == "long" and (options.count is not None or count in header)
    for name in [options.image, options.label, *([count] if has_count else [])]:
        if header.count(name) != 1:
            columns = f"the columns are {', '.join(map(repr, header))}" if header else "there are no columns"
            number = "more than one" if name in header else "no"
            raise TableError(f"{number} column {name!r}; {columns}")
    return options.image, options.label, count if has_count else None


def lines_of(path: Path) -> Iterator[str]:
    r"""Yield the lines of a text file, which may be compressed.

    Each line ends in "\n". Only the last line may lack this ending, if the file does not end in a line break. Raises a
    `UserError` if the file is not UTF-8.
    """
    lines: Iterator[str | bytes] = _zstd_lines(path) if path.suffix.lower() == ".zst" else _byte_lines(path)
    for number, line in enumerate(lines, 1):
        try:
            text = line if isinstance(line, str) else line.decode()
        except UnicodeDecodeError:
            raise UserError(f"{path}: line {number}: not UTF-8 text") from None
        end = "\n" if isinstance(line, str) or line.endswith(b"\n") else ""
        yield (text.removeprefix("\ufeff") if number == 1 else text).rstrip("\r\n") + end


def _byte_lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as stream:
        for number in itertools.count(1):
            line = stream.readline(LONGEST_LINE)
            if not line:
                return
            if len(line) == LONGEST_LINE:  # a small compressed file could otherwise fill the memory
                long = f"has {LONGEST_LINE} bytes or more; check that the file is a table"
                raise UserError(f"{path}: line {number}: {long}")
            yield line


def _zstd_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a .zst file.

    The file is read by polars, because Python before 3.14 cannot read this format. Error messages do not name a line.
    """
    try:
        yield from pl.read_lines(path, glob=False).to_series()
    except pl.exceptions.ComputeError as error:
        raise UserError(f"{path}: not UTF-8 text, or damaged ({one_line(error)})") from None


def read_json_lines(path: Path, options: Options) -> Iterator[Row]:
    """Yield the rows of a table whose lines are JSON objects."""
    for number, line in enumerate(lines_of(path), 1):
        if not line.strip():
            continue
        try:
            # Whole numbers are kept as text, because they can be ids.
            value = json.loads(line, parse_int=str, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{position(path, number)}: not JSON ({error})") from None
        if not isinstance(value, dict):
            raise UserError(f"{position(path, number)}: must be a JSON object with the names of columns as keys")
        try:
            image, label, count = columns_of(list(value), options)
        except TableError as error:
            raise UserError(f"{position(path, number)}: {error}") from None
        yield Row(number, value[image], value[label], None if count is None else _given(value[count]))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("duplicate key")
    return value


def _given(cell: Any) -> Any:
    """Return a count, or "" if the cell is None.

    A cell without a count is a mistake, and "" makes the caller report it. None, however, would mean that the table has
    no column of counts, so that each count is 1.
    """
    return "" if cell is None else cell


def read_parquet(path: Path, options: Options) -> Iterator[Row]:
    """Yield the rows of a Parquet table."""
    table = pl.scan_parquet(path, glob=False)
    schema = table.collect_schema()
    try:
        names = [name for name in columns_of(list(schema), options) if name is not None]
    except TableError as error:
        raise UserError(f"{path}: {error}") from None
    texts = table.select(_text_column(path, name, schema[name], options) for name in names).collect()
    for number, (image, label, *count) in enumerate(texts.iter_rows(), 1):
        yield Row(number, image, label, _given(count[0]) if count else None)


def _text_column(path: Path, name: str, kind: pl.DataType, options: Options) -> pl.Expr:
    """Return an expression that converts a column of a Parquet table to text.

    The column may contain text or whole numbers. The column of labels of a wide table may also contain lists of text or
    of whole numbers. Raises a `UserError` if the column has another type.
    """
    inner = kind.inner if isinstance(kind, pl.List) and (options.layout, options.label) == ("wide", name) else kind
    if not (inner.is_integer() or isinstance(inner, (pl.String, pl.Categorical, pl.Enum))):
        raise UserError(f"{path}: the column {name!r} is {kind}, but must be text or whole numbers")
    return pl.col(name).cast(pl.String if inner is kind else pl.List(pl.String))
