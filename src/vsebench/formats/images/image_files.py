"""The files of images that a network describes: those of a folder, of a tar archive, or of a table that names them.

    folder    the images in it and in its folders, in the order of their ids
    tar       the images in it, however compressed, in its order
    table     the columns `image` (id) and `file` (a path, seen from the table's folder), in the order of the rows; the
              formats are those of `table.py`

The id of an image in a folder or an archive is its path there, such as 1000/1000.jpeg. Whether the ending belongs to
it is the caller's choice. Files whose ending is not in `SUFFIXES`, and hidden ones, are left out and counted.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from vsebench.config.dataset import Suffixes
from vsebench.core.errors import UserError
from vsebench.formats.annotations import check_unique
from vsebench.formats.download.archives import open_members
from vsebench.formats.readers import table

SUFFIXES = {".jpg", ".jpeg", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm"}


@dataclass(frozen=True)
class ImageFiles:
    """Images by their numbers.

    Attributes
    ----------
    ids : the id of each image, each once
    marks : for each image what is another text after a change of its file: size and time of change
    contents : a function from ascending numbers to the bytes of these images, one after the other; in place of the
        bytes of a file that cannot be read comes the error
    left_out : how many files are not taken for images
    """

    ids: list[str]
    marks: list[str]
    contents: Callable[[Sequence[int]], Iterator[bytes | OSError]]
    left_out: int = 0


def open_images(path: Path, suffixes: Suffixes) -> ImageFiles:
    """Find the images of a folder, a tar archive or a table.

    Raises
    ------
    UserError
        There is nothing at `path`, or no image in it; an archive or a table cannot be read; an id is there twice or
        cannot be a line of a text file.
    """
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    if path.is_dir():
        images = _of_folder(path, suffixes)
    elif table.format_of(path.name) in table.FORMATS:
        if suffixes == "drop":
            raise UserError(f"{path}: a table has the ids of its images, so no suffixes can be dropped from them")
        images = _of_table(path)
    else:
        images = _of_archive(path, suffixes)
    if not images.ids:
        raise UserError(f"{path}: there is no image in it; images end in {', '.join(sorted(SUFFIXES))}")
    for image in images.ids:
        if image != image.strip() or "\n" in image or "\r" in image or not _is_unicode(image):
            raise UserError(f"{path}: {image!r}: an id has no line break, no space around it, and is Unicode text")
    check_unique(images.ids, str(path), "image")
    return images


def folders_of(path: Path) -> list[Path]:
    """Return a folder and all folders in it: when files come or go, the time of change of one of them is another."""
    return sorted(Path(folder) for folder, _, _ in os.walk(path))


def _of_folder(path: Path, suffixes: Suffixes) -> ImageFiles:
    files = [Path(folder) / name for folder, _, names in os.walk(path) for name in names]
    found = sorted((_id_of(file.relative_to(path), suffixes), file) for file in files if _is_image(file))
    return _in_files([image for image, _ in found], [file for _, file in found], len(files) - len(found))


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
    others = []

    def chosen(name: str) -> bool:
        is_image = _is_image(PurePosixPath(name))
        if not is_image:
            others.append(name)
        return is_image

    with open_members(path, chosen) as members:
        names = [name for name, _ in members]

    def contents(numbers: Sequence[int]) -> Iterator[bytes | OSError]:
        wanted = {names[number] for number in numbers}
        with open_members(path, wanted.__contains__) as members:
            for _, stream in members:
                yield stream.read()

    ids = [_id_of(PurePosixPath(name), suffixes) for name in names]
    return ImageFiles(ids, [_mark(path)] * len(ids), contents, len(others))


def _is_image(path: PurePath) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".")


def _id_of(path: PurePath, suffixes: Suffixes) -> str:
    return (path if suffixes == "keep" else path.with_suffix("")).as_posix()


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a name of bytes that are no text
        return False
    return True


def _mark(file: Path) -> str:
    try:
        status = file.stat()
    except OSError:
        return "missing"
    return f"{status.st_size} {status.st_mtime_ns}"
