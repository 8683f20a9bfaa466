"""Read NUS-WIDE's 81 hand-annotated concepts and its low-level features.

`ConceptsList.zip` contains `ConceptsList/Concepts81.txt`, one concept per line. For each concept, `Groundtruth.zip`
contains two files in the folder `Groundtruth/TrainTestLabels`: `Labels_<concept>_Train.txt` and
`Labels_<concept>_Test.txt`. Each line of these files stands for one image: it is 1 if the image has the concept, and 0
if not. Train and Test are the two parts of the official partition. The files contain no image ids, so an image is named
after its part and line: `Train-000001`, `Train-000002` and so on. Images without a concept are kept.

In copies of the official archive, line 78,372 of `Labels_lake_Train.txt` is `-1130179`. This value is read as 0, as in
repaired copies, and is reported in the result's `dropped`. Any other value except 0 and 1 is an error.

The option `features` names one of the low-level features. Their official release is a RAR file,
`NUS_WID_Low_Level_Features.rar`, which Python cannot unpack by itself. So you have to unpack it and pack its folder
`Low_Level_Features` into `NUS_WID_Low_Level_Features.zip`. Each feature has one file for training images and one for
test images. A line contains the numbers of one image, separated by spaces. There is no header and no image id. The
names of the files, and the numbers in a line, are:

    Train_Normalized_<feature>.dat and Test_Normalized_<feature>.dat
        CH      64 numbers: colour histogram
        CORR    144 numbers: colour correlogram
        EDH     73 numbers: edge directions
        WT      128 numbers: wavelet texture
        CM55    225 numbers: colour moments of blocks
    BoW_Train_int.dat and BoW_Test_int.dat
        BoW     500 whole numbers: counts of visual words

No real file of features was available. The reader follows descriptions of the layout and public programs that read
these files, and it was tested on generated files. Like these programs, the reader assumes that the images are in the
same order as in the ground truth. All numbers become float32.

Source: Chua et al., "NUS-WIDE: a real-world web image database from National University of Singapore", CIVR 2009.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.data.features import Features
from vsebench.formats.annotations import Dropped, RawAnnotations, check_names, count_pairs, image_ids
from vsebench.formats.download.archives import by_basename, whole_lines

PARTS = ("Train", "Test")
N_CONCEPTS = 81
FEATURES = "NUS_WID_Low_Level_Features.zip"
OF_NUMBERS = b"0123456789+-.eE \t\r"  # float() also accepts "nan" and "1_0"
NEWLINE, ZERO, ONE = b"\n01"
MISPRINTED, MISPRINT = "Labels_lake_Train.txt", re.compile(rb"^-1130179(?=\s*$)", re.MULTILINE)

FeatureName = Literal["CH", "CORR", "EDH", "WT", "CM55", "BoW"]


class Options(Strict):
    """Options: the low-level feature to read with the concepts."""

    features: FeatureName | None = None  # one of the low-level features, which are in a separate archive


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the concepts and the chosen feature of all images.

    Training images come first.
    """
    dropped: list[Dropped] = []
    concepts, columns = read_concepts(raw, dropped)
    sizes = {part: columns[part].shape[1] for part in PARTS}
    images, parts = name_images(sizes)
    label, image = np.nonzero(np.concatenate([columns[part] for part in PARTS], axis=1))
    pairs = count_pairs(image, label, len(concepts))
    features = read_features(raw, options.features, sizes) if options.features else None
    return RawAnnotations(images, concepts, pairs, dropped, parts, features)


def read_names(raw: Path) -> list[str]:
    """Read the concepts' names."""
    archive = raw / "ConceptsList.zip"
    where = f"{archive}: Concepts81.txt"
    concepts = whole_lines(by_basename(archive, ["Concepts81.txt"])["Concepts81.txt"], where)
    check_names(concepts, where, "concept")
    if len(concepts) != N_CONCEPTS:
        raise UserError(f"{where}: has {len(concepts)} concepts instead of {N_CONCEPTS}; use the official archive")
    return concepts


def read_concepts(raw: Path, dropped: list[Dropped]) -> tuple[list[str], dict[str, NDArray[np.bool_]]]:
    """Read the names of the concepts, and which images have each concept.

    Returns the names and a dictionary with the keys "Train" and "Test". Each value of the dictionary is a boolean array
    of shape (n_concepts, n_images), which is True where an image has a concept.

    If the known misprint in `Labels_lake_Train.txt` is found, it is added to `dropped`. Raises a `UserError` if a file
    is missing, if the files of a part have different numbers of lines, or if a value is neither 0 nor 1. In the last
    case, the message names the line.
    """
    archive, concepts = raw / "Groundtruth.zip", read_names(raw)
    members = by_basename(archive, [_member(concept, part) for part in PARTS for concept in concepts])
    if MISPRINTED in members:
        members[MISPRINTED], n_repaired = MISPRINT.subn(b"0", members[MISPRINTED], count=1)
        dropped += [Dropped("labels", 1, f"the known misprint -1130179 in {MISPRINTED}, read as 0")] * n_repaired

    columns = {}
    for part in PARTS:
        of_part: list[NDArray[np.bool_]] = []
        for concept in concepts:
            name = _member(concept, part)
            of_part.append(_parse_column(members[name], f"{archive}: {name}"))
            if len(of_part[-1]) != len(of_part[0]):
                first = _member(concepts[0], part)
                raise UserError(f"{archive}: {name}: has {len(of_part[-1])} lines, but {first} has {len(of_part[0])}")
        columns[part] = np.array(of_part)
    return concepts, columns


def name_images(sizes: dict[str, int]) -> tuple[pl.Series, pl.Series]:
    """Name the images of the official partition by part and line number.

    `sizes` maps "Train" and "Test" to their numbers of images. Returns two String series in the same order: the ids of
    all images, and "train" or "test" for each image.
    """
    images = image_ids(f"{part}-{line:06d}" for part in PARTS for line in range(1, sizes[part] + 1))
    return images, pl.concat([pl.repeat(part.lower(), sizes[part], eager=True) for part in PARTS]).alias("part")


def _member(concept: str, part: str) -> str:
    return f"Labels_{concept}_{part}.txt"


def _parse_column(data: bytes, where: str) -> NDArray[np.bool_]:
    """Parse lines that each contain 0 or 1.

    Returns a boolean array of shape (n_lines,), which is True where the line contains 1.
    """
    # There are 20 million lines in all. Viewing digits and line ends as bytes is faster than splitting.
    text = np.frombuffer(data.translate(None, b" \t\r").rstrip(b"\n") + b"\n", dtype=np.uint8)
    digits, ends = text[0::2], text[1::2]
    well_formed = len(digits) == len(ends) and bool(np.all(ends == NEWLINE))
    if not well_formed or np.any((digits != ZERO) & (digits != ONE)):
        lines = data.split(b"\n")
        number = next((n for n, line in enumerate(lines, start=1) if line.strip() not in (b"0", b"1")), len(lines))
        raise UserError(f"{where}: line {number}: {lines[number - 1].strip()!r} must be 0 or 1")
    return np.asarray(digits == ONE)


def read_features(raw: Path, feature: FeatureName, sizes: Mapping[str, int]) -> Features:
    """Read a feature of all images.

    Training images come first. `sizes` maps "Train" and "Test", in this order, to their numbers of images.

    Raises a `UserError` in these cases:

    - The archive is missing or damaged, or lacks a file.
    - A line is malformed.
    - A file does not have one line per image.
    - The training images have more or fewer numbers per line than the test images.
    """
    archive = raw / FEATURES
    parts = []
    for part, size in sizes.items():
        name = f"BoW_{part}_int.dat" if feature == "BoW" else f"{part}_Normalized_{feature}.dat"
        data = by_basename(archive, [name])[name]  # one file at a time, because some take 300 MB
        parts.append(parse_rows(data, size, f"{archive}: {name}"))
    if len({rows.shape[1] for rows in parts}) > 1:
        widths = " and ".join(f"{rows.shape[1]} ({part})" for part, rows in zip(sizes, parts, strict=True))
        raise UserError(f"{archive}: feature {feature}: the lines have {widths} numbers; use the official archive")
    values = np.concatenate(parts)
    return Features(values, np.ones(len(values), dtype=bool), where=f"{archive}: feature {feature}")


def parse_rows(data: bytes, n_images: int, where: str) -> NDArray[np.float32]:
    """Parse a text with one line of numbers per image.

    Each line must contain as many numbers as the first line. Blank lines are allowed only at the end.

    Returns a float32 array of shape (n_images, n_columns), where n_columns is how many numbers a line contains. All
    values are finite. Raises a `UserError` that begins with `where`, the name of the file, if the number of lines is
    wrong or if a line is malformed. In the second case, the message names the first malformed line.
    """
    lines = data.rstrip(b" \t\r\n").split(b"\n")
    width = len(lines[0].split())
    if len(lines) != n_images or not width:
        n_lines = len(lines) if width else 0
        in_truth = f"Groundtruth.zip has {n_images} images in this part"
        raise UserError(f"{where}: has {n_lines} lines of numbers, but {in_truth}")
    rows = np.empty((n_images, width), dtype=np.float32)
    for number, line in enumerate(lines, 1):
        words, shown = line.split(), repr(line[:60].decode(errors="replace"))
        if len(words) != width:
            raise UserError(f"{where}: line {number}: has {len(words)} numbers, but line 1 has {width}")
        try:
            values = [] if line.translate(None, OF_NUMBERS) else [float(word) for word in words]
        except ValueError:
            values = []
        if not values:
            raise UserError(
                f"{where}: line {number}: contains something other than numbers; the line begins with {shown}"
            )
        with np.errstate(over="ignore"):
            rows[number - 1] = values
        if not np.isfinite(rows[number - 1]).all():
            raise UserError(
                f"{where}: line {number}: contains a number that is too large; the line begins with {shown}"
            )
    return rows
