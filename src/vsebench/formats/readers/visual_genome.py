"""Read Visual Genome 1.4: photographs with their objects.

`objects.json.zip` contains `objects.json`, a list with one entry per image. Each entry has an `image_id` and a list
`objects`. Each object has the lists `synsets` and `names`. `image_data.json.zip` contains `image_data.json`, another
list with one entry per image. Of these entries, only the `image_id` is read. All other keys are ignored.

- The option `labels` chooses the kind of label: WordNet synsets as spelled in the file (`tree.n.01`), or names as typed
  by the annotators (`trees`). White space around a label is removed. An object with several labels counts once for each
  of them. An object without a label is left out and counted in `dropped`.
- The count of a label is how many objects of the image have this label.
- The id of an image is its `image_id`, a whole number. The images are those in `image_data.json`, including images
  without an object. Images are ordered by number.
- Labels are ordered by name. There is no official partition.

Only the first two images of the real files were available to check the reader.

Source: Krishna, Zhu, Groth and others, "Visual Genome: connecting language and vision using crowdsourced dense image
annotations", IJCV 123, 2017.
"""

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import SHORT, Strict
from vsebench.formats.annotations import Dropped, RawAnnotations, count_pairs, image_ids, sort_names
from vsebench.formats.download.archives import read_json_member

OBJECTS, IMAGES = "objects.json", "image_data.json"  # each in an archive of this name followed by .zip

Entry = dict[str, Any]


class Options(Strict):
    """Options: the kind of label."""

    labels: Literal["synsets", "names"] = "synsets"  # kind of label: WordNet synsets, or names as annotators typed them


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the objects of all images.

    Raises a `UserError` if a file is missing or damaged, if an entry is malformed, if an image occurs twice in a file,
    if objects belong to an unknown image, or if no object has a label. The message names the archive, the file and,
    where possible, the entry.
    """
    numbers = sorted(_by_number(raw, IMAGES, {"image_id"}))
    row_of = {number: row for row, number in enumerate(numbers)}
    where = f"{raw / OBJECTS}.zip: {OBJECTS}"
    images, labels, number_of, unlabelled = array("i"), array("i"), dict[str, int](), 0
    for number, content in _by_number(raw, OBJECTS, {"image_id", "objects", options.labels}).items():
        if number not in row_of:
            raise UserError(f"{where}: image {number} is not in {IMAGES}")
        for names in _names(content, options.labels, f"{where}: image {number}"):
            unlabelled += not names
            for name in names:
                images.append(row_of[number])
                labels.append(number_of.setdefault(name, len(number_of)))
    if not number_of:
        raise UserError(f"{where}: none of the objects has {options.labels}")
    ordered, ranks = sort_names(number_of)
    pairs = count_pairs(np.array(images), ranks[np.array(labels)], len(ordered))
    dropped = [Dropped("objects", unlabelled, f"without {options.labels}")] if unlabelled else []
    return RawAnnotations(image_ids(numbers), ordered, pairs, dropped)


def _by_number(raw: Path, name: str, kept: set[str]) -> dict[int, Entry]:
    """Return a dictionary from the number of each image to its entry in the file `name`.

    The entries contain only the keys in `kept`.
    """
    archive = raw / f"{name}.zip"
    where = f"{archive}: {name}"
    entries = read_json_member(archive, name, kept)
    if not isinstance(entries, list) or not entries:
        raise UserError(f"{where}: must be a list of one or more images")
    by_number: dict[int, Entry] = {}
    for position, content in enumerate(entries, 1):
        number = content.get("image_id") if isinstance(content, dict) else None
        if type(number) is not int:  # isinstance would accept True as an int
            raise UserError(f"{where}: entry {position}: must be an object with a whole number 'image_id'")
        if number in by_number:
            raise UserError(f"{where}: entry {position}: image {number} also has an earlier entry")
        by_number[number] = content
    return by_number


def _names(content: Entry, key: str, where: str) -> Iterator[list[str]]:
    """Yield the labels of each object of an image, without duplicates."""
    objects = content.get("objects")
    if not isinstance(objects, list):
        raise UserError(f"{where}: has no list 'objects'")
    for position, entry in enumerate(objects, 1):
        names = entry.get(key) if isinstance(entry, dict) else None
        if not isinstance(names, list):
            raise UserError(f"{where}: object {position} has no list {key!r}")
        for name in names:
            if not (isinstance(name, str) and name.strip() and name.strip().isprintable()):
                raise UserError(f"{where}: object {position}: {SHORT.repr(name)} is not printable text")
        yield list(dict.fromkeys(name.strip() for name in names))
