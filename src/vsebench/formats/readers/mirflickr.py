"""Users' tags of the MIRFLICKR collections: 25,000 or a million images from Flickr.

An archive has a text file for each image, one tag per line: `mirflickr/meta/tags/tags<number>.txt` in
`mirflickr25k.zip`, `<folders>/<number>.txt` in `tags.zip` of MIRFLICKR-1M. Other files are not read, nor are
those in a folder `tags_raw`. An image's id is its number, behind the option `prefix` ("im", as image files are called).
`tags.py` turns tags into labels.

The archives have no partition. The option `parts` gives one, by the numbers of the images.

Source: Huiskes and Lew, "The MIR Flickr retrieval evaluation", MIR 2008; Huiskes, Thomee and Lew, "New trends and ideas
in visual concept detection: the MIR Flickr retrieval evaluation initiative", MIR 2010.
"""

import re
from bisect import bisect_left, bisect_right
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.formats.annotations import Dropped, RawAnnotations
from vsebench.formats.download.archives import read_members
from vsebench.formats.readers.tags import TagOptions, annotate

MEMBER = re.compile(r"(?:tags)?([0-9]{1,9})\.txt")
OTHER_TAGS = "tags_raw"

Bounds = Annotated[list[int], Field(min_length=2, max_length=2)]


class Numbering(Strict):
    """How images are called, and which numbers are which part."""

    prefix: str = Field(default="", pattern=r"^\w*$")  # of the number in an image's id, such as `im`
    # First and last number of an image of the part; images of no part stay, unless the filter `only_parts` is set.
    parts: dict[Literal["train", "valid", "test"], Bounds] = Field(default={})

    @model_validator(mode="after")
    def _apart(self) -> "Numbering":
        bounds = sorted(self.parts.values())
        if any(first > last for first, last in bounds) or any(a[1] >= b[0] for a, b in pairwise(bounds)):
            raise PydanticCustomError("parts", "a part ends before it begins, or two parts have an image in common")
        return self


def name_images(numbers: list[int], numbering: Numbering) -> tuple[list[str], pl.Series | None]:
    """Return the id of each image, and its part (None for an image of no part) if there are parts."""
    parts: list[str | None] = [None] * len(numbers)
    for part, (first, last) in numbering.parts.items():
        for row in range(bisect_left(numbers, first), bisect_right(numbers, last)):
            parts[row] = part
    ids = [f"{numbering.prefix}{number}" for number in numbers]
    return ids, pl.Series("part", parts, dtype=pl.String) if numbering.parts else None


class Options(TagOptions, Numbering):
    """Where the tags are."""

    archives: list[str] = Field(min_length=1)  # one of these files is enough; the first that exists is read


def alternatives(options: Options) -> list[str]:
    """Return the files of which the download stage needs only one."""
    return options.archives


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the tags of all images of the archive, in the order of their numbers.

    Raises a `UserError` if the archive is missing or damaged, has no such files, or has two for the same image.
    """
    archive = next((raw / name for name in options.archives if (raw / name).is_file()), raw / options.archives[0])
    members = read_members(archive, lambda name: _number(name) is not None)
    by_number: dict[int, str] = {}
    for name in members:
        first = by_number.setdefault(_number(name) or 0, name)
        if first != name:
            raise UserError(f"{archive}: {first} and {name} are for the same image")
    if not members:
        raise UserError(f"{archive}: contains no tags<number>.txt or <number>.txt; is it the official archive?")
    numbers = sorted(by_number)
    unreadable: list[str] = []
    tags = (_lines(members[by_number[number]], unreadable) for number in numbers)
    ids, parts = name_images(numbers, options)
    annotations = replace(annotate(ids, tags, options, str(archive)), parts=parts)
    if unreadable:
        annotations.dropped.append(Dropped("tags", len(unreadable), "not UTF-8 text"))
    return annotations


def _number(member: str) -> int | None:
    """Return the number of the image whose tags are in a member; None for other members."""
    *folders, basename = member.split("/")
    found = MEMBER.fullmatch(basename)
    return int(found[1]) if found and OTHER_TAGS not in folders else None


def _lines(content: bytes, unreadable: list[str]) -> list[str]:
    """Return the lines that are text and not empty; one bad tag among millions must not make the archive useless."""
    lines = []
    for line in filter(None, content.removeprefix(b"\xef\xbb\xbf").splitlines()):
        try:
            lines.append(line.decode())
        except UnicodeDecodeError:
            unreadable.append(line.decode(errors="replace"))
    return lines
