"""my_dataset: describe here the files, the parts that are read, and where the format is documented.

A line of `my_dataset.txt` is an image's id and its labels, separated by spaces.
"""

from pathlib import Path

import numpy as np

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.formats.annotations import RawAnnotations, check_unique, count_pairs, image_ids


class Options(Strict):
    """The keys under `options` in a data set's file, each with its type."""


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the labels of all images; `raw` is the folder of the downloaded files."""
    path = raw / "my_dataset.txt"
    try:
        lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read ({error})") from None
    images = [line[0] for line in lines]
    check_unique(images, str(path), "image")
    names = sorted({name for line in lines for name in line[1:]})
    number = {name: column for column, name in enumerate(names)}
    rows = np.array([row for row, line in enumerate(lines) for _ in line[1:]], dtype=np.int64)
    columns = np.array([number[name] for line in lines for name in line[1:]], dtype=np.int64)
    return RawAnnotations(image_ids(images), names, count_pairs(rows, columns, len(names)))
