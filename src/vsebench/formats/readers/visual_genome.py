"""Visual Genome 1.4: the objects in photographs.

`objects.json.zip` has `objects.json`, a list with an entry per image: `image_id`, and the list `objects`, each with its
`synsets` and `names`. `image_data.json.zip` has `image_data.json`, a list with an entry per image: `image_id` and what
is not read here. Other keys are not read either.

- The option `labels` says what a label is: a synset of WordNet as the file spells it (`tree.n.01`), or a name as the
  annotators typed it (`trees`), without white space around it. An object that has several counts for each of them,
  once; one that has none is left out and counted.
- The count of a label is the number of the image's objects that have it.
- An image's id is its number. Images are those of `image_data.json`, ordered by number; one without an object stays.
- Labels are ordered by their names. There is no official partition.

Of the real files the first two images were available.

Source: Krishna, Zhu, Groth and others, "Visual Genome: connecting language and vision using crowdsourced dense image
annotations", IJCV 123, 2017.
"""

import json
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import SHORT, Strict
from vsebench.formats.annotations import Dropped, RawAnnotations, count_pairs, image_ids
from vsebench.formats.download.archives import by_basename

OBJECTS, IMAGES = "objects.json", "image_data.json"  # each in an archive of this name with .zip behind it

Entry = dict[str, Any]


class Options(Strict):
    """What a label is."""

    labels: Literal["synsets", "names"] = "synsets"  # of objects: WordNet's, or names as they were typed


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the objects of all images.

    Raises a `UserError` that names the archive, the file and the entry if something is missing or damaged, if an image
    is in a file twice, or if objects are of an unknown image.
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
        raise UserError(f"{where}: no object has any of its {options.labels}")
    ordered = sorted(number_of)
    place = np.empty(len(ordered), dtype=np.int64)
    place[[number_of[name] for name in ordered]] = np.arange(len(ordered))
    pairs = count_pairs(np.array(images), place[np.array(labels)], len(ordered))
    dropped = [Dropped("objects", unlabelled, f"without {options.labels}")] if unlabelled else []
    return RawAnnotations(image_ids(numbers), ordered, pairs, dropped)


def _by_number(raw: Path, name: str, kept: set[str]) -> dict[int, Entry]:
    """Return the entries of a file by the numbers of their images, each with the keys that are `kept`."""
    archive = raw / f"{name}.zip"
    where = f"{archive}: {name}"
    entries = _parse(archive, name, _keep(kept))
    if not isinstance(entries, list) or not entries:
        raise UserError(f"{where}: is no list of images")
    found: dict[int, Entry] = {}
    for place, content in enumerate(entries, 1):
        number = content.get("image_id") if isinstance(content, dict) else None
        if type(number) is not int:  # True is an int to isinstance
            raise UserError(f"{where}: entry {place}: is no object with a whole number 'image_id'")
        if number in found:
            raise UserError(f"{where}: entry {place}: image {number} is there already")
        found[number] = content
    return found


def _parse(archive: Path, name: str, keep: Callable[[list[tuple[str, Any]]], Entry]) -> Any:
    data = by_basename(archive, [name])[name]
    try:
        text = data.decode("utf-8-sig")
        del data  # 0.4 GB
        return json.loads(text, object_pairs_hook=keep)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{archive}: {name}: not readable JSON ({error})") from None


def _keep(kept: set[str]) -> Callable[[list[tuple[str, Any]]], Entry]:
    """Return what makes an object of some of its keys, while the file is parsed: boxes would take gigabytes."""

    def make(pairs: list[tuple[str, Any]]) -> Entry:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("an object has a key twice")
        return {key: value for key, value in found.items() if key in kept}

    return make


def _names(content: Entry, key: str, where: str) -> Iterator[list[str]]:
    """Yield the labels of each object of an image, each label once."""
    objects = content.get("objects")
    if not isinstance(objects, list):
        raise UserError(f"{where}: has no list 'objects'")
    for place, thing in enumerate(objects, 1):
        names = thing.get(key) if isinstance(thing, dict) else None
        if not isinstance(names, list):
            raise UserError(f"{where}: object {place} has no list {key!r}")
        for name in names:
            if not (isinstance(name, str) and name.strip() and name.strip().isprintable()):
                raise UserError(f"{where}: object {place}: {SHORT.repr(name)} is not printable text")
        yield list(dict.fromkeys(name.strip() for name in names))
