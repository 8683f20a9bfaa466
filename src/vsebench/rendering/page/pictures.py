"""Small pictures of the images whose ids are in tables, for data sets with the key `pictures`."""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from io import BytesIO

from vsebench.config.dataset import Pictures
from vsebench.core.errors import UserError
from vsebench.formats.images.image_files import open_images
from vsebench.rendering.table import Table, spans

MOST = 240  # maximum number of pictures on a page; together they take less than 1 MB
PIXELS = 96  # length of the longer side, in pixels


@dataclass
class FoundPictures:
    """Data URLs of pictures by data set and id, and notices about missing pictures."""

    pictures: dict[tuple[str, str], str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


def find_pictures(tables: Iterable[Table], sources: Mapping[str, Pictures]) -> FoundPictures:
    """Return the pictures of at most `MOST` images that tables name in columns of the form "pictures".

    If there are more images, data sets that come first in `sources` have priority, and so do images that come first in
    the tables.

    Parameters
    ----------
    tables : all tables of the page; a row names its data set in the column `dataset_name`
    sources : data set -> the location of its pictures
    """
    names = [name for table in tables for name in names_in(table) if name[0] in sources]
    result = FoundPictures()
    for dataset, source in sources.items():
        ids = [image for owner, image in dict.fromkeys(names) if owner == dataset][: MOST - len(result.pictures)]
        if not ids:
            continue
        try:
            files = open_images(source.path, source.suffixes)
        except UserError as error:
            result.notices.append(f"{dataset}: no pictures ({error}).")
            continue
        number_of = {image: number for number, image in enumerate(files.ids)}
        numbers = sorted(number_of[image] for image in ids if image in number_of)
        if not numbers:
            example = f"for example, an image has the id {ids[0]!r}, and a picture has the id {files.ids[0]!r}"
            result.notices.append(f"{dataset}: no picture has the id of an image ({example}); see the key `pictures`.")
        for number, content in zip(numbers, files.contents(numbers), strict=True):
            address = None if isinstance(content, OSError) else thumbnail(content)
            if address is None:
                result.notices.append(f"{dataset}: the picture {files.ids[number]} cannot be read.")
            else:
                result.pictures[dataset, files.ids[number]] = address
    return result


def names_in(table: Table) -> list[tuple[str, str]]:
    """Return the data set and id of each image in the table's columns of pictures."""
    columns = [index for index, column in enumerate(table.columns) if column.form == "pictures"]
    return [
        (dataset, image)
        for row in table.rows
        if (dataset := table.dataset_of(row))
        for index in columns
        for image, _ in ids_in(row.cells[index].value)
    ]


def ids_in(value: object) -> list[tuple[str, bool]]:
    """Return each id in a cell of the form "pictures", and whether bold type marks the id as correct.

    >>> ids_in("**12**, 7, 9")
    [('12', True), ('7', False), ('9', False)]
    """
    ids = []
    for text, face in spans(str(value or "")):
        ids += [(part.strip(), face == "bold") for part in ([text] if face else text.split(", ")) if part.strip(", ")]
    return ids


def thumbnail(content: bytes) -> str | None:
    """Return a picture as a data URL, with sides of at most `PIXELS` pixels; None if `content` is not a picture."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(BytesIO(content)) as image:
            small = image.convert("RGB")
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return None
    small.thumbnail((PIXELS, PIXELS))
    written = BytesIO()
    small.save(written, format="JPEG", quality=72, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(written.getvalue()).decode("ascii")
