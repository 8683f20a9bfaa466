"""Read NUS-WIDE's low-level features for the images of the official partition (`nuswide_concepts.py`).

The official release is a RAR file, `NUS_WID_Low_Level_Features.rar`, which Python cannot read without a separate
unpacker, so its folder `Low_Level_Features` has to be packed by hand into `NUS_WID_Low_Level_Features.zip`. The files
of each part have one line of numbers per image, separated by spaces, without a header and without image ids:

    Train_Normalized_<name>.dat, Test_Normalized_<name>.dat
        CH 64 numbers, colour histogram; CORR 144, colour correlogram; EDH 73, edge directions; WT 128, wavelet texture;
        CM55 225, colour moments of blocks
    BoW_Train_int.dat, BoW_Test_int.dat
        500 whole numbers, counts of visual words

No real file was available: the reader was written from descriptions of the layout and from public readers of these
files, and tested on generated ones. Like these readers, it assumes that lines are in the order of the ground truth's
lines. All numbers become float32.

Source: Chua et al., "NUS-WIDE: a real-world web image database from National University of Singapore", CIVR 2009.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.data.features import Features
from vsebench.formats.download.archives import by_basename

ARCHIVE = "NUS_WID_Low_Level_Features.zip"
OF_NUMBERS = b"0123456789+-.eE \t\r"  # float() also takes "nan" and "1_0"

FeatureName = Literal["CH", "CORR", "EDH", "WT", "CM55", "BoW"]


def read_features(raw: Path, feature: FeatureName, sizes: Mapping[str, int]) -> Features:
    """Read a feature of all images.

    Parameters
    ----------
    raw : folder with downloaded files
    feature : name of the feature, as in the file names
    sizes : the number of images of "Train" and of "Test"; rows are returned in this order of the parts

    Raises
    ------
    UserError
        The archive is missing or damaged, or lacks a file; a line is malformed; there are more or fewer lines than
        images; or lines of the two parts differ in length.
    """
    archive = raw / ARCHIVE
    parts = []
    for part, size in sizes.items():
        name = f"BoW_{part}_int.dat" if feature == "BoW" else f"{part}_Normalized_{feature}.dat"
        data = by_basename(archive, [name])[name]  # one file at a time, since some have 300 million bytes
        parts.append(parse_rows(data, size, f"{archive}: {name}"))
    if len({rows.shape[1] for rows in parts}) > 1:
        widths = " and ".join(f"{rows.shape[1]} ({part})" for part, rows in zip(sizes, parts, strict=True))
        raise UserError(f"{archive}: feature {feature}: lines have {widths} numbers; is it the official archive?")
    values = np.concatenate(parts)
    return Features(values, np.ones(len(values), dtype=bool), where=f"{archive}: feature {feature}")


def parse_rows(data: bytes, n_images: int, where: str) -> NDArray[np.float32]:
    """Parse one line of numbers per image; blank lines are allowed only at the end.

    Returns (n_images, numbers in the first line) float32, all finite. Raises a `UserError` that begins with `where` and
    names the first bad line.
    """
    lines = data.rstrip(b" \t\r\n").split(b"\n")
    width = len(lines[0].split())
    if len(lines) != n_images or not width:
        n_lines = len(lines) if width else 0
        raise UserError(f"{where}: has {n_lines} lines of numbers, but Groundtruth.zip has {n_images} images")
    rows = np.empty((n_images, width), dtype=np.float32)
    for number, line in enumerate(lines, 1):
        words = line.split()
        if len(words) != width:
            raise UserError(f"{where}: line {number}: has {len(words)} numbers, but line 1 has {width}")
        try:
            values = [] if line.translate(None, OF_NUMBERS) else [float(word) for word in words]
        except ValueError:
            values = []
        if not values:
            raise UserError(f"{where}: line {number}: contains something other than numbers: {_shown(line)}")
        with np.errstate(over="ignore"):
            rows[number - 1] = values
        if not np.isfinite(rows[number - 1]).all():
            raise UserError(f"{where}: line {number}: contains a number that is too big: {_shown(line)}")
    return rows


def _shown(line: bytes) -> str:
    return repr(line[:60].decode(errors="replace"))
