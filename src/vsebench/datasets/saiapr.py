"""SAIAPR TC-12: region labels of 20,000 photographs.

The archive holds `wlist.txt` (code TAB word) and, for each of some 40 folders, `labels.txt` (image, region, code).
Where a folder has no `labels.txt`, its `features.txt` (image, region, the region's features, code) is read instead.
A label that several regions of an image carry gets their number as its count.

Source: Escalante et al., "The segmented and annotated IAPR TC-12 benchmark", CVIU 114(4), 2010.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.config import Strict
from vsebench.datasets.annotations import RawAnnotations, check_unique, count_pairs, image_ids
from vsebench.datasets.archives import read_members, text_lines
from vsebench.errors import UserError

TABLES = ("labels.txt", "features.txt")  # the first that a folder has is read


class Options(Strict):
    """Which file to read."""

    archive: str = Field(default="saiapr_tc-12.tar.gz", pattern=r"^[\w.+-]+$")


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the region labels; images are named and ordered by their number."""
    archive = raw / options.archive
    members = read_members(archive, lambda name: name.rpartition("/")[2] in ("wlist.txt", *TABLES))
    labels, row_of_code = _read_words(members, archive)
    regions = np.concatenate(
        [np.empty((0, 3), np.int64)]
        + [
            _parse_regions(members[name], row_of_code, f"{archive}: {name}")
            for name in _choose_tables(members, archive)
        ]
    )
    _check_regions(regions, archive)
    numbers, image = np.unique(regions[:, 0], return_inverse=True)
    return RawAnnotations(image_ids(numbers), labels, count_pairs(image, regions[:, 2], len(labels)))


def _read_words(members: dict[str, bytes], archive: Path) -> tuple[list[str], dict[int, int]]:
    """Return the words in the order of the list, and each code's place in it."""
    names = [name for name in members if name.rpartition("/")[2] == "wlist.txt"]
    if len(names) != 1:
        raise UserError(f"{archive}: holds {len(names)} files named wlist.txt, one is right")
    where = f"{archive}: {names[0]}"
    words: list[str] = []
    row_of_code: dict[int, int] = {}
    for number, line in enumerate(text_lines(members[names[0]], where), start=1):
        code, _, word = line.partition("\t")
        if not code.isdecimal() or int(code) in row_of_code:
            raise UserError(f"{where}: line {number}: {line!r} is not a new code, a tab and a word")
        row_of_code[int(code)] = len(words)
        words.append(word.strip() or f"label {code}")
    check_unique(words, where, "label")
    return words, row_of_code


def _choose_tables(members: dict[str, bytes], archive: Path) -> list[str]:
    """Return one table a folder, in the folders' order."""
    folders: dict[str, str] = {}
    for table in reversed(TABLES):
        folders |= {name.rpartition("/")[0]: name for name in members if name.rpartition("/")[2] == table}
    if not folders:
        raise UserError(f"{archive}: holds no {' or '.join(TABLES)}; is it the archive of SAIAPR TC-12?")
    return [folders[folder] for folder in sorted(folders)]


def _parse_regions(data: bytes, row_of_code: dict[int, int], where: str) -> NDArray[np.int64]:
    """Return (n_regions, 3) int64: image, region, label (its row in the vocabulary)."""
    has_features = where.endswith("features.txt")
    regions = []
    for number, line in enumerate(text_lines(data, where), start=1):
        fields = line.split()
        if len(fields) < 3 or (len(fields) > 3) != has_features:
            raise UserError(f"{where}: line {number}: has {len(fields)} fields, not image, region and code")
        try:
            image, region, code = int(fields[0]), int(fields[1]), int(fields[-1])
        except ValueError:
            raise UserError(f"{where}: line {number}: image, region and code are not whole numbers") from None
        if code not in row_of_code:
            raise UserError(f"{where}: line {number}: the label code {code} is not in wlist.txt")
        regions.append((image, region, row_of_code[code]))
    return np.array(regions, dtype=np.int64).reshape(-1, 3)


def _check_regions(regions: NDArray[np.int64], archive: Path) -> None:
    order = np.lexsort((regions[:, 1], regions[:, 0]))
    keys = regions[order, :2]
    repeated = np.flatnonzero((keys[1:] == keys[:-1]).all(axis=1))
    if len(repeated):
        image, region = keys[repeated[0]]
        raise UserError(f"{archive}: region {region} of image {image} stands there twice")
