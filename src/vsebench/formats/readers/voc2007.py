"""Read PASCAL VOC 2007: photographs with objects of 20 classes.

There are two archives: one for training and validation, and one for the test. In each archive, the folder
`VOCdevkit/VOC2007/ImageSets/Main` contains two kinds of lists:

- A list of images contains the images of a part, one image number per line. The first archive has the lists `train.txt`
  and `val.txt`, and the second archive has the list `test.txt`.
- Each line of a class list, `<class>_trainval.txt` or `<class>_test.txt`, contains an image number and a value. The
  value is -1 if the image shows no object of the class, 0 if all its objects of the class are marked as difficult, and
  1 in all other cases.

All other files are ignored. Among them are the lists `trainval.txt`, `<class>_train.txt` and `<class>_val.txt`, which
repeat these data. The lists are read as follows:

- If the value is 0, the image has the label only if the option `difficult` is true. If this option is false, the label
  is counted in `dropped`. All labels have the count 1.
- Images are ordered by number, like the files in `JPEGImages`. Labels are in alphabetical order.
- The parts of the partition are "train", "valid" (the list `val`) and "test".

The reader was checked on the real lists, which had been repacked into new archives.

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
from vsebench.formats.annotations import Dropped, RawAnnotations, count_pairs, fault_of, image_ids
from vsebench.formats.download.archives import read_members, text_lines

CLASSES = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
    "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
)  # fmt: skip
# Archive -> the ending of the names of its class lists, and the part of the partition for each list of images.
ARCHIVES = {
    "VOCtrainval_06-Nov-2007.tar": ("trainval", {"train": "train", "val": "valid"}),
    "VOCtest_06-Nov-2007.tar": ("test", {"test": "test"}),
}
MEMBER = re.compile(r"(?:.*/)?ImageSets/Main/(\w+)\.txt")
VALUES = {"-1": -1, "0": 0, "1": 1}


class Options(Strict):
    """Options: whether to use objects that are marked as difficult."""

    difficult: bool = False  # true: an image also gets the labels of objects marked as difficult


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the labels of all images of the three parts.

    Raises a `UserError` that names the archive, the list and, where possible, the line. This happens if an archive is
    missing, is damaged or lacks a list, if a line is malformed, if an image occurs twice in a list or in two parts, or
    if a class list does not contain the same images as the lists of images.
    """
    part_of: dict[str, str] = {}
    entries: list[tuple[str, int, int]] = []
    for archive, (of_classes, parts) in ARCHIVES.items():
        class_lists = [f"{label}_{of_classes}" for label in CLASSES]
        lists = _read_lists(raw / archive, [*parts, *class_lists])
        images: set[str] = set()
        for name, part in parts.items():
            images.update(_read_part(lists[name], part, part_of, f"{raw / archive}: {name}.txt"))
        for label, name in enumerate(class_lists):
            values = _parse_values(lists[name], f"{raw / archive}: {name}.txt")
            _check_images(values, images, f"{raw / archive}: {name}.txt", parts)
            entries += [(image, label, value) for image, value in values.items() if value >= 0]
    return _annotations(part_of, entries, options)


def _annotations(part_of: dict[str, str], entries: list[tuple[str, int, int]], options: Options) -> RawAnnotations:
    """Return the annotations of the images.

    `part_of` gives the part of each image. Each entry consists of an image, the index of a label, and the value 1 or 0.
    """
    images = sorted(part_of)
    row_of = {image: row for row, image in enumerate(images)}
    chosen = [(row_of[image], label) for image, label, value in entries if value or options.difficult]
    image, label = np.array(chosen, dtype=np.int64).reshape(-1, 2).T
    gone = len(entries) - len(chosen)
    dropped = [Dropped("labels", gone, "whose objects are all marked as difficult (option difficult)")] if gone else []
    parts = pl.Series("part", [part_of[image] for image in images], dtype=pl.String)
    return RawAnnotations(image_ids(images), CLASSES, count_pairs(image, label, len(CLASSES)), dropped, parts)


def _read_lists(archive: Path, names: list[str]) -> dict[str, list[str]]:
    """Return a dictionary from the name of each list, without the extension, to the lines of this list."""

    def name_of(member: str) -> str | None:
        match = MEMBER.fullmatch(member)
        return match[1] if match else None

    lists: dict[str, list[str]] = {}
    for member, data in read_members(archive, lambda member: name_of(member) in names).items():
        name = str(name_of(member))
        if name in lists:
            raise UserError(f"{archive}: contains several lists ImageSets/Main/{name}.txt")
        lists[name] = text_lines(data, f"{archive}: {name}.txt")
    missing = [name for name in names if name not in lists]
    if missing:
        first = f"ImageSets/Main/{missing[0]}.txt is missing (number of missing lists: {len(missing)})"
        raise UserError(f"{archive}: {first}; use the official archive")
    return lists


def _read_part(lines: list[str], part: str, part_of: dict[str, str], where: str) -> list[str]:
    """Add the images of a list to `part_of`, and return them."""
    if not lines:
        raise UserError(f"{where}: contains no image")
    for number, image in enumerate(lines, 1):
        if len(image.split()) != 1 or fault_of(image):
            raise UserError(f"{where}: line {number}: {image[:60]!r} is not the number of an image")
        if image in part_of:
            found = "occurs twice" if part_of[image] == part else f"is also in the part {part_of[image]!r}"
            raise UserError(f"{where}: line {number}: image {image[:60]!r} {found}")
        part_of[image] = part
    return lines


def _parse_values(lines: list[str], where: str) -> dict[str, int]:
    """Return the value -1, 0 or 1 of each image of a class list."""
    values: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if len(fields) != 2 or fields[1] not in VALUES:
            raise UserError(f"{where}: line {number}: {line[:60]!r} must be the number of an image and -1, 0 or 1")
        if fields[0] in values:
            raise UserError(f"{where}: line {number}: image {fields[0][:60]!r} occurs twice")
        values[fields[0]] = VALUES[fields[1]]
    return values


def _check_images(values: dict[str, int], images: set[str], where: str, lists: Iterable[str]) -> None:
    """Raise a `UserError` if a class list does not contain the same images as the lists of images."""
    for image in sorted(values.keys() ^ images):
        is_where = "is missing here, but is" if image in images else "is not"
        raise UserError(f"{where}: image {image[:60]!r} {is_where} in {' or '.join(f'{name}.txt' for name in lists)}")
