"""NUS-WIDE's 81 concepts, annotated by hand.

`ConceptsList.zip` holds `ConceptsList/Concepts81.txt`, a concept a line. `Groundtruth.zip` holds for each concept
`Groundtruth/TrainTestLabels/Labels_<concept>_Train.txt` and `..._Test.txt`, 0 or 1 a line, a line an image. These files
carry no image ids, so images are named by their line: `Train-000001`, ..., `Test-000001`, .... Images without a concept
stay.

Source: Chua et al., "NUS-WIDE: a real-world web image database from National University of Singapore", CIVR 2009.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vsebench.config import Strict
from vsebench.datasets.annotations import RawAnnotations, check_unique, count_pairs, image_ids
from vsebench.datasets.archives import by_basename, text_lines
from vsebench.errors import UserError

PARTS = ("Train", "Test")
NEWLINE, ZERO, ONE = b"\n01"


class Options(Strict):
    """There is nothing to choose."""


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the concepts of all images, training images first."""
    list_archive, archive = raw / "ConceptsList.zip", raw / "Groundtruth.zip"
    concepts = text_lines(
        by_basename(list_archive, ["Concepts81.txt"])["Concepts81.txt"], f"{list_archive}: Concepts81.txt"
    )
    check_unique(concepts, f"{list_archive}: Concepts81.txt", "concept")
    members = by_basename(archive, [_member(concept, part) for part in PARTS for concept in concepts])

    images: list[str] = []
    image_parts, label_parts = [], []
    for part in PARTS:
        columns = []
        for concept in concepts:
            name = _member(concept, part)
            columns.append(_parse_column(members[name], f"{archive}: {name}"))
            if len(columns[-1]) != len(columns[0]):
                first = _member(concepts[0], part)
                raise UserError(f"{archive}: {name}: has {len(columns[-1])} lines where {first} has {len(columns[0])}")
        label, image = np.nonzero(np.array(columns))
        image_parts.append(image + len(images))
        label_parts.append(label)
        images += [f"{part}-{line:06d}" for line in range(1, len(columns[0]) + 1)]
    pairs = count_pairs(np.concatenate(image_parts), np.concatenate(label_parts), len(concepts))
    return RawAnnotations(image_ids(images), concepts, pairs)


def _member(concept: str, part: str) -> str:
    return f"Labels_{concept}_{part}.txt"


def _parse_column(data: bytes, where: str) -> NDArray[np.bool_]:
    """Parse 0 or 1 a line; returns (n_lines,) bool."""
    # 20 million lines in all: looked at as bytes, a digit and an end of line in turn, instead of split.
    text = np.frombuffer(data.translate(None, b" \t\r").rstrip(b"\n") + b"\n", dtype=np.uint8)
    digits, ends = text[0::2], text[1::2]
    well_formed = len(digits) == len(ends) and bool(np.all(ends == NEWLINE))
    if not well_formed or np.any((digits != ZERO) & (digits != ONE)):
        lines = data.split(b"\n")
        number = next((n for n, line in enumerate(lines, start=1) if line.strip() not in (b"0", b"1")), len(lines))
        raise UserError(f"{where}: line {number}: {lines[number - 1].strip()!r} is neither 0 nor 1")
    return np.asarray(digits == ONE)
