"""The archives of INRIA's LEAR group: IAPR TC-12, Corel 5k and ESP Game.

An archive `<prefix>.20091111.tar.bz2` holds `<prefix>_dictionary.txt` (a label a line), and for `train` and `test`
`<prefix>_<part>_list.txt` (an image a line) and `<prefix>_<part>_annot.hvecs` (a row an image: the number of labels,
then 0 or 1 for each of them, all little-endian int16). The archive's own partition is not used: splits are made later.

Source: Guillaumin, Mensink, Verbeek and Schmid, "TagProp", ICCV 2009.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.config import Strict
from vsebench.datasets.annotations import RawAnnotations, check_unique, count_pairs, image_ids
from vsebench.datasets.archives import by_basename, text_lines
from vsebench.errors import UserError

PARTS = ("train", "test")


class Options(Strict):
    """Which of the archives to read."""

    prefix: str = Field(pattern=r"^\w+$")
    release: str = Field(default="20091111", pattern=r"^\w+$")


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read an archive's labels; images are named as in its lists, training images first."""
    archive = raw / f"{options.prefix}.{options.release}.tar.bz2"
    names = {part: (f"{options.prefix}_{part}_list.txt", f"{options.prefix}_{part}_annot.hvecs") for part in PARTS}
    dictionary = f"{options.prefix}_dictionary.txt"
    content = by_basename(archive, [dictionary, *(name for pair in names.values() for name in pair)])

    labels = text_lines(content[dictionary], f"{archive}: {dictionary}")
    check_unique(labels, f"{archive}: {dictionary}", "label")
    images: list[str] = []
    matrices = []
    for list_name, rows_name in names.values():
        part_images = text_lines(content[list_name], f"{archive}: {list_name}")
        where = f"{archive}: {rows_name}"
        rows = parse_hvecs(content[rows_name], len(labels), where)
        if len(rows) != len(part_images):
            raise UserError(f"{where}: has {len(rows)} rows where {list_name} has {len(part_images)} images")
        images += part_images
        matrices.append(_check_binary(rows, where))
    check_unique(images, f"{archive}: the image lists", "image")
    image, label = np.nonzero(np.concatenate(matrices))
    return RawAnnotations(image_ids(images), labels, count_pairs(image, label, len(labels)))


def parse_hvecs(data: bytes, n_labels: int, where: str) -> NDArray[np.int16]:
    """Parse rows of little-endian int16, each led by its length.

    Returns (n_rows, n_labels) int16. Raises a `UserError` that names the row where a length is not `n_labels`.
    """
    width = n_labels + 1
    lengths = np.frombuffer(data, dtype="<i2", count=len(data) // 2)[::width]
    wrong = np.flatnonzero(lengths != n_labels)
    if len(wrong):
        row = int(wrong[0])
        raise UserError(f"{where}: row {row + 1}: its length is {lengths[row]}, the dictionary has {n_labels} labels")
    if len(data) % (2 * width):
        raise UserError(f"{where}: row {len(lengths)}: the file ends in the middle of this row")
    return np.frombuffer(data, dtype="<i2").reshape(-1, width)[:, 1:].astype(np.int16)


def _check_binary(rows: NDArray[np.int16], where: str) -> NDArray[np.int16]:
    wrong = np.argwhere((rows != 0) & (rows != 1))
    if len(wrong):
        row, column = wrong[0]
        raise UserError(f"{where}: row {row + 1}: label {column + 1} is {rows[row, column]}, neither 0 nor 1")
    return rows
