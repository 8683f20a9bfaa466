"""Read NUS-WIDE's user tags, which the photographs' owners wrote on Flickr.

`NUS_WID_Tags.zip` contains these files:

- `Final_Tag_List.txt` (5,018 tags) and `TagList1k.txt` (1,000 tags) have one tag per line.
- `All_Tags.txt` has one image per line: the photo id and the tags of the photo, separated by white space.
- `Train_Tags1k.dat` and `Test_Tags1k.dat` have one image per line: 0 or 1 for each of the 1,000 tags.

The option `tags` chooses the vocabulary:

final : the 5,018 tags; the images are those of All_Tags.txt, in the order of this file, and there is no partition
1k : the 1,000 tags
925 : the tags among these 1,000 that are not also names of the 81 concepts (`ConceptsList.zip`)
1006 : these 925 tags, then the 81 hand-annotated concepts (`Groundtruth.zip`)

For all vocabularies but `final`, the images' tags are read from the two `.dat` files, not from `AllTags1k.txt`, which
the archive also contains. The `.dat` files follow the official partition. They have no image ids, so images are named
as in `nuswide_concepts`. Like other users of these files, the reader assumes that line n of a part describes the same
image in the `.dat` files and in the ground truth. The vocabulary `1006` depends on this assumption.

All_Tags.txt is read as follows:

- A tag is kept if its bytes equal those of a tag in Final_Tag_List.txt, which is in UTF-8. Tags are not decoded, so a
  tag in another encoding is not found. If only the lower-case form of a tag is in this list, the tag is left out and
  counted in `dropped`.
- If an image has a tag more than once, the tag counts once. `dropped` counts the repetitions.
- Some photo ids occur in two lines. These lines count as two images, because the ground truth has two images, too. The
  second image is named `<id>-2`.
- Images without a tag are kept. Blank lines are allowed only at the end.

Source: Chua et al., "NUS-WIDE: a real-world web image database from National University of Singapore", CIVR 2009. The
sets of 925 and 1,006 tags: Zhang, Gong and Shah, "Fast zero-shot image tagging", CVPR 2016.
"""

import io
from codecs import BOM_UTF8
from collections import Counter
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.formats.annotations import Dropped, RawAnnotations, check_names, count_pairs, image_ids
from vsebench.formats.download.archives import by_basename, line_blocks, text_lines
from vsebench.formats.readers.nuswide_concepts import NEWLINE, ONE, PARTS, ZERO, name_images, read_concepts, read_names

ARCHIVE = "NUS_WID_Tags.zip"
SPACE, DIGIT, LINE_END = 1, 2, 3
KINDS = np.zeros(256, dtype=np.uint8)  # the kind of each byte in a 0/1 matrix; 0: a byte that must not occur
KINDS[list(b" \t\r\v\f")] = SPACE
KINDS[[ZERO, ONE]] = DIGIT
KINDS[NEWLINE] = LINE_END

Ints = NDArray[np.intp]


class Options(Strict):
    """Options: the vocabulary to read."""

    tags: Literal["final", "1k", "925", "1006"]  # the vocabulary; `final` has 5,018 tags


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read the tags of all images; if there is a partition, training images come first."""
    return _read_final(raw / ARCHIVE) if options.tags == "final" else _read_1k(raw, options.tags)


def _read_final(archive: Path) -> RawAnnotations:
    list_name, name = "Final_Tag_List.txt", "All_Tags.txt"
    content = by_basename(archive, [list_name, name])
    where = f"{archive}: {list_name}"
    tags = _parse_list(text_lines(content[list_name], where), where)
    dropped: list[Dropped] = []
    ids, image, label = _parse_tags(content[name], tags, f"{archive}: {name}", dropped)
    return RawAnnotations(image_ids(_tell_apart(ids)), tags, count_pairs(image, label, len(tags)), dropped)


def _parse_list(tags: list[str], where: str) -> list[str]:
    """Check the tags of a list, and return them.

    `tags` are the lines of the file `where`. Raises a `UserError` if there is no tag, or if a tag is invalid or occurs
    twice.
    """
    if not tags:
        raise UserError(f"{where}: contains no tag")
    check_names(tags, where, "tag")
    return tags


def _parse_tags(data: bytes, tags: list[str], where: str, dropped: list[Dropped]) -> tuple[list[str], Ints, Ints]:
    """Parse lines that each contain a photo id and the tags of the photo.

    Returns the photo ids, and two arrays of shape (n_pairs,): the image number and the label number of each pair. No
    pair occurs twice. `tags` is the list of all labels; a word that is not in this list gives no pair.
    """
    row_of_tag = {tag.encode(): row for row, tag in enumerate(tags)}
    ids: list[str] = []
    labels: list[int] = []
    sizes: list[int] = []
    repeats = other_case = 0
    # Split as bytes, because str.split would also split a tag at Unicode's other spaces and line ends.
    for number, line in enumerate(data.removeprefix(BOM_UTF8).rstrip().split(b"\n"), start=1):
        photo, *words = line.split() or [b""]
        if not photo.isdigit():
            raise UserError(f"{where}: line {number}: {photo[:40].decode(errors='replace')!r} is not a photo id")
        known = [row_of_tag[word] for word in words if word in row_of_tag]
        distinct = set(known)
        repeats += len(known) - len(distinct)
        other_case += sum(word not in row_of_tag and word.lower() in row_of_tag for word in words)
        ids.append(photo.decode())
        labels += distinct
        sizes.append(len(distinct))
    if repeats:
        dropped.append(Dropped("tags", repeats, "repeated for the same image"))
    if other_case:
        dropped.append(Dropped("tags", other_case, "in the list only in lower case"))
    return ids, np.repeat(np.arange(len(sizes)), sizes), np.array(labels, dtype=np.intp)


def _tell_apart(ids: list[str]) -> list[str]:
    """Make ids unique: the second image with an id is named <id>-2, the third one <id>-3."""
    seen: Counter[str] = Counter()
    names = []
    for photo in ids:
        seen[photo] += 1
        names.append(photo if seen[photo] == 1 else f"{photo}-{seen[photo]}")
    return names


def _read_1k(raw: Path, selection: str) -> RawAnnotations:
    archive = raw / ARCHIVE
    dropped: list[Dropped] = []
    where = f"{archive}: TagList1k.txt"
    tags = _parse_list(text_lines(by_basename(archive, ["TagList1k.txt"])["TagList1k.txt"], where), where)
    sizes, image, label = _read_matrices(archive, len(tags))
    if selection != "1k":
        tags, image, label = _leave_out(read_names(raw), tags, image, label, dropped)
    if selection == "1006":
        concepts, columns = read_concepts(raw, dropped)
        for part in PARTS:
            if columns[part].shape[1] != sizes[part]:
                n_images = f"{sizes[part]} images, but Groundtruth.zip has {columns[part].shape[1]} in this part"
                raise UserError(f"{archive}: {part}_Tags1k.dat: has {n_images}")
        concept, of_image = np.nonzero(np.concatenate([columns[part] for part in PARTS], axis=1))
        image, label = np.concatenate([image, of_image]), np.concatenate([label, concept + len(tags)])
        tags = tags + concepts
    images, parts = name_images(sizes)
    return RawAnnotations(images, tags, count_pairs(image, label, len(tags)), dropped, parts)


def _leave_out(
    concepts: list[str], tags: list[str], image: Ints, label: Ints, dropped: list[Dropped]
) -> tuple[list[str], Ints, Ints]:
    """Leave out the tags that are names of concepts, and renumber the remaining tags."""
    is_kept = np.array([tag not in concepts for tag in tags])
    dropped.append(Dropped("tags", int(np.sum(~is_kept)), "in the list of 1,000, but also names of concepts"))
    kept = is_kept[label]
    new_label = np.cumsum(is_kept) - 1
    return [tag for tag in tags if tag not in concepts], image[kept], new_label[label[kept]]


def _read_matrices(archive: Path, n_tags: int) -> tuple[dict[str, int], Ints, Ints]:
    """Read the two matrices of 0 and 1, one for training images and one for test images.

    Returns the number of images of each part, and two arrays of shape (n_pairs,): the image number and the label number
    of each 1.
    """
    sizes: dict[str, int] = {}
    images, labels = [], []
    for part in PARTS:
        name = f"{part}_Tags1k.dat"
        data = by_basename(archive, [name])[name]  # one file at a time, because the first takes 320 MB
        n_images, image, label = parse_matrix(data, n_tags, f"{archive}: {name}")
        images.append(image + sum(sizes.values()))
        labels.append(label)
        sizes[part] = n_images
    return sizes, np.concatenate(images), np.concatenate(labels)


def parse_matrix(data: bytes, n_tags: int, where: str, block_size: int = 1 << 22) -> tuple[int, Ints, Ints]:
    """Parse lines of `n_tags` numbers, each 0 or 1, in blocks of about `block_size` bytes.

    Returns the number of lines, and two arrays with the line and the column of each 1, counted from 0. Blank lines are
    allowed only at the end, and are not counted. Raises a `UserError` if a line is malformed. The message begins with
    `where`, the name of the file, and names the first malformed line.
    """
    n_lines, ended = 0, False
    lines, columns = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    # Blocks are checked as bytes, which is fast: each line must have n_tags digits, no two of them adjacent.
    for block in line_blocks(io.BytesIO(data), block_size):
        text = np.frombuffer(block, dtype=np.uint8)
        kinds = KINDS[text]
        digits = np.flatnonzero(kinds == DIGIT)
        per_line = np.diff(np.searchsorted(digits, np.flatnonzero(kinds == LINE_END)), prepend=0)
        n_full = len(np.trim_zeros(per_line, "b"))  # blank lines are allowed at the end
        if ended and n_full:
            raise UserError(f"{where}: line {n_lines + 1}: is blank")
        if not kinds.all() or np.any(np.diff(digits) == 1) or np.any(per_line[:n_full] != n_tags):
            _explain(block, n_lines, n_tags, where)
        line, column = np.divmod(np.flatnonzero(text[digits] == ONE), n_tags)
        lines.append(line + n_lines)
        columns.append(column)
        n_lines += n_full
        ended = ended or n_full < len(per_line)
    return n_lines, np.concatenate(lines), np.concatenate(columns)


def _explain(block: bytes, n_before: int, n_tags: int, where: str) -> NoReturn:
    """Raise a `UserError` that names the first bad line of a block; `n_before` lines come before the block."""
    for number, line in enumerate(block[:-1].split(b"\n"), start=n_before + 1):
        values = line.split()
        wrong = next((value for value in values if value not in (b"0", b"1")), None)
        if wrong is not None:
            raise UserError(f"{where}: line {number}: {wrong[:40].decode(errors='replace')!r} must be 0 or 1")
        if len(values) != n_tags:
            raise UserError(f"{where}: line {number}: has {len(values)} values, but TagList1k.txt has {n_tags} tags")
    raise AssertionError("the block has no fault")
