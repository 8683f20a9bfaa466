"""PASCAL VOC 2007: which of 20 kinds of objects are in a photograph.

Each archive has lists in `VOCdevkit/VOC2007/ImageSets/Main`: the images of a part (`train.txt` and `val.txt` in the
one, `test.txt` in the other; an image's number per line), and for each class `<class>_trainval.txt` or
`<class>_test.txt`, with an image's number and a value in each line. 1: there is such an object, -1: there is none, 0:
there are only some that are marked difficult. The lists `trainval.txt`, `<class>_train.txt` and `<class>_val.txt` say
the same again and are not read, nor is anything else in the archives.

- A value 0 is no label, unless the option `difficult` says so; `dropped` counts these. All labels have the count 1.
- Images are ordered by their number, as files are in `JPEGImages`. Labels are in alphabetical order.
- The partition's parts are "train", "valid" (the list `val`) and "test".

Read for real: all these lists, in repacked archives.

Source: Everingham, Van Gool, Williams, Winn and Zisserman, "The PASCAL Visual Object Classes (VOC) challenge",
IJCV 88(2), 2010.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.formats.annotations import Dropped, RawAnnotations, count_pairs, image_ids
from vsebench.formats.download.archives import read_members, text_lines

CLASSES = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
    "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
)  # fmt: skip
# Archive -> the set that its class lists are of, and the part of the images of each list.
ARCHIVES = {
    "VOCtrainval_06-Nov-2007.tar": ("trainval", {"train": "train", "val": "valid"}),
    "VOCtest_06-Nov-2007.tar": ("test", {"test": "test"}),
}
MEMBER = re.compile(r"(?:.*/)?ImageSets/Main/(\w+)\.txt")
VALUES = {"-1": -1, "0": 0, "1": 1}


class Options(Strict):
    """What is a label."""

    difficult: bool = False  # whether objects that are marked difficult count as well


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the labels of all images of the three parts.

    Raises a `UserError` that names the archive and the list, and the line where there is one, if an archive is missing
    or damaged, lacks a list, has one with a line of another form or with an image twice, if a class list has other
    images than the lists of images, or if an image is in two parts.
    """
    part_of: dict[str, str] = {}
    found: list[tuple[str, int, int]] = []
    for archive, (of_classes, parts) in ARCHIVES.items():
        class_lists = [f"{label}_{of_classes}" for label in CLASSES]
        lists = _read_lists(raw / archive, [*parts, *class_lists])
        images: set[str] = set()
        for name, part in parts.items():
            images.update(_read_part(lists[name], part, part_of, f"{raw / archive}: {name}.txt"))
        for label, name in enumerate(class_lists):
            values = _parse_values(lists[name], f"{raw / archive}: {name}.txt")
            _check_images(values, images, f"{raw / archive}: {name}.txt", parts)
            found += [(image, label, value) for image, value in values.items() if value >= 0]
    return _annotations(part_of, found, options)


def _annotations(part_of: dict[str, str], found: list[tuple[str, int, int]], options: Options) -> RawAnnotations:
    """Put together the part of each image, and what was `found`: an image, a class of it and the value 1 or 0."""
    images = sorted(part_of)
    row_of = {image: row for row, image in enumerate(images)}
    chosen = [(row_of[image], label) for image, label, value in found if value or options.difficult]
    image, label = np.array(chosen, dtype=np.int64).reshape(-1, 2).T
    gone = len(found) - len(chosen)
    dropped = [Dropped("labels", gone, "only on objects marked difficult (option difficult)")] if gone else []
    parts = pl.Series("part", [part_of[image] for image in images], dtype=pl.String)
    return RawAnnotations(image_ids(images), CLASSES, count_pairs(image, label, len(CLASSES)), dropped, parts)


def _read_lists(archive: Path, names: list[str]) -> dict[str, list[str]]:
    """Return the lines of lists by their names without ending."""

    def name_of(member: str) -> str | None:
        found = MEMBER.fullmatch(member)
        return found[1] if found else None

    lists: dict[str, list[str]] = {}
    for member, data in read_members(archive, lambda member: name_of(member) in names).items():
        name = str(name_of(member))
        if name in lists:
            raise UserError(f"{archive}: contains several lists ImageSets/Main/{name}.txt")
        lists[name] = text_lines(data, f"{archive}: {name}.txt")
    missing = [name for name in names if name not in lists]
    if missing:
        said = f"{missing[0]}.txt" + (f" and {len(missing) - 1} other lists" if len(missing) > 1 else "")
        raise UserError(f"{archive}: contains no ImageSets/Main/{said}; is it the official archive?")
    return lists


def _read_part(lines: list[str], part: str, part_of: dict[str, str], where: str) -> list[str]:
    """Note in `part_of` the part of the images that a list of images names; returns these."""
    if not lines:
        raise UserError(f"{where}: names no image")
    for number, image in enumerate(lines, 1):
        if len(image.split()) != 1:
            raise UserError(f"{where}: line {number}: {image[:60]!r} is not the number of an image")
        if image in part_of:
            raise UserError(f"{where}: line {number}: image {image[:60]!r} is there twice or in another part")
        part_of[image] = part
    return lines


def _parse_values(lines: list[str], where: str) -> dict[str, int]:
    """Return the value -1, 0 or 1 of each image of a class list."""
    values: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if len(fields) != 2 or fields[1] not in VALUES:
            raise UserError(f"{where}: line {number}: {line[:60]!r} is not the number of an image and -1, 0 or 1")
        if fields[0] in values:
            raise UserError(f"{where}: line {number}: image {fields[0][:60]!r} is there twice")
        values[fields[0]] = VALUES[fields[1]]
    return values


def _check_images(values: dict[str, int], images: set[str], where: str, lists: Iterable[str]) -> None:
    """Raise a `UserError` if a class list has not the same images as the lists of images."""
    for image in sorted(values.keys() ^ images):
        said = "is not in it, but" if image in images else "is not"
        raise UserError(f"{where}: image {image[:60]!r} {said} in {' or '.join(f'{name}.txt' for name in lists)}")
