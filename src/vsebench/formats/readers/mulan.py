r"""Read multi-label data sets in Mulan's layout: ARFF files of features and labels, and an XML file with label names.

The XML file has an element `labels` with an element `label` for each label. Nested `label` elements (a hierarchy) are
read as ordinary labels; the hierarchy itself is not read. The attributes of the ARFF file are the labels and the
features, in any order. Labels are therefore found by name. Labels are in the order of the XML file.

In the ARFF file, a name without quotes can contain backslashes as escapes, and the XML file repeats the backslashes.
For example, a label of `delicious.xml` is written `TAG_m\'usica` in both files. Names without quotes are therefore
compared as they are written. In the data set, this label is called `TAG_m'usica`, without the backslash.

The supported part of ARFF (UTF-8, plain or .gz):

    % a comment, also at the end of a line; blank lines are ignored
    @relation name
    @attribute name numeric        (or real, integer; a name with white space must be in quotes, ' or "; in any name,
                                   \' and \" stand for a quote)
    @attribute name {0,1}          (not {1,0}, because the first value is the one that sparse rows omit)
    @data
    0.5,3,0,1                      (a dense row: the value of each attribute)
    {1 3,3 1}                      (a sparse row: ascending attribute numbers, from 0, with values; absent values are 0)

Numbers become float32. Labels are 0 or 1. Missing values (?) and other types, such as dates and strings, are
refused. The option `features` states whether rows are dense or sparse. All rows of all files must be of this kind, and
the features are stored in the same form.

ARFF has no image ids, so images are named by file and row: `scene-train-000001` is the first data row of
`scene-train.arff.gz`.

The reader was checked on real files: Corel5k, Corel16k, Bibtex and Delicious (sparse), scene (dense, .gz) and emotions
(dense).

Source: Tsoumakas, Spyromitros-Xioufis, Vilcek and Vlahavas, "Mulan: a Java library for multi-label learning", JMLR 12
(2011). ARFF: the format of the program Weka.
"""

import gzip
import re
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NoReturn
from xml.parsers import expat

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from scipy import sparse

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.data.features import Features, csr
from vsebench.formats.annotations import RawAnnotations, check_unique, count_pairs, fault_of, image_ids
from vsebench.formats.download.archives import MEMORY, text_lines

ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'(?P<single>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)"|(?P<plain>(?:\\['"]|[^\s{},%'"])+))"""
    r"\s*(?P<type>[^%]*)(?:%.*)?",
    re.IGNORECASE,
)
BINARY = re.compile(r"\{\s*(['\"]?)0\1\s*,\s*(['\"]?)1\2\s*\}")
ESCAPE = re.compile(r"\\(.)")  # a backslash, and the character that it escapes
NUMERIC = {"numeric", "real", "integer"}
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
VALUE = re.compile(rf"\s*({NUMBER})\s*", re.ASCII)
ENTRY = re.compile(rf"\s*([0-9]{{1,9}})\s+({NUMBER})\s*", re.ASCII)

FileName = Annotated[str, Field(pattern=r"^[\w.+-]+\.arff(\.gz)?$")]
Kind = Literal["sparse", "dense"]


class Options(Strict):
    """Options: the files to read; the rows are in one file (`arff`) or in one file per official part (`parts`)."""

    labels: str = Field(pattern=r"^[\w.+-]+\.xml$")  # the file that names the labels
    features: Kind  # whether the rows of the files are dense or sparse; features are stored in the same form
    arff: FileName | None = None  # the file with all rows
    # number of rows at the beginning of `arff` to train on; the other rows are test images
    train_rows: int | None = Field(default=None, ge=1)
    parts: dict[Literal["train", "valid", "test"], FileName] = Field(default={})  # instead of `arff`: each part's file

    @model_validator(mode="after")
    def _one_or_several(self) -> "Options":
        if (self.arff is None) == (not self.parts):
            raise PydanticCustomError("arff", "name the files in either `arff` or `parts`")
        if self.train_rows is not None and self.arff is None:
            raise PydanticCustomError("train_rows", "`train_rows` applies to a single file (`arff`); remove this key")
        return self


class Attribute(NamedTuple):
    """A column of an ARFF file.

    Attributes
    ----------
    key : the name to compare with the XML file; escapes are removed only if the ARFF file has the name in quotes
    name : the name without escapes
    binary : whether the type of the column is {0,1}
    """

    key: str
    name: str
    binary: bool


class Rows(NamedTuple):
    """The data of an ARFF file.

    Attributes
    ----------
    attributes : one per column
    values : (n_rows, n_attributes) float32, all finite; a NumPy array if the rows of the file are dense, or a csr_array
        without stored zeros if they are sparse
    lines : (n_rows,) int64, line number of each row in the file
    """

    attributes: list[Attribute]
    values: Any
    lines: NDArray[np.int64]


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read labels and features.

    Images are ordered by file, and then by row. A missing or malformed file raises a `UserError` that names the file
    and, where possible, the line. Two files that contradict each other raise a `UserError` that names both files.
    """
    names = [options.arff] if options.arff is not None else [*options.parts.values()]
    tables = [read_arff(raw / name, options.features) for name in names]
    attributes = tables[0].attributes
    for name, table in zip(names, tables, strict=True):
        if table.attributes != attributes:
            raise UserError(f"{raw / name}: its attributes differ in name, type or order from those of {names[0]}")
    keys = read_labels(raw / options.labels)
    columns, feature_columns = _columns(attributes, keys, raw / options.labels, names[0])
    labels = [attributes[column].name for column in columns]
    check_unique(labels, str(raw / options.labels), "label")
    for name, table in zip(names, tables, strict=True):
        _check_binary(table, columns, raw / name)
    is_sparse = options.features == "sparse"
    matrices = [table.values for table in tables]
    values = sparse.vstack(matrices, format="csr") if is_sparse else np.concatenate(matrices)
    features = values[:, feature_columns] if is_sparse else np.ascontiguousarray(values[:, feature_columns])
    image, label = values[:, columns].nonzero()
    images = [
        f"{name.partition('.arff')[0]}-{row:06d}"
        for name, table in zip(names, tables, strict=True)
        for row in range(1, len(table.lines) + 1)
    ]
    check_unique(images, str(raw / names[0]), "image")
    sizes = [len(table.lines) for table in tables]
    return RawAnnotations(
        image_ids(images),
        labels,
        count_pairs(image, label, len(labels)),
        parts=_parts(options, sizes, raw / names[0]),
        features=Features(features, np.ones(len(images), dtype=bool), where=str(raw / names[0])),
    )


def read_labels(path: Path) -> list[str]:
    """Return the names of the labels in an XML file, in the order of the file.

    Raises a `UserError` that names the line if the XML is malformed, or if a label has no name or occurs twice. A
    document type declaration, which could define entities, is refused.
    """
    names: list[str] = []
    parser = expat.ParserCreate(namespace_separator=" ")

    def refuse(why: str) -> NoReturn:
        raise UserError(f"{path}: line {parser.CurrentLineNumber}: {why}")

    def start(element: str, attributes: dict[str, str]) -> None:
        kind = element.rpartition(" ")[2]
        if kind != ("label" if root else "labels"):
            refuse(f"has an element {kind[:40]!r}; use only `label` elements in one `labels` element")
        if not root:
            root.append(kind)
            return
        name = " ".join(attributes.get("name", "").split())
        if fault := fault_of(name):
            refuse(f"the label {fault}")
        if name in names:
            refuse(f"the label {name[:60]!r} occurs twice")
        names.append(name)

    root: list[str] = []
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = lambda *_: refuse("has a document type declaration (<!DOCTYPE); remove it")
    try:
        parser.Parse(_content(path), True)
    except expat.ExpatError as error:
        raise UserError(f"{path}: line {error.lineno}: not readable XML ({expat.ErrorString(error.code)})") from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not know or cannot use here
        raise UserError(f"{path}: line 1: not readable XML ({error}); save it as UTF-8") from None
    if not names:
        raise UserError(f"{path}: contains no label")
    return names


def read_arff(path: Path, kind: Kind) -> Rows:
    """Read an ARFF file whose rows are all dense or all sparse.

    Raises a `UserError` that says what is missing, or that names the first malformed line.
    """
    lines = text_lines(_content(path), str(path))
    attributes, start = _read_header(lines, path)
    rows = [
        (number, line)
        for number, line in enumerate((line.partition("%")[0].strip() for line in lines[start:]), start + 1)
        if line
    ]
    if not rows:
        raise UserError(f"{path}: contains no row after @data")
    values = (_sparse if kind == "sparse" else _dense)(rows, len(attributes), path)
    return Rows(attributes, values, np.array([number for number, _ in rows], dtype=np.int64))


def _content(path: Path) -> bytes:
    """Return the content of a file, decompressed if its name ends in .gz."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            data = stream.read(MEMORY + 1)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run the download stage") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path}: not a readable file ({error}); delete it and download it again") from None
    if len(data) > MEMORY:
        raise UserError(f"{path}: the content exceeds {MEMORY} bytes, the limit of this reader")
    return data


def _read_header(lines: list[str], path: Path) -> tuple[list[Attribute], int]:
    """Return the attributes and the line number of @data."""
    attributes: dict[str, Attribute] = {}
    for number, line in enumerate(lines, 1):
        keyword = line.partition("%")[0].split(maxsplit=1)[:1]
        match [word.lower() for word in keyword]:
            case [] | ["@relation"]:
                continue
            case ["@data"]:
                if not attributes:
                    raise UserError(f"{path}: line {number}: @data comes before the first @attribute")
                return [*attributes.values()], number
            case ["@attribute"]:
                attribute = _parse_attribute(line, f"{path}: line {number}")
                if attribute.key in attributes:
                    raise UserError(f"{path}: line {number}: the attribute {attribute.key[:60]!r} occurs twice")
                attributes[attribute.key] = attribute
            case _:
                raise UserError(f"{path}: line {number}: {line[:60]!r} must begin with @relation, @attribute or @data")
    raise UserError(f"{path}: has no @data line; the file is incomplete or not ARFF")


def _parse_attribute(line: str, where: str) -> Attribute:
    match = ATTRIBUTE.fullmatch(line)
    if match is None:
        raise UserError(f"{where}: {line[:60]!r} must have the form `@attribute name type`")
    quoted = match["single"] if match["single"] is not None else match["double"]
    name = ESCAPE.sub(r"\1", match["plain"] if quoted is None else quoted)
    key = match["plain"] if quoted is None else name
    kind = match["type"].strip()
    binary = BINARY.fullmatch(kind) is not None
    if not binary and kind.lower() not in NUMERIC:
        raise UserError(f"{where}: the type {kind[:60]!r} of {name[:60]!r} must be {{0,1}} or numeric")
    return Attribute(" ".join(key.split()), " ".join(name.split()), binary)


def _dense(rows: list[tuple[int, str]], width: int, path: Path) -> NDArray[np.float32]:
    values = np.empty((len(rows), width), dtype=np.float32)
    for row, (number, line) in enumerate(rows):
        where = f"{path}: line {number}"
        if line.startswith("{"):
            raise UserError(f"{where}: the row is sparse, but the data set has `features: dense`")
        cells = line.split(",")
        if len(cells) != width:
            raise UserError(f"{where}: has {len(cells)} values, but the header declares {width} attributes")
        wrong = next((cell for cell in cells if not VALUE.fullmatch(cell)), None)
        if wrong is not None:
            raise UserError(f"{where}: {wrong.strip()[:40]!r} is not a number")
        values[row] = _floats(cells, where)
    return values


def _sparse(rows: list[tuple[int, str]], width: int, path: Path) -> Any:
    """Return the values of sparse rows as a csr_array (n_rows, width) float32 without stored zeros."""
    columns: list[int] = []
    numbers: list[NDArray[np.float32]] = []
    for number, line in rows:
        where = f"{path}: line {number}"
        if not line.startswith("{"):
            raise UserError(f"{where}: the row is dense, but the data set has `features: sparse`")
        entries = _entries(line, where)
        of_row = [int(index) for index, _ in entries]
        for before, column in pairwise([-1, *of_row]):
            if not before < column < width:
                why = f"follows {before}" if column <= before else "does not exist"
                wanted = f"a row's numbers must be from 0 to {width - 1} and in ascending order"
                raise UserError(f"{where}: attribute {column} {why}; {wanted}")
        columns += of_row
        numbers.append(_floats([value for _, value in entries], where))
    offsets = np.cumsum([0, *map(len, numbers)])
    matrix = csr(np.concatenate(numbers), np.array(columns, dtype=np.int64), offsets, (len(rows), width))
    matrix.eliminate_zeros()
    return matrix


def _entries(line: str, where: str) -> list[tuple[str, str]]:
    """Return the attribute number and the value of each entry of a sparse row, both as text."""
    inner = line.removeprefix("{").removesuffix("}")
    if len(inner) != len(line) - 2:
        raise UserError(f"{where}: the sparse row does not end with a brace")
    if not inner.strip():
        return []
    matches = [ENTRY.fullmatch(entry) for entry in inner.split(",")]
    if None in matches:
        wrong = inner.split(",")[matches.index(None)]
        raise UserError(f"{where}: {wrong.strip()[:40]!r} must be an attribute number and a value")
    return [(match[1], match[2]) for match in matches if match]


def _floats(words: list[str], where: str) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        numbers = np.array([float(word) for word in words], dtype=np.float64).astype(np.float32)
    if not np.isfinite(numbers).all():
        wrong = words[int(np.flatnonzero(~np.isfinite(numbers))[0])]
        raise UserError(f"{where}: {wrong.strip()[:40]} is too large for a 32-bit number")
    return numbers


def _columns(
    attributes: list[Attribute], keys: list[str], where: Path, arff: str
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the column numbers of the labels and of the features.

    `keys` are the labels' names as they are written in the XML file. The labels' columns are in the order of `keys`.
    All other columns are features, in the order of the ARFF file.
    """
    column_of = {attribute.key: column for column, attribute in enumerate(attributes)}
    missing = [key for key in keys if key not in column_of]
    if missing:
        raise UserError(f"{where}: the label {missing[0][:60]!r} is not an attribute of {arff}")
    columns = np.array([column_of[key] for key in keys])
    feature_columns = np.setdiff1d(np.arange(len(attributes)), columns)
    if not len(feature_columns):
        raise UserError(f"{where}: all attributes of {arff} are labels, so no feature is left")
    return columns, feature_columns


def _check_binary(table: Rows, label_columns: NDArray[np.intp], path: Path) -> None:
    """Raise a `UserError` if a label, or another attribute of the type {0,1}, has a value other than 0 and 1."""
    is_binary = np.array([attribute.binary for attribute in table.attributes])
    is_binary[label_columns] = True
    columns = np.flatnonzero(is_binary)
    values = sparse.coo_array(table.values[:, columns])
    wrong = np.flatnonzero(values.data != 1)
    if len(wrong):
        row, column = (int(axis[wrong[0]]) for axis in values.coords)
        name, value = table.attributes[columns[column]].key, values.data[wrong[0]]
        raise UserError(f"{path}: line {table.lines[row]}: {name[:60]!r} is {value:g}, but must be 0 or 1")


def _parts(options: Options, sizes: list[int], where: Path) -> pl.Series | None:
    """Return each image's part of the official partition; None if the options define no partition."""
    if options.parts:
        return pl.Series("part", np.repeat([*options.parts], sizes).tolist())
    if options.train_rows is None:
        return None
    if options.train_rows >= sizes[0]:
        stated = f"`train_rows` is {options.train_rows}, so no row is left to test on; decrease `train_rows`"
        raise UserError(f"{where}: has {sizes[0]} rows, but {stated}")
    return pl.Series("part", ["train"] * options.train_rows + ["test"] * (sizes[0] - options.train_rows))
