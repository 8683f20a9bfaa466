"""Read the archives of INRIA's LEAR group: IAPR TC-12, Corel 5k and ESP Game.

An archive `<prefix>.20091111.tar.bz2` contains the file `<prefix>_dictionary.txt`, with one label per line. It also
contains two files for each of the parts `train` and `test`, which form the official partition. The first file,
`<prefix>_<part>_list.txt`, has one image per line. The second file, `<prefix>_<part>_annot.hvecs`, has one row per
image: the number of labels, followed by 0 or 1 for each label.

The official archives also contain 15 image features. Each file of a feature, `<prefix>_<part>_<feature>.<kind>`, has
one row per image: the number of values, followed by the values, all little-endian. The kind determines two data types,
that of the number of values and that of the values themselves:

    hvec, hvecs       uint16, uint16       (histograms)
    hvec32, hvecs32   uint32, uint32
    fvec, fvecs       uint32, float32
    dvec, dvecs       uint32, float64

The kinds are taken from public copies of INRIA's own reader `vec_read`. The only feature that was read from real files
so far is DenseHue of Corel 5k. Only the feature named by the option `features` is parsed, since the 15 features of IAPR
TC-12 take 2.9 GB. Values become float32, which is exact for counts up to 2^24.

Source: Guillaumin, Mensink, Verbeek and Schmid, "TagProp", ICCV 2009.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.data.features import Features
from vsebench.formats.annotations import RawAnnotations, check_names, check_unique, count_pairs, image_ids
from vsebench.formats.download.archives import open_members, whole_lines

PARTS = ("train", "test")
KINDS = {"hvec": ("<u2", "<u2"), "hvec32": ("<u4", "<u4"), "fvec": ("<u4", "<f4"), "dvec": ("<u4", "<f8")}


class Options(Strict):
    """Options: the archive to read, and the feature to read from it."""

    prefix: str = Field(pattern=r"^\w+$")  # the first part of the names of the archive and of the files in it
    release: str = Field(default="20091111", pattern=r"^\w+$")  # the date in the archive's name
    features: str | None = Field(default=None, pattern=r"^\w+$")  # name of a feature to read, such as DenseHue


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read an archive's labels and the chosen feature; training images come first.

    The ids of images are the names in the archive's lists of images.
    """
    archive = raw / f"{options.prefix}.{options.release}.tar.bz2"
    names = {part: (f"{options.prefix}_{part}_list.txt", f"{options.prefix}_{part}_annot.hvecs") for part in PARTS}
    dictionary = f"{options.prefix}_dictionary.txt"
    members = [dictionary, *(name for pair in names.values() for name in pair)]
    content, vectors = _read_archive(archive, members, options)

    labels = whole_lines(content[dictionary], f"{archive}: {dictionary}")
    check_names(labels, f"{archive}: {dictionary}", "label")
    images: list[str] = []
    matrices = []
    sizes = {}
    for part, (list_name, rows_name) in names.items():
        part_images = whole_lines(content[list_name], f"{archive}: {list_name}")
        check_names(part_images, f"{archive}: {list_name}", "image")
        where = f"{archive}: {rows_name}"
        stated = f"the dictionary has {len(labels)} labels"
        rows = parse_rows(content[rows_name], ("<i2", "<i2"), len(labels), stated, where)
        if len(rows) != len(part_images):
            raise UserError(f"{where}: has {len(rows)} rows, but {list_name} has {len(part_images)} images")
        images += part_images
        sizes[part] = len(part_images)
        matrices.append(_check_binary(rows, where))
    check_unique(images, f"{archive}: the image lists", "image")
    image, label = np.nonzero(np.concatenate(matrices))
    parts = pl.concat([pl.repeat(part, sizes[part], eager=True, dtype=pl.String) for part in PARTS]).alias("part")
    features = _join_parts(vectors, sizes, f"{archive}: feature {options.features}") if options.features else None
    return RawAnnotations(
        image_ids(images), labels, count_pairs(image, label, len(labels)), parts=parts, features=features
    )


def parse_rows(data: bytes, types: tuple[str, str], width: int, source: str, where: str) -> NDArray[Any]:
    """Return the rows of a binary file as an array of shape (n_rows, width).

    In `data`, the content of the file, each row is its length followed by `width` numbers. `types` contains two data
    types: that of the length, and that of the numbers, which is also the type of the array.

    Raises a `UserError` if the length of a row is not `width`, or if the file ends in the middle of a row. The error
    begins with `where` and names the row. `source` is the part of the message that states where `width` comes from.
    """
    length, number = (np.dtype(name) for name in types)
    n_rows, rest = divmod(len(data), length.itemsize + width * number.itemsize)
    numbers = np.empty((0, width), dtype=number)
    if n_rows:
        rows = np.frombuffer(data, dtype=[("length", length), ("numbers", number, (width,))], count=n_rows)
        wrong = np.flatnonzero(rows["length"] != width)
        if len(wrong):
            stated = rows["length"][wrong[0]]
            raise UserError(f"{where}: row {wrong[0] + 1}: its length is {stated}, but {source}")
        numbers = rows["numbers"]
    if rest:
        raise UserError(f"{where}: row {n_rows + 1}: the file ends in the middle of this row")
    return numbers


def parse_vectors(data: bytes, kind: str, where: str) -> NDArray[np.float32]:
    """Return the rows of a feature's file as a float32 array of shape (n_rows, d).

    `kind` determines the data types in the file, and the length of the first row determines d. Raises a `UserError` if
    another row has a different length, if the file ends in the middle of a row, or if a number is infinite, NaN or too
    big for float32.
    """
    length = np.dtype(KINDS[kind][0])
    first = data[: length.itemsize].ljust(length.itemsize, b"\0")
    width = int(np.frombuffer(first, dtype=length)[0])
    rows = parse_rows(data, KINDS[kind], width, f"the length of row 1 is {width}", where)
    with np.errstate(over="ignore"):
        numbers: NDArray[np.float32] = rows.astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
    if len(wrong):
        raise UserError(f"{where}: row {wrong[0] + 1}: contains a number that is infinite, NaN or too big for float32")
    return numbers


def _check_binary(rows: NDArray[np.int16], where: str) -> NDArray[np.int16]:
    wrong = np.argwhere((rows != 0) & (rows != 1))
    if len(wrong):
        row, column = wrong[0]
        raise UserError(f"{where}: row {row + 1}: label {column + 1} is {rows[row, column]}, but must be 0 or 1")
    return rows


def _read_archive(
    archive: Path, names: list[str], options: Options
) -> tuple[dict[str, bytes], dict[str, NDArray[np.float32]]]:
    """Return the content of the files `names`, by file name, and the rows of the chosen feature, by part."""
    content: dict[str, bytes] = {}
    vectors: dict[str, NDArray[np.float32]] = {}

    def is_chosen(name: str) -> bool:
        basename = name.rpartition("/")[2]
        return basename in names or _feature_of(basename, options) is not None

    with open_members(archive, is_chosen) as members:
        for name, stream in members:
            basename = name.rpartition("/")[2]
            part, kind = _feature_of(basename, options) or ("", "")
            if basename in content or part in vectors:
                raise UserError(f"{archive}: contains {basename} more than once")
            if basename in names:
                content[basename] = stream.read()
            else:
                vectors[part] = parse_vectors(stream.read(), kind, f"{archive}: {basename}")
    missing = [name for name in names if name not in content]
    if options.features and not vectors:
        missing.append(f"feature {options.features} (check the option `features`)")
    if missing:
        raise UserError(f"{archive}: contains no {', '.join(missing)}; use the official archive")
    return content, vectors


def _feature_of(basename: str, options: Options) -> tuple[str, str] | None:
    """Return the part ("train" or "test") and the kind of a file of the chosen feature; None for any other file."""
    if options.features is None or options.features == "annot":
        return None
    pattern = rf"{options.prefix}_({'|'.join(PARTS)})_{options.features}\.([hfd]vec)s?(32)?"
    match = re.fullmatch(pattern, basename)
    if match is None:
        return None
    part, kind, wide = match.groups(default="")
    return (part, kind + wide) if kind + wide in KINDS else None


def _join_parts(vectors: dict[str, NDArray[np.float32]], sizes: dict[str, int], where: str) -> Features:
    """Return the features of all images, training images first."""
    for part, size in sizes.items():
        if len(vectors.get(part, ())) != size:
            found = f"has {len(vectors.get(part, ()))} rows for the part {part!r}"
            raise UserError(f"{where}: {found}, which has {size} images")
    filled = [vectors[part] for part in PARTS if sizes[part]]
    if not filled:
        raise UserError(f"{where}: the archive contains no image")
    if len({array.shape[1] for array in filled}) > 1:
        raise UserError(f"{where}: the rows of train and test differ in length")
    values = np.concatenate(filled)
    return Features(values, np.ones(len(values), dtype=bool), where)
