"""Read MIRFLICKR-25k's hand-annotated concepts: 38 lists of the images that show a concept.

`mirflickr25k_annotations_v080.zip` contains one text file per list, with one image number per line. The 24 files
`<concept>.txt` list all images that show the concept. The 14 files `<concept>_r1.txt` list only the images to which the
concept is relevant. Each list becomes a label, whose name is the file's name without its extension. Labels are in
alphabetical order. `README.txt` is not read. All images of the collection are in the data set, including images without
a concept. Ids and parts of images are defined as in `mirflickr.py`.

The reader was checked on all 38 real lists, in a repacked archive. Four images are in `people_r1` but not in `people`;
the labels of these images are not changed.

Source: Huiskes and Lew, "The MIR Flickr retrieval evaluation", MIR 2008.
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.formats.annotations import RawAnnotations, check_unique, count_pairs, image_ids
from vsebench.formats.download.archives import read_members, whole_lines
from vsebench.formats.readers.mirflickr import Numbering, name_images

ARCHIVE = "mirflickr25k_annotations_v080.zip"
IMAGES = 25_000
MEMBER = re.compile(r"(?:.*/)?[a-z_]+(?:_r1)?\.txt")
Options = Numbering


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read all lists; images are ordered by number.

    Raises a `UserError` if the archive is missing, is damaged or contains no list. A line that is not the number of an
    image, or that repeats the number in an earlier line, also raises a `UserError`, which names the file and the line.
    """
    archive = raw / ARCHIVE
    members = read_members(archive, lambda name: MEMBER.fullmatch(name) is not None)
    lists = sorted((name.rpartition("/")[2].removesuffix(".txt"), data) for name, data in members.items())
    concepts = [concept for concept, _ in lists]
    if not concepts:
        raise UserError(f"{archive}: contains no list <concept>.txt; use the official archive")
    check_unique(concepts, str(archive), "concept")
    numbers = [_parse_list(data, f"{archive}: {concept}.txt") for concept, data in lists]
    label = np.repeat(np.arange(len(concepts)), [len(of_concept) for of_concept in numbers])
    ids, parts = name_images([*range(1, IMAGES + 1)], options)
    pairs = count_pairs(np.concatenate(numbers) - 1, label, len(concepts))
    return RawAnnotations(image_ids(ids), concepts, pairs, parts=parts)


def _parse_list(data: bytes, where: str) -> NDArray[np.int64]:
    """Return the image numbers of a list, after checking that each is from 1 to 25,000 and occurs once."""
    seen: dict[int, int] = {}
    for line, text in enumerate(whole_lines(data, where), 1):
        number = int(text) if re.fullmatch("[0-9]{1,9}", text) else 0
        if not 1 <= number <= IMAGES:
            raise UserError(f"{where}: line {line}: {text[:40]!r} must be the number of an image, 1 to {IMAGES}")
        if number in seen:
            raise UserError(f"{where}: line {line}: image {number} is already in line {seen[number]}")
        seen[number] = line
    return np.fromiter(seen, dtype=np.int64, count=len(seen))
