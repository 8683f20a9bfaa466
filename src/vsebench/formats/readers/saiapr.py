"""Read SAIAPR TC-12: region labels of 20,000 photographs.

The archive contains `wlist.txt` and about 40 folders. Each line of `wlist.txt` contains a code, a tab and the word for
this code. In each folder, the file `labels.txt` is read. Its lines contain the number of an image, the number of a
region, and the code of the region's label. If a folder has no `labels.txt`, the file `features.txt` is read. Its lines
also contain the features of the region, before the code. The count of a label is how many regions of the image have
this label.

Source: Escalante et al., "The segmented and annotated IAPR TC-12 benchmark", CVIU 114(4), 2010.
"""

import re
from pathlib import Path

import numpy as np
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.formats.annotations import RawAnnotations, count_pairs, fault_of, image_ids
from vsebench.formats.download.archives import read_members, whole_lines

TABLES = ("labels.txt", "features.txt")  # the first that exists in a folder is read
NUMBER = re.compile(r"[0-9]{1,18}")  # int() would also accept other forms and numbers too large for int64


class Options(Strict):
    """Options: the archive to read."""

    archive: str = Field(default="saiapr_tc-12.tar.gz", pattern=r"^[\w.+-]+$")  # the archive's file name


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the region labels; images are named and ordered by their number."""
    archive = raw / options.archive
    members = read_members(archive, lambda name: name.rpartition("/")[2] in ("wlist.txt", *TABLES))
    labels, row_of_code = _read_words(members, archive)
    regions: dict[tuple[int, int], int] = {}
    for name in _choose_tables(members, archive):
        _read_regions(members[name], row_of_code, f"{archive}: {name}", regions)
    images = np.array([image for image, _ in regions], dtype=np.int64)
    numbers, image = np.unique(images, return_inverse=True)
    label = np.array(list(regions.values()), dtype=np.int64)
    return RawAnnotations(image_ids(numbers), labels, count_pairs(image, label, len(labels)))


def _read_words(members: dict[str, bytes], archive: Path) -> tuple[list[str], dict[int, int]]:
    """Return the words in the order of `wlist.txt`, and a dictionary from each code to the index of its word."""
    names = [name for name in members if name.rpartition("/")[2] == "wlist.txt"]
    if len(names) != 1:
        raise UserError(f"{archive}: contains {len(names)} files named wlist.txt; it must contain one")
    where = f"{archive}: {names[0]}"
    words: list[str] = []
    seen: set[str] = set()
    row_of_code: dict[int, int] = {}
    for number, line in enumerate(whole_lines(members[names[0]], where), start=1):
        code, _, word = line.partition("\t")
        if not NUMBER.fullmatch(code) or int(code) in row_of_code:
            wanted = "a code that no earlier line has, a tab and a word"
            raise UserError(f"{where}: line {number}: {line[:60]!r} must be {wanted}")
        row_of_code[int(code)] = len(words)
        words.append(word.strip() or f"label {code}")
        if fault := fault_of(words[-1]):
            raise UserError(f"{where}: line {number}: the word {fault}")
        if words[-1] in seen:
            raise UserError(f"{where}: line {number}: the word {words[-1]!r} occurs twice")
        seen.add(words[-1])
    return words, row_of_code


def _choose_tables(members: dict[str, bytes], archive: Path) -> list[str]:
    """Return the names of the tables to read, one per folder, in alphabetical order of the folders."""
    folders: dict[str, str] = {}
    for table in reversed(TABLES):
        folders |= {name.rpartition("/")[0]: name for name in members if name.rpartition("/")[2] == table}
    if not folders:
        raise UserError(f"{archive}: contains no {' or '.join(TABLES)}; use the archive of SAIAPR TC-12")
    return [folders[folder] for folder in sorted(folders)]


def _read_regions(data: bytes, row_of_code: dict[int, int], where: str, regions: dict[tuple[int, int], int]) -> None:
    """Add the rows of a table to the dictionary `regions`.

    A key of `regions` consists of the numbers of an image and a region; the value is the index of the region's label.
    `row_of_code` maps each code to the index of a label.
    """
    has_features = where.endswith("features.txt")
    for number, line in enumerate(whole_lines(data, where), start=1):
        fields = line.split()
        if len(fields) < 3 or (len(fields) > 3) != has_features:
            wanted = f"image, region{', features' if has_features else ''} and code"
            raise UserError(f"{where}: line {number}: has {len(fields)} fields, but must have {wanted}")
        if not all(NUMBER.fullmatch(field) for field in (fields[0], fields[1], fields[-1])):
            raise UserError(f"{where}: line {number}: image, region and code must be whole numbers")
        image, region, code = int(fields[0]), int(fields[1]), int(fields[-1])
        if code not in row_of_code:
            raise UserError(f"{where}: line {number}: the label code {code} is not in wlist.txt")
        if (image, region) in regions:
            raise UserError(f"{where}: line {number}: region {region} of image {image} occurs twice")
        regions[image, region] = row_of_code[code]
