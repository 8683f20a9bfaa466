"""Read MS-COCO 2014: photographs with objects of 80 categories.

`annotations_trainval2014.zip` contains `instances_train2014.json` and `instances_val2014.json`. Each file is a JSON
object with three lists. The entries of `images` have an `id`, those of `categories` an `id` and a `name`, and those of
`annotations` an `id`, an `image_id` and a `category_id`. Other keys and other files of the archive are not read.

- Labels are categories. The count of a label for an image is the number of the image's annotations with this category.
  A region that is marked as a crowd (`iscrowd`) counts once, because the number of objects in it is not given.
- The id of an image is its number (`57870` for the file `COCO_train2014_000000057870.jpg`). Training images come first,
  then validation images, each ordered by number. Images without an annotation are kept.
- Labels are ordered by category id; the ids are not consecutive.
- Validation images are the part "test", since the labels of the official test images were never published.

No real file of 2014 was available; the reader was checked on 50 real images of the 2017 edition, which has the same
layout.

Source: Lin, Maire, Belongie et al., "Microsoft COCO: common objects in context", ECCV 2014.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import SHORT, Strict
from vsebench.formats.annotations import RawAnnotations, check_unique, count_pairs, image_ids
from vsebench.formats.download.archives import read_json_member

ARCHIVE = "annotations_trainval2014.zip"
FILES = {"train": "instances_train2014.json", "test": "instances_val2014.json"}
KEPT = ("images", "categories", "annotations", "id", "name", "image_id", "category_id")

Options = Strict  # this adapter has no options
Entries = list[dict[str, Any]]


class _Part(NamedTuple):
    """The images, categories and annotations in the file of one part of the data set.

    Attributes
    ----------
    images : ids of the images, ascending
    categories : names of the categories by id, in ascending order of the ids
    image : for each annotation, the index of its image in `images`
    label : for each annotation, the position of its category in `categories`
    """

    images: list[int]
    categories: dict[int, str]
    image: NDArray[np.int64]
    label: NDArray[np.int64]


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the labels of the training and validation images.

    Raises a `UserError` that names the archive and, where possible, the file and the entry, in these cases:

    - The archive, a file or a key is missing or damaged.
    - An id, or the name of a category, occurs twice in a list.
    - An annotation refers to an unknown image or category.
    - The two files have different categories, or an image in common.
    """
    archive = raw / ARCHIVE
    train, test = (_read_part(archive, name) for name in FILES.values())
    if train.categories != test.categories:
        raise UserError(f"{archive}: {FILES['test']}: the categories differ from those in {FILES['train']}")
    both = set(train.images) & set(test.images)
    if both:
        raise UserError(f"{archive}: {FILES['test']}: image {min(both)} is also in {FILES['train']}")
    image = np.concatenate([train.image, test.image + len(train.images)])
    pairs = count_pairs(image, np.concatenate([train.label, test.label]), len(train.categories))
    parts = pl.Series("part", ["train"] * len(train.images) + ["test"] * len(test.images))
    return RawAnnotations(image_ids(train.images + test.images), [*train.categories.values()], pairs, parts=parts)


def _read_part(archive: Path, name: str) -> _Part:
    where = f"{archive}: {name}"
    content = read_json_member(archive, name, KEPT)
    images = sorted(_numbers(_entries(content, "images", where), f"{where}: images"))
    categories = _read_categories(_entries(content, "categories", where), f"{where}: categories")
    if not images or not categories:
        raise UserError(f"{where}: has no {'categories' if images else 'images'}")
    annotations = _entries(content, "annotations", where)
    where = f"{where}: annotations"
    _numbers(annotations, where)
    image = _rows(annotations, "image_id", images, where)
    return _Part(images, categories, image, _rows(annotations, "category_id", [*categories], where))


def _entries(content: Any, key: str, where: str) -> Entries:
    """Return the list under `key` in a file of annotations, after checking that its entries are objects."""
    entries = content.get(key) if isinstance(content, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UserError(f"{where}: must be an object in which {key!r} is a list of objects")
    return entries


def _numbers(entries: Entries, where: str) -> list[int]:
    """Return the ids of the entries, after checking that they are whole numbers without duplicates."""
    seen: dict[int, int] = {}
    for entry, content in enumerate(entries, 1):
        number = content.get("id")
        if type(number) is not int:  # isinstance would accept True as an int
            raise UserError(f"{where}: entry {entry}: the id {SHORT.repr(number)} is not a whole number")
        if seen.setdefault(number, entry) != entry:
            raise UserError(f"{where}: entry {entry}: entry {seen[number]} has the same id, {number}")
    return list(seen)


def _read_categories(entries: Entries, where: str) -> dict[int, str]:
    """Return the names of the categories by id, in ascending order of the ids."""
    names = []
    for entry, content in enumerate(entries, 1):
        name = content.get("name")
        if not (isinstance(name, str) and name.strip() and name.isprintable()):
            raise UserError(f"{where}: entry {entry}: the name {SHORT.repr(name)} is not printable text")
        names.append(name)
    check_unique(names, where, "category")
    return dict(sorted(zip(_numbers(entries, where), names, strict=True)))


def _rows(annotations: Entries, key: str, numbers: list[int], where: str) -> NDArray[np.int64]:
    """Return, for each annotation, the index in `numbers` of the id under `key` ("image_id" or "category_id")."""
    row_of = {number: row for row, number in enumerate(numbers)}
    rows = np.empty(len(annotations), dtype=np.int64)
    for entry, content in enumerate(annotations):
        number = content.get(key)
        row = row_of.get(number) if type(number) is int else None
        if row is None:
            kind = "image" if key == "image_id" else "category"
            raise UserError(f"{where}: entry {entry + 1}: {key} {SHORT.repr(number)} is not the id of any {kind}")
        rows[entry] = row
    return rows
