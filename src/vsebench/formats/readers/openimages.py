"""Read Open Images: labels of whole images, assigned by machines or by people.

The archive contains one table for each part of the official partition, such as `.../train/labels.csv`. Each table has
the header `ImageID,Source,LabelName,Confidence`, and one line for each label of an image. A line contains:

- the id of the image, which has 16 hexadecimal digits
- the source of the label
- the id of the label, called mid
- the confidence of the source, from 0 to 1; people give 1 if the label is right, and 0 if it is wrong

The tables are read as follows:

- A label is kept if its confidence is at least `min_confidence`. With `min_confidence: 1`, only labels that people
  confirmed are kept.
- An image can have the same label in several lines, for example from two sources. The label is kept if at least one of
  these lines has enough confidence. All counts are 1.
- Lines may be in any order. Images are ordered by id, and labels by mid. Images without a label are kept.
- An image belongs to the part "train" if it is in the table of `train`, and to "test" if it is in another table. If
  only one table is read, or `train` is not read, there is no partition.
- Without the option `class_names`, the name of a label is its mid. With this option, names come from a table with lines
  of the form `mid,name`; a label without a name in this table keeps its mid. If several labels have the same name,
  their mids are added to the name: `Jaguar (/m/012x34)`.

Tables are read in blocks. Each line with enough confidence takes 12 bytes of memory; `benchmarks/openimages_reader.py`
measures the memory.

Source: Krasin et al., "OpenImages: a public dataset for large-scale multi-label and multi-class image classification",
2016 and 2017, https://github.com/openimages/dataset.
"""

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.core.schemas import PAIRS
from vsebench.core.yaml_files import Strict
from vsebench.formats.annotations import Dropped, RawAnnotations, fault_of, image_ids
from vsebench.formats.download.archives import by_basename, line_blocks, open_members

HEADER = "ImageID,Source,LabelName,Confidence"
COLUMNS = {"image": pl.String, "source": pl.String, "label": pl.String, "confidence": pl.Float64}
IMAGE_ID = re.compile(rb"[0-9a-fA-F]{16}")
NUMBER = re.compile(rb"[^\s_]+")
BLOCK = 1 << 24  # bytes of a table to parse at a time
PORTION = 1 << 20  # number of ids to format at a time

FileName = Field(pattern=r"^[\w.+-]+$")
Part = Literal["train", "validation", "test"]


class ClassNames(Strict):
    """Options: the table with the names of the labels."""

    archive: str = FileName  # the archive that contains the table of names; it must be listed under `files`
    member: str = FileName  # file name of the table of names in the archive


class Options(Strict):
    """Options: the tables to read, and the labels to keep."""

    archive: str = FileName  # the archive that contains the tables of labels; it must be listed under `files`
    table: str = Field(default="labels.csv", pattern=r"^[\w.+-]+$")  # file name of each part's table in the archive
    parts: list[Part] = Field(default=["train", "validation"], min_length=1)  # the parts to read
    min_confidence: float = Field(ge=0, le=1)  # smallest confidence of a label to keep; 1: only what people confirmed
    class_names: ClassNames | None = None  # the table with the names of the labels; none: the names are ids (mids)


@dataclass
class _Lines:
    """The content of the tables that have been read so far.

    Attributes
    ----------
    images : one uint64 array per block of lines: the image id of each line with enough confidence
    labels : one int32 array per block: the label code (see `codes`) of each of these lines
    codes : dictionary from a label's mid to its code, a number from 0 to len(codes) - 1
    ids : dictionary from a part to the ids of its images, a uint64 array in ascending order without duplicates
    unsure : number of lines whose confidence is too low
    """

    images: list[NDArray[np.uint64]] = field(default_factory=list)
    labels: list[NDArray[np.int32]] = field(default_factory=list)
    codes: dict[str, int] = field(default_factory=dict)
    ids: dict[str, NDArray[np.uint64]] = field(default_factory=dict)
    unsure: int = 0


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the labels of all images of the parts that the options name."""
    archive = raw / options.archive
    lines = _read_tables(archive, options)
    mids = sorted(lines.codes)
    names = mids if options.class_names is None else _name_labels(mids, raw, options.class_names)
    ids = np.unique(np.concatenate(list(lines.ids.values())))
    parts = _find_parts(ids, lines.ids, archive)
    dropped = [Dropped("lines", lines.unsure, f"with a confidence below {options.min_confidence} (min_confidence)")]
    pairs, repeats = _pair_up(lines, ids, mids)
    dropped.append(Dropped("lines", repeats, "with a label that the image also has in another line"))
    return RawAnnotations(_format(ids), names, pairs, [entry for entry in dropped if entry.number], parts)


def _read_tables(archive: Path, options: Options) -> _Lines:
    part_of = {f"{part}/{options.table}": part for part in options.parts}
    lines = _Lines()
    with open_members(archive, lambda name: _ending(name) in part_of) as members:
        for name, stream in members:
            part = part_of[_ending(name)]
            if part in lines.ids:
                raise UserError(f"{archive}: contains {_ending(name)} more than once")
            lines.ids[part] = _read_table(stream, options.min_confidence, lines, f"{archive}: {name}")
    missing = [ending for ending, part in part_of.items() if part not in lines.ids]
    if missing:
        raise UserError(f"{archive}: contains no {', '.join(missing)}; use the official archive")
    return lines


def _ending(name: str) -> str:
    """Return the last two parts of the path of an archive's member."""
    return "/".join(name.split("/")[-2:])


def _read_table(stream: IO[bytes], min_confidence: float, lines: _Lines, where: str) -> NDArray[np.uint64]:
    """Add the content of a table to `lines`, and return the ids of the table's images.

    The ids are in ascending order, without duplicates.
    """
    header = stream.readline(1000)
    if header.decode("utf-8-sig", errors="replace").strip() != HEADER:
        raise UserError(f"{where}: line 1: is {header[:80]!r}, but must be {HEADER}")
    n_lines = 1
    ids = [np.empty(0, np.uint64)]
    for block in line_blocks(stream, BLOCK):
        frame = _parse_block(block, n_lines, where)
        n_lines += len(frame)
        ids.append(np.unique(frame["image"].to_numpy()))
        sure = frame.filter(pl.col("confidence") >= min_confidence)
        lines.unsure += len(frame) - len(sure)
        if sure.is_empty():
            continue
        for mid in sure["label"].unique():
            lines.codes.setdefault(mid, len(lines.codes))
        codes = sure["label"].replace_strict(list(lines.codes), list(lines.codes.values()), return_dtype=pl.Int32)
        lines.images.append(sure["image"].to_numpy())
        lines.labels.append(codes.to_numpy())
    return np.unique(np.concatenate(ids))


def _parse_block(block: bytes, n_before: int, where: str) -> pl.DataFrame:
    """Parse a block of whole lines.

    Returns a table with the columns image (UInt64), label and confidence, and one row per line. Raises a `UserError`
    if a line is malformed; the message names the first such line. `n_before` is the number of lines before the block.
    """
    image, label, confidence = pl.col("image"), pl.col("label"), pl.col("confidence")
    number = image.str.to_integer(base=16, dtype=pl.UInt64, strict=False)
    digits = (image.str.len_bytes() == 16) & ~image.str.starts_with("+") & number.is_not_null()
    good = digits & (label.str.len_bytes() > 0) & confidence.is_between(0, 1)
    if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):  # polars would drop a lone carriage return
        _explain(block, n_before, where)
    try:
        frame = pl.read_csv(block, has_header=False, quote_char=None, schema=COLUMNS)
        frame = frame.select(number, label, confidence, good=good.fill_null(value=False))
    except pl.exceptions.PolarsError:
        _explain(block, n_before, where)
    all_good = len(frame) == block.count(b"\n") and frame["good"].all()
    if not all_good or any(map(fault_of, frame["label"].unique())):
        _explain(block, n_before, where)
    return frame.drop("good")


def _explain(block: bytes, n_before: int, where: str) -> NoReturn:
    """Raise a `UserError` that names the first bad line of a block and its fault."""
    lines = block[:-1].split(b"\n")
    for number, line in enumerate(lines, start=n_before + 1):
        fault = _find_fault(line.removesuffix(b"\r"))
        if fault:
            raise UserError(f"{where}: line {number}: {fault}")
    fault = f"at least one of these lines is not in the format {HEADER}"
    raise UserError(f"{where}: lines {n_before + 1} to {n_before + len(lines)}: {fault}")


def _find_fault(line: bytes) -> str | None:
    fields = line.split(b",")
    if len(fields) != len(COLUMNS):
        return f"has {len(fields)} columns instead of the {len(COLUMNS)} columns {HEADER}"
    image, _, label, confidence = fields
    if b"\r" in line:
        return "contains a carriage return"
    if not IMAGE_ID.fullmatch(image):
        return f"{image[:40]!r} is not an image id of 16 hexadecimal digits"
    if fault := fault_of(label.decode(errors="replace")):
        return f"the label {fault}"
    try:
        number = confidence.lstrip(b" \t")  # as polars does; float() accepts more
        if not NUMBER.fullmatch(number):
            raise ValueError
        if not 0 <= float(number) <= 1:
            return f"the confidence {confidence[:40]!r} is not between 0 and 1"
        line.decode()
    except UnicodeDecodeError:
        return "not UTF-8 text"
    except ValueError:
        return f"the confidence {confidence[:40]!r} is not a number"
    return None


def _find_parts(ids: NDArray[np.uint64], of_part: dict[str, NDArray[np.uint64]], archive: Path) -> pl.Series | None:
    """Return "train" or "test" for each image, or None if there is no partition.

    Images of all parts except `train` belong to "test". There is no partition if `train` was not read, or if only one
    part was read. Raises a `UserError` if an image is in the tables of several parts.
    """
    if sum(map(len, of_part.values())) > len(ids):
        distinct, times = np.unique(np.concatenate(list(of_part.values())), return_counts=True)
        image = int(distinct[times > 1][0])
        raise UserError(f"{archive}: image {image:016x} is in more than one of the tables of {', '.join(of_part)}")
    if "train" not in of_part or len(of_part) == 1:
        return None
    train = np.zeros(len(ids), dtype=bool)
    train[np.searchsorted(ids, of_part["train"])] = True
    return pl.select(
        pl.when(pl.Series(train)).then(pl.lit("train")).otherwise(pl.lit("test")).alias("part")
    ).to_series()


def _pair_up(lines: _Lines, ids: NDArray[np.uint64], mids: list[str]) -> tuple[pl.DataFrame, int]:
    """Return the table of pairs, and the number of lines that repeat the pair of another line.

    This step needs more memory than any other, so it empties the lists in `lines` and changes a few large arrays in
    place.
    """
    row_of_code = np.empty(len(mids), dtype=np.int64)
    row_of_code[[lines.codes[mid] for mid in mids]] = np.arange(len(mids))
    keys = np.empty(sum(map(len, lines.images)), dtype=np.int64)  # image x number of labels + label
    start = 0
    while lines.images:
        image, label = np.searchsorted(ids, lines.images.pop()), row_of_code[lines.labels.pop()]
        keys[start : start + len(image)] = image * len(mids) + label
        start += len(image)
    keys.sort()
    new = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    repeats = len(keys) - int(np.count_nonzero(new))
    keys = keys[new]
    image = (keys // max(len(mids), 1)).astype(np.int32)
    keys -= np.multiply(image, len(mids), dtype=np.int64)
    pairs = pl.DataFrame({"image": image, "label": keys.astype(np.int32)}).with_columns(count=pl.lit(1, pl.Int32))
    return pairs.select(*PAIRS), repeats


def _format(ids: NDArray[np.uint64]) -> pl.Series:
    """Return ids as text of 16 hexadecimal digits.

    Ids are converted in portions, because Python strings take much memory.
    """
    portions = [ids[start : start + PORTION] for start in range(0, len(ids), PORTION)]
    return pl.concat([image_ids([])] + [image_ids(f"{image:016x}" for image in part.tolist()) for part in portions])


def _name_labels(mids: list[str], raw: Path, class_names: ClassNames) -> list[str]:
    """Return the name of each label, followed by its mid if several labels have the same name."""
    name_of = read_class_names(raw, class_names)
    names = [name_of.get(mid) or mid for mid in mids]
    times = Counter(names)
    return [name if times[name] == 1 else f"{name} ({mid})" for name, mid in zip(names, mids, strict=True)]


def read_class_names(raw: Path, class_names: ClassNames) -> dict[str, str]:
    """Read the names of all classes from lines of the form `mid,name`.

    Returns a dictionary from mid to name. In the file, a name may be in double quotes. A mistake in a line raises a
    `UserError` that names the archive, the file in the archive, and the line.
    """
    archive = raw / class_names.archive
    where = f"{archive}: {class_names.member}"
    data = by_basename(archive, [class_names.member])[class_names.member]
    try:
        rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{where}: line {line}: not UTF-8 text") from None
    name_of: dict[str, str] = {}
    try:
        for row in rows:
            if len(row) != 2:
                found = f"has {len(row)} columns instead of 2, the id and the name of a label"
                raise UserError(f"{where}: line {rows.line_num}: {found}")
            mid, name = (cell.strip() for cell in row)
            if name and (fault := fault_of(name)):
                raise UserError(f"{where}: line {rows.line_num}: the name {fault}")
            if name_of.setdefault(mid, name) != name:
                raise UserError(f"{where}: line {rows.line_num}: gives {mid} a second name, {name[:60]!r}")
    except csv.Error as error:
        raise UserError(f"{where}: line {rows.line_num}: {error}") from None
    return name_of
