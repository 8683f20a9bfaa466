"""Read ILSVRC 2010 (ImageNet, 1,000 labels, one label per image) with the visual words that ImageNet published.

The development kit, `ILSVRC2010_devkit-1.0.tar.gz`, contains

    meta.mat                                  the struct array `synsets`; synsets without children are the labels, and
                                              their field `ILSVRC2010_ID` contains the label ids 1, 2, ..., 1000
    ILSVRC2010_validation_ground_truth.txt    one label id per line, in the order of the images' numbers
    ILSVRC2010_test_ground_truth.txt          the same for test images

The ground truth files can instead be in the archives of visual words. These archives, which the option `archives`
names, are tar files, compressed or not. The reader finds their MATLAB files of visual words by name, in any folder, and
ignores other files. The names are

    n02084071.sbow.mat        training images of a label, with ids such as n02084071_123
    val.0001.sbow.mat, ...    validation images, with the ids ILSVRC2010_val_00000001 and so on
    test.0001.sbow.mat, ...   test images, with the ids ILSVRC2010_test_00000001 and so on

Each file has a struct array `image_sbow` with one struct per image, which has the fields `ID` and `sbow`. The vector
`word` in the struct `sbow` contains the visual word of each local descriptor, a number from 0 to 999. The features of
an image state how often each visual word occurs in it; locations, scales and norms of the descriptors are not read. The
features of an image without descriptors are zeros. No validation or test image may be missing, because the ground truth
files contain no image names. meta.mat states the number of training images per label. If fewer training images of a
label have visual words, `RawAnnotations.dropped` states how many are missing. If more have visual words, this is an
error, because the additional ones could be test images.

Training images come first, ordered by label id and image number; validation and test images follow. The name of a label
consists of its WNID (the id of its synset) and the first of the synset's `words`, for example `n02084071 dog`. In
meta.mat, commas separate the words of a synset.

No real file was available: the reader follows the kit's own readme and public programs that read these files, and was
tested on generated files.

Reading takes 8 bytes of memory for each distinct visual word of each image, to store the word's column and its count.
Twice as much is needed while files are joined, and at most four times as much while the order of columns is checked
(`data/features.py`). These numbers are computed from the sizes of the arrays. In addition, the bytes of at most two
`.sbow.mat` files are in memory at a time.

Sources: Deng, Dong, Socher, Li, Li and Fei-Fei, "ImageNet: a large-scale hierarchical image database", CVPR 2009;
Russakovsky et al., "ImageNet large scale visual recognition challenge", IJCV 115 (2015); readme of the kit.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field
from scipy import sparse

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.data.features import Features, csr
from vsebench.formats.annotations import Dropped, RawAnnotations, check_unique, count_pairs, image_ids
from vsebench.formats.download.archives import open_members, text_lines
from vsebench.formats.readers.matlab import Fields, read_structs

KIT = "ILSVRC2010_devkit-1.0.tar.gz"
META = "meta.mat"
TRUTHS = {"valid": "ILSVRC2010_validation_ground_truth.txt", "test": "ILSVRC2010_test_ground_truth.txt"}
PREFIXES = {"valid": "val", "test": "test"}  # names of files of visual words begin with these; image ids contain them
OF_PART = re.compile(r"(val|test)\.[0-9]+\.sbow\.mat")
WNID = re.compile(r"n[0-9]{8}")
WORDS = 1000
SYNSET: Fields = {"ILSVRC2010_ID": None, "WNID": None, "words": None, "num_children": None, "num_train_images": None}
IMAGE: Fields = {"ID": None, "sbow": {"word": None}}


class Options(Strict):
    """Options: the archives of visual words, and how features are stored."""

    archives: list[Annotated[str, Field(pattern=r"^[\w.+-]+$")]] = Field(min_length=1)  # the archives of visual words
    features: Literal["sparse"]  # how features are stored


class Label(NamedTuple):
    """A label of the kit: WNID, name and number of training images."""

    wnid: str
    name: str
    n_train: int


class Bags(NamedTuple):
    """The visual words of some images.

    Attributes
    ----------
    where : the beginning of error messages, which names the file
    ids : image ids
    numbers : (n_images,) int64, the number at the end of each id
    counts : csr_array (n_images, 1000) float32, how often each visual word occurs in each image
    """

    where: str
    ids: list[str]
    numbers: NDArray[np.int64]
    counts: Any


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read labels, parts and features of all images.

    Raises a `UserError` if a file is missing, damaged or malformed, or if files contradict each other. The error names
    the archive and, where possible, the file in it.
    """
    kit = _read_kit(raw / KIT)
    if META not in kit:
        raise UserError(f"{raw / KIT}: contains no {META}; use the official archive")
    labels = parse_labels(kit.pop(META), f"{raw / KIT}: {META}")
    dropped: list[Dropped] = []
    truths, bags = _read_archives(raw, options.archives, labels, kit)
    ordered = _train_bags(raw, options.archives, labels, bags, dropped)
    targets = [np.repeat(np.arange(len(labels)), [len(of_label.ids) for of_label in ordered])]
    sizes = {"train": len(targets[0])}
    for part, (where, text) in truths.items():
        targets.append(parse_truth(text, len(labels), where) - 1)
        sizes[part] = len(targets[-1])
        ordered.append(_in_order(bags, part, sizes[part], where))
    ids = [image for of_part in ordered for image in of_part.ids]
    counts = sparse.vstack([of_part.counts for of_part in ordered], format="csr")
    return RawAnnotations(
        image_ids(ids),
        [label.name for label in labels],
        count_pairs(np.arange(len(ids)), np.concatenate(targets), len(labels)),
        dropped,
        pl.Series("part", np.repeat([*sizes], [*sizes.values()]).tolist(), dtype=pl.String),
        Features(counts, np.ones(len(ids), dtype=bool), where=f"{raw}: {', '.join(options.archives)}"),
    )


def parse_labels(data: bytes, where: str) -> list[Label]:
    """Return the labels of meta.mat in the order of their ids.

    Raises a `UserError` that begins with `where` if `data` is not a valid meta.mat, for example if a field is malformed
    or the ids are not 1, 2, ...
    """
    labels: dict[int, Label] = {}
    for number, synset in enumerate(read_structs(data, "synsets", SYNSET, where), 1):
        position = f"{where}: synset {number}"
        whole = {name: _whole(synset[name], f"{position}: {name}") for name in SYNSET if name not in ("WNID", "words")}
        wnid, words = synset["WNID"], synset["words"]
        if not isinstance(wnid, str) or not WNID.fullmatch(wnid):
            raise UserError(f"{position}: WNID: {str(wnid)[:40]!r} must be the letter n followed by eight digits")
        first = " ".join(words.partition(",")[0].split()) if isinstance(words, str) else ""
        if not first.isprintable() or not first:
            raise UserError(f"{position}: words: {str(words)[:40]!r} must begin with a word")
        if whole["num_children"]:
            continue
        if whole["ILSVRC2010_ID"] in labels:
            raise UserError(f"{position}: ILSVRC2010_ID: {whole['ILSVRC2010_ID']} occurs twice")
        labels[whole["ILSVRC2010_ID"]] = Label(wnid, f"{wnid} {first}", whole["num_train_images"])
    if not labels or sorted(labels) != list(range(1, len(labels) + 1)):
        wanted = f"must be 1, 2, ... (number of these synsets: {len(labels)})"
        raise UserError(f"{where}: the ids of the synsets without children {wanted}")
    check_unique([label.wnid for label in labels.values()], where, "WNID")
    return [labels[number] for number in sorted(labels)]


def parse_truth(data: bytes, n_labels: int, where: str) -> NDArray[np.int64]:
    """Return the id of each image's label, from the content of a ground truth file.

    The result has shape (n_images,) and dtype int64; ids are from 1 to `n_labels`. Raises a `UserError` that begins
    with `where` if the file is empty, or if a line is not the id of a label; the error names the first such line.
    """
    lines = text_lines(data, where)
    for number, line in enumerate(lines, 1):
        if not re.fullmatch("[0-9]{1,9}", line) or not 1 <= int(line) <= n_labels:
            raise UserError(f"{where}: line {number}: {line[:40]!r} must be the id of a label, from 1 to {n_labels}")
    if not lines:
        raise UserError(f"{where}: is empty; use the official archive")
    return np.array([int(line) for line in lines], dtype=np.int64)


def parse_bags(data: bytes, prefix: str, where: str) -> Bags:
    """Return the visual words of a `.sbow.mat` file's images, in the order of the images' numbers.

    `data` is the content of the file. `prefix` is the part of each image's id before the underscore and the number.
    Raises a `UserError` that begins with `where` if the file is malformed, if an id has another prefix or occurs twice,
    or if a visual word is not a whole number from 0 to 999.
    """
    images = read_structs(data, "image_sbow", IMAGE, where)
    pattern = re.compile(rf"{prefix}_([0-9]{{1,9}})")
    matches = [pattern.fullmatch(str(image["ID"])) for image in images]
    if None in matches:
        wrong = str(images[matches.index(None)]["ID"])
        raise UserError(f"{where}: the image id {wrong[:60]!r} should be {prefix}_ followed by a number")
    numbers = np.array([int(match[1]) for match in matches if match], dtype=np.int64)
    order = np.argsort(numbers, kind="stable")
    twice = np.flatnonzero(np.diff(numbers[order]) == 0)
    if len(twice):
        raise UserError(f"{where}: the image {images[order[twice[0]]]['ID']} occurs twice")
    ids = [str(images[i]["ID"]) for i in order]
    rows = [_count(images[i]["sbow"], f"{where}: {images[i]['ID']}") for i in order]
    return Bags(where, ids, numbers[order], _stack(rows))


def _count(sbow: list[dict[str, Any]], where: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct visual words of an image in ascending order, and how often each of them occurs."""
    words = sbow[0]["word"] if len(sbow) == 1 else None
    if words is None or isinstance(words, str):
        raise UserError(f"{where}: sbow: must be a single struct whose field `word` contains numbers")
    with np.errstate(invalid="ignore"):
        wrong = words[~((words >= 0) & (words < WORDS) & (words % 1 == 0))]
    if len(wrong):
        raise UserError(f"{where}: the word {wrong[0]} is not a number from 0 to {WORDS - 1}")
    counts = np.bincount(words.astype(np.int64), minlength=WORDS)
    used = np.flatnonzero(counts)
    return used, counts[used]


def _stack(rows: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]) -> Any:
    """Return the results of `_count` for several images as one csr_array (n_images, 1000) float32."""
    empty = np.empty(0, dtype=np.intp)
    columns, counts = (np.concatenate([empty, *(row[i] for row in rows)]) for i in (0, 1))
    offsets = np.cumsum([0, *(len(used) for used, _ in rows)])
    return csr(counts.astype(np.float32), columns, offsets, (len(rows), WORDS))


def _whole(value: Any, where: str) -> int:
    """Return the value of a field that has to be a single whole number."""
    number = value[0] if isinstance(value, np.ndarray) and len(value) == 1 else -1
    if not 0 <= number < 2**31 or number % 1:
        raise UserError(f"{where}: must be a single whole number")
    return int(number)


def _read_kit(archive: Path) -> dict[str, bytes]:
    """Return the content of meta.mat and of each ground truth file by name; files that the kit lacks are left out."""
    content: dict[str, bytes] = {}
    for name, data in _members(archive, {META, *TRUTHS.values()}):
        _check_new(name, content, archive)
        content[name] = data
    return content


def _read_archives(
    raw: Path, archives: Sequence[str], labels: Sequence[Label], kit: Mapping[str, bytes]
) -> tuple[dict[str, tuple[str, bytes]], dict[str, Bags]]:
    """Return the ground truths by part, and the visual words by file name.

    Each ground truth is a pair: the name of its file for error messages, and the content of this file.
    """
    texts = {name: (f"{raw / KIT}: {name}", data) for name, data in kit.items()}
    training = {f"{label.wnid}.sbow.mat": label.wnid for label in labels}
    bags: dict[str, Bags] = {}
    for archive in archives:
        for name, data in _members(raw / archive, {*training, *TRUTHS.values()}, OF_PART):
            where = f"{raw / archive}: {name}"
            if name in TRUTHS.values():
                _check_new(name, texts, raw / archive)
                texts[name] = (where, data)
                continue
            _check_new(name, bags, raw / archive)
            prefix = training.get(name) or f"ILSVRC2010_{name.partition('.')[0]}"
            bags[name] = parse_bags(data, prefix, where)
    for name in TRUTHS.values():
        if name not in texts:
            raise UserError(f"{raw / KIT}: contains no {name}, nor does any archive of visual words")
    return {part: texts[name] for part, name in TRUTHS.items()}, bags


def _members(archive: Path, names: set[str], pattern: re.Pattern[str] | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield the name (without folders) and content of each member that has one of the names or matches the pattern."""

    def is_chosen(name: str) -> bool:
        basename = name.rpartition("/")[2]
        return basename in names or (pattern is not None and pattern.fullmatch(basename) is not None)

    with open_members(archive, is_chosen) as members:
        for name, stream in members:
            yield name.rpartition("/")[2], stream.read()


def _check_new(name: str, known: Mapping[str, object], archive: Path) -> None:
    if name in known:
        raise UserError(f"{archive}: contains {name}, which also occurs earlier in this archive or in another")


def _train_bags(
    raw: Path, archives: Sequence[str], labels: Sequence[Label], bags: Mapping[str, Bags], dropped: list[Dropped]
) -> list[Bags]:
    """Return the visual words of each label's training images; add the number of images without any to `dropped`."""
    names = [f"{label.wnid}.sbow.mat" for label in labels]
    missing = [name for name in names if name not in bags]
    if missing:
        first = f"{missing[0]} is missing from {', '.join(archives)}"
        raise UserError(f"{raw}: {first} (number of missing files: {len(missing)})")
    without = 0
    for name, label in zip(names, labels, strict=True):
        n_images = len(bags[name].ids)
        if n_images > label.n_train:
            raise UserError(f"{bags[name].where}: has {n_images} images, but {META} counts only {label.n_train}")
        without += label.n_train - n_images
    if without:
        dropped.append(Dropped("training images", without, f"counted by {META}, but without visual words"))
    return [bags[name] for name in names]


def _in_order(bags: Mapping[str, Bags], part: str, size: int, truth: str) -> Bags:
    """Return the visual words of all images of a part, in the order of the images' numbers.

    `part` is "valid" or "test", and has `size` images. `truth` names the ground truth file in error messages.
    """
    prefix = PREFIXES[part]
    of_part = [bags[name] for name in sorted(bags) if name.startswith(f"{prefix}.")]
    file_of: dict[int, str] = {}  # number of an image -> its file
    for of_file in of_part:
        for image, number in zip(of_file.ids, of_file.numbers.tolist(), strict=True):
            if not 1 <= number <= size:
                raise UserError(f"{of_file.where}: has the image {image}, but {truth} has only {size} lines")
            if number in file_of:
                raise UserError(f"{of_file.where}: the image {image} also occurs in {file_of[number]}")
            file_of[number] = of_file.where
    missing = [number for number in range(1, size + 1) if number not in file_of]
    if missing:
        first = f"no {prefix}.*.sbow.mat has image {missing[0]} (number of missing images: {len(missing)})"
        raise UserError(f"{truth}: has {size} lines, one for each image, but {first}")
    numbers = np.concatenate([of_file.numbers for of_file in of_part])
    ids = [image for of_file in of_part for image in of_file.ids]
    order = np.argsort(numbers)
    counts = sparse.vstack([of_file.counts for of_file in of_part], format="csr")[order]
    return Bags(truth, [ids[i] for i in order], numbers[order], counts)
