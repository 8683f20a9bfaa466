"""Read labels in the file format of Recognize Anything, to test models on labels that they were not trained on.

One file lists the labels, one per line. Each line of the other file contains the path and the labels of an image,
separated by commas: `test/0000c64e1253d68f,car`. The id of an image is the file name at the end of the path, without
the extension, as in Open Images. A line without labels stands for an image without labels. There is no partition.

The reader was checked on two real pairs of files for test images of Open Images. One pair has 214 common labels, and
the other 200 rare labels.

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

    annotations: str  # name of the file that lists each image with its labels
    labels: str  # name of the file that lists all labels


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the labels of all images.

    Images are in the order of the file that the option `annotations` names.

    Raises a `UserError` that names the file and, where possible, the line. This happens if a file is missing, empty or
    not text, if a label is blank or unknown, if a label occurs twice in the list of labels or in the line of an image,
    or if an image occurs twice.
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
