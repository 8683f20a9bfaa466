"""Read users' tags of the MIRFLICKR collections: 25,000 or a million images from Flickr.

An archive contains one text file per image, with one tag per line. In `mirflickr25k.zip`, this file is called
`mirflickr/meta/tags/tags<number>.txt`; in `tags.zip` of MIRFLICKR-1M, it is called `<folders>/<number>.txt`. Other
files, and files in a folder `tags_raw`, are not read. The id of an image is the text of the option `prefix`, followed
by the image's number. For example, the prefix can be "im", as in the names of the image files. The module `tags.py`
turns tags into labels.

The archives have no partition. The option `parts` can define a partition by the images' numbers.

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
    """Options: the ids of images, and a partition by image numbers."""

    prefix: str = Field(default="", pattern=r"^\w*$")  # text before the number in an image's id: `im` for `im123`
    # The first and the last number of each part; images in no part are kept unless the filter `only_parts` is set.
    parts: dict[Literal["train", "valid", "test"], Bounds] = Field(default={})

    @model_validator(mode="after")
    def _apart(self) -> "Numbering":
        bounds = sorted(self.parts.values())
        if any(first > last for first, last in bounds) or any(a[1] >= b[0] for a, b in pairwise(bounds)):
            wrong = "a part ends before it begins, or two parts overlap; correct the first and last numbers"
            raise PydanticCustomError("parts", wrong)
        return self


def name_images(numbers: list[int], numbering: Numbering) -> tuple[list[str], pl.Series | None]:
    """Return the id and the part of each image.

    `numbers` must be in ascending order. An image in no part has null as its part. If `numbering` defines no parts,
    None is returned instead of the series of parts.
    """
    parts: list[str | None] = [None] * len(numbers)
    for part, (first, last) in numbering.parts.items():
        for row in range(bisect_left(numbers, first), bisect_right(numbers, last)):
            parts[row] = part
    ids = [f"{numbering.prefix}{number}" for number in numbers]
    return ids, pl.Series("part", parts, dtype=pl.String) if numbering.parts else None


class Options(TagOptions, Numbering):
    """Options: the archives of tags."""

    archives: list[str] = Field(
        min_length=1
    )  # archives with the tags; the first that exists is read, and one is enough


def alternatives(options: Options) -> list[str]:
    """Return the names of alternative files, best first; it is enough to download one of them."""
    return options.archives


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the tags of all images; images are ordered by number.

    The first archive of `options.archives` that exists is read. Raises a `UserError` if none exists, or if the archive
    is damaged, contains no file of tags, or contains two files of tags for the same image.
    """
    archive = next((raw / name for name in options.archives if (raw / name).is_file()), raw / options.archives[0])
    members = read_members(archive, lambda name: _number(name) is not None)
    by_number: dict[int, str] = {}
    for name in members:
        first = by_number.setdefault(_number(name) or 0, name)
        if first != name:
            raise UserError(f"{archive}: {first} and {name} both list the tags of the same image")
    if not members:
        raise UserError(f"{archive}: contains no tags<number>.txt or <number>.txt; use the official archive")
    numbers = sorted(by_number)
    unreadable: list[str] = []
    tags = (_lines(members[by_number[number]], unreadable) for number in numbers)
    ids, parts = name_images(numbers, options)
    annotations = replace(annotate(ids, tags, options, str(archive)), parts=parts)
    if unreadable:
        annotations.dropped.append(Dropped("tags", len(unreadable), "not UTF-8 text"))
    return annotations


def _number(member: str) -> int | None:
    """Return the image number in the name of a file of tags, or None if `member` is another file."""
    *folders, basename = member.split("/")
    match = MEMBER.fullmatch(basename)
    return int(match[1]) if match and OTHER_TAGS not in folders else None


def _lines(content: bytes, unreadable: list[str]) -> list[str]:
    """Return the non-empty lines that are UTF-8 text; add the other non-empty lines to `unreadable`."""
    lines = []
    for line in filter(None, content.removeprefix(b"\xef\xbb\xbf").splitlines()):
        try:
            lines.append(line.decode())
        except UnicodeDecodeError:
            unreadable.append(line.decode(errors="replace"))
    return lines
