"""The user's own partition of a data set's images into training, validation and test images."""

from dataclasses import replace
from pathlib import Path

import polars as pl

from vsebench.config.dataset import Partition
from vsebench.core.errors import UserError
from vsebench.formats.annotations import Dropped, RawAnnotations
from vsebench.formats.features_file import read_ids
from vsebench.formats.own_files import find


def apply_partition(annotations: RawAnnotations, partition: Partition, raw: Path, where: str) -> RawAnnotations:
    """Assign the images to training, validation and test, as the user's files of image ids state.

    Parameters
    ----------
    annotations : the adapter's result; its own partition, if any, is replaced
    partition : the user's files; if there is no file of training images, all images that no file lists are for
        training
    raw : folder with downloaded files
    where : file and key of the partition, for error messages

    Raises
    ------
    UserError
        A file is missing, an image is in two parts, or a file has no id of an image of the data set.
    """
    images = annotations.images.to_list()
    part_of: dict[str, str] = {}
    dropped = list(annotations.dropped)
    for part, name in partition.files.items():
        path = find(raw, name)
        ids = read_ids(path)
        twice = next((image for image in ids if image in part_of), None)
        if twice is not None:
            other = f"also in the part {part_of[twice]!r}; remove it from the file of one of these parts"
            raise UserError(f"{where}: {part}: {twice!r} is in {path} and {other}")
        part_of |= dict.fromkeys(ids, part)
        unknown = len(set(ids) - set(images))
        if unknown == len(ids):
            raise UserError(
                f"{path}: no id belongs to an image of the data set; "
                f"ids in the file look like {ids[:1]}, those of the data set like {images[:1]}"
            )
        if unknown:
            dropped.append(Dropped("ids", unknown, f"listed in {path.name}, but not in the data set"))
    rest = None if partition.train else "train"
    parts = pl.Series([part_of.get(image, rest) for image in images], dtype=pl.String)
    return replace(annotations, parts=parts, dropped=dropped)
