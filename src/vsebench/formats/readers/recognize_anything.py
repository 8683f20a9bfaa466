"""Read labels in the file format of Recognize Anything, to test models on labels that they were not trained on.

One file lists the labels, one per line. Each line of the other file contains an image's path and its labels, separated
by commas: `test/0000c64e1253d68f,car`. An image's id is the file name in its path, without the extension, as in Open
Images. A line without labels stands for an image without labels. There is no partition.

The reader was checked on real files: those of Open Images' test images with 214 common labels, and those with 200 rare
labels.

Source: Zhang and others, "Recognize anything: a strong image tagging model", CVPR workshops 2024.
"""

from pathlib import Path

import numpy as np

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.formats.annotations import RawAnnotations, check_names, check_unique, count_pairs, fault_of, image_ids
from vsebench.formats.download.archives import whole_lines


class Options(Strict):
    """Options: the two files."""

    annotations: str  # the file of images with their labels
    labels: str  # the file of all labels


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the labels of all images; images are in the order of the file `annotations`.

    Raises a `UserError` that names file and line if a file is missing, empty or not text; if a label is blank or
    unknown, or occurs twice in an image's line; or if an image occurs twice.
    """
    path = raw / options.annotations
    labels = _lines(raw / options.labels)
    check_names(labels, str(raw / options.labels), "label")
    numbers = {name: number for number, name in enumerate(labels)}
    ids: list[str] = []
    images: list[int] = []
    found: list[int] = []
    for line, text in enumerate(_lines(path), 1):
        path_of_image, *names = text.split(",")
        file = path_of_image.rpartition("/")[2]
        image = file.rpartition(".")[0] or file
        wrong = next((name for name in names if name not in numbers), None)
        if fault := fault_of(image):
            raise UserError(f"{path}: line {line}: the image {fault}")
        if wrong is not None:
            raise UserError(f"{path}: line {line}: {wrong!r} is not in {options.labels}")
        check_unique(names, f"{path}: line {line}", "label")
        images += [len(ids)] * len(names)
        found += [numbers[name] for name in names]
        ids.append(image)
    check_unique(ids, str(path), "image")
    pairs = count_pairs(np.array(images, dtype=np.int64), np.array(found, dtype=np.int64), len(labels))
    return RawAnnotations(image_ids(ids), labels, pairs)


def _lines(path: Path) -> list[str]:
    try:
        lines = whole_lines(path.read_bytes(), str(path))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; run the download stage") from None
    if not lines:
        raise UserError(f"{path}: is empty; download it again")
    return lines
