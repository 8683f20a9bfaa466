"""Open the images of a folder, a tar archive or a table, for a network that computes their features.

    folder    the images in the folder and its subfolders, ordered by id
    tar       the images in the archive, in its order; the archive may be compressed
    table     one image per row, in the order of the rows; the column `image` contains ids, and the column `file`
              contains paths relative to the table's folder; `table.py` lists the possible file formats

The id of an image in a folder or an archive is its path there, such as 1000/1000.jpeg; the caller chooses whether ids
include the extension. In folders and archives, hidden files and files with an extension that is not in `SUFFIXES` are
left out and counted.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from vsebench.config.dataset import Suffixes
from vsebench.core.errors import UserError
from vsebench.formats.annotations import check_unique, fault_of
from vsebench.formats.download.archives import open_members
from vsebench.formats.readers import table

SUFFIXES = {".jpg", ".jpeg", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm"}


@dataclass(frozen=True)
class ImageFiles:
    """The images of a folder, an archive or a table, numbered from 0.

    Attributes
    ----------
    ids : ids of the images, without duplicates
    marks : for each image, a string with the size and the modification time of its file or archive
    contents : a function that takes ascending image numbers and yields the bytes of each image, or the error if a file
        cannot be read
    left_out : number of files that were left out because they are hidden or their extension is not in `SUFFIXES`
    """

    ids: list[str]
    marks: list[str]
    contents: Callable[[Sequence[int]], Iterator[bytes | OSError]]
    left_out: int = 0


def open_images(path: Path, suffixes: Suffixes) -> ImageFiles:
    """Find the images of a folder, a tar archive or a table.

    `suffixes` states whether ids keep or drop the extensions of the files ("keep" or "drop"). For a table, it must be
    "keep".

    Raises a `UserError` if `path` does not exist or contains no image, or if an archive or a table cannot be read. An
    id that occurs twice or cannot be a line of a text file also raises a `UserError`.
    """
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    if path.is_dir():
        images = _of_folder(path, suffixes)
    elif table.format_of(path.name) in table.FORMATS:
        if suffixes == "drop":
            raise UserError(f"{path}: `suffixes: drop` has no effect on a table of ids; remove this key")
        images = _of_table(path)
    else:
        images = _of_archive(path, suffixes)
    if not images.ids:
        raise UserError(f"{path}: contains no image file; file names must end in {', '.join(sorted(SUFFIXES))}")
    for image in images.ids:
        if image != image.strip() or fault_of(image) or not _is_unicode(image):
            wanted = "an id must be Unicode text without line breaks, control characters or surrounding space"
            raise UserError(f"{path}: {image!r}: {wanted}")
    check_unique(images.ids, str(path), "image")
    return images


def folders_of(path: Path) -> list[Path]:
    """Return the paths of a folder and all its subfolders.

    The modification times of these folders show whether files were added or removed.
    """
    return sorted(Path(folder) for folder, _, _ in os.walk(path))


def _of_folder(path: Path, suffixes: Suffixes) -> ImageFiles:
    files = [Path(folder) / name for folder, _, names in os.walk(path) for name in names]
    images = sorted((_id_of(file.relative_to(path), suffixes), file) for file in files if _is_image(file))
    return _in_files([image for image, _ in images], [file for _, file in images], len(files) - len(images))


def _of_table(path: Path) -> ImageFiles:
    ids, files = [], []
    for row in table.rows_of(path, table.Options(pairs=path.name, image="image", label="file")):
        try:
            ids.append(table.name_of(row.image, "image"))
            files.append(path.parent / table.name_of(row.label, "file"))
        except table.TableError as error:
            raise UserError(f"{table.position(path, row.number)}: {error}") from None
    return _in_files(ids, files)


def _in_files(ids: list[str], files: list[Path], left_out: int = 0) -> ImageFiles:
    def contents(numbers: Sequence[int]) -> Iterator[bytes | OSError]:
        for number in numbers:
            try:
                yield files[number].read_bytes()
            except OSError as error:
                yield error

    return ImageFiles(ids, [_mark(file) for file in files], contents, left_out)


def _of_archive(path: Path, suffixes: Suffixes) -> ImageFiles:
    left_out = []

    def is_image(name: str) -> bool:
        if _is_image(PurePosixPath(name)):
            return True
        left_out.append(name)
        return False

    with open_members(path, is_image) as members:
        names = [name for name, _ in members]

    def contents(numbers: Sequence[int]) -> Iterator[bytes | OSError]:
        chosen = {names[number] for number in numbers}
        with open_members(path, chosen.__contains__) as members:
            for _, stream in members:
                yield stream.read()

    ids = [_id_of(PurePosixPath(name), suffixes) for name in names]
    return ImageFiles(ids, [_mark(path)] * len(ids), contents, len(left_out))


def _is_image(path: PurePath) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".")


def _id_of(path: PurePath, suffixes: Suffixes) -> str:
    return (path if suffixes == "keep" else path.with_suffix("")).as_posix()


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # the bytes of the file name are not text
        return False
    return True


def _mark(file: Path) -> str:
    try:
        status = file.stat()
    except OSError:
        return "missing"
    return f"{status.st_size} {status.st_mtime_ns}"
