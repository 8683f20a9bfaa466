"""ILSVRC 2010 (ImageNet, 1,000 labels, one for each image) with the visual words that ImageNet published.

The development kit, `ILSVRC2010_devkit-1.0.tar.gz`, has

    meta.mat                                  struct array `synsets`; those without children are the labels, with the
                                              ids 1, 2, ..., 1000 (`ILSVRC2010_ID`)
    ILSVRC2010_validation_ground_truth.txt    the id of an image's label on a line, in the order of the images' numbers
    ILSVRC2010_test_ground_truth.txt          the same; it can also be in one of the archives below

The archives that the option `archives` names, tar files however compressed, have MATLAB files of visual words. Members
are found by their own names, in whatever folder and archive; others are ignored:

    n02084071.sbow.mat        of the training images of a label, n02084071_123 and so on
    val.0001.sbow.mat, ...    of the validation images, ILSVRC2010_val_00000001 and so on
    test.0001.sbow.mat, ...   of the test images, ILSVRC2010_test_00000001 and so on

Such a file has a struct array `image_sbow`, a struct for each image: `ID`, and in the struct `sbow` the vector `word`,
a number from 0 to 999 for each local descriptor. The features of an image are how often it has each of these words; its
places, scales and norms are not read. An image without a descriptor has zeros. Validation and test have to be complete,
as the ground truths have no names. Training images that meta.mat counts and that have no words are noted in `dropped`;
more than it counts are refused, since these could be test images.

Images are in the order of their labels' ids and then of their numbers; then the validation and the test images. A label
is named by its WNID and its first word: `n02084071 dog`.

No real file was available: written from the kit's own readme and from public readers of these files, and tested on
generated ones.

Memory, by arithmetic on the arrays: 8 bytes for each different word of an image (its column and its count), twice while
files are put together and four times while the order of columns is checked (`data/features.py`); of the files of words
themselves no more than two are in memory at a time. 1,461,406 images with 300 different words each would take 3.3 GiB,
and 13.1 GiB at the peak; with the 1,000 that there are, which is the most, 10.9 and 43.6 GiB.

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
PREFIXES = {"valid": "val", "test": "test"}  # of the files of words, and in the names of the images
OF_PART = re.compile(r"(val|test)\.[0-9]+\.sbow\.mat")
WNID = re.compile(r"n[0-9]{8}")
WORDS = 1000
SYNSET: Fields = {"ILSVRC2010_ID": None, "WNID": None, "words": None, "num_children": None, "num_train_images": None}
IMAGE: Fields = {"ID": None, "sbow": {"word": None}}


class Options(Strict):
    """The archives of visual words, and how features are kept."""

    archives: list[Annotated[str, Field(pattern=r"^[\w.+-]+$")]] = Field(min_length=1)  # of visual words
    features: Literal["sparse"]  # how they are kept


class Label(NamedTuple):
    """A label of the kit: WNID, name, and how many training images it has."""

    wnid: str
    name: str
    n_train: int


class Bags(NamedTuple):
    """The visual words of some images.

    Attributes
    ----------
    where : the file
    ids : of the images
    numbers : (n,) int64, the number at the end of each id
    counts : csr_array (n, 1000) float32
    """

    where: str
    ids: list[str]
    numbers: NDArray[np.int64]
    counts: Any


class Images(NamedTuple):
    """All images in their order.

    Attributes
    ----------
    ids : of the images
    label : (n,) int64, the label of each image from 0
    sizes : the number of images of "train", "valid" and "test", in the order of the images
    counts : csr_array (n, 1000) float32
    """

    ids: list[str]
    label: NDArray[np.int64]
    sizes: dict[str, int]
    counts: Any


def read(raw: Path, options: Options) -> RawAnnotations:
    """Read labels, parts and features of all images.

    Raises a `UserError` that names archive and member where one is missing, damaged or malformed, or where they do not
    fit each other.
    """
    kit = _read_kit(raw / KIT)
    if META not in kit:
        raise UserError(f"{raw / KIT}: contains no {META}; is it the official archive?")
    labels = parse_labels(kit.pop(META), f"{raw / KIT}: {META}")
    dropped: list[Dropped] = []
    images = _read_images(raw, options.archives, labels, kit, dropped)
    n_images = len(images.ids)
    return RawAnnotations(
        image_ids(images.ids),
        [label.name for label in labels],
        count_pairs(np.arange(n_images), images.label, len(labels)),
        dropped,
        pl.Series("part", np.repeat([*images.sizes], [*images.sizes.values()]).tolist(), dtype=pl.String),
        Features(images.counts, np.ones(n_images, dtype=bool), where=f"{raw}: {', '.join(options.archives)}"),
    )


def parse_labels(data: bytes, where: str) -> list[Label]:
    """Return the labels of meta.mat in the order of their ids.

    Raises a `UserError` that begins with `where` if this is no such file, a field is not as it should be, or the ids
    are not 1, 2, ... .
    """
    found: dict[int, Label] = {}
    for number, synset in enumerate(read_structs(data, "synsets", SYNSET, where), 1):
        place = f"{where}: synset {number}"
        whole = {name: _whole(synset[name], f"{place}: {name}") for name in SYNSET if name not in ("WNID", "words")}
        wnid, words = synset["WNID"], synset["words"]
        if not isinstance(wnid, str) or not WNID.fullmatch(wnid):
            raise UserError(f"{place}: WNID: {str(wnid)[:40]!r} is not n and eight digits")
        first = " ".join(words.partition(",")[0].split()) if isinstance(words, str) else ""
        if not first.isprintable() or not first:
            raise UserError(f"{place}: words: {str(words)[:40]!r} begins with no word")
        if whole["num_children"]:
            continue
        if whole["ILSVRC2010_ID"] in found:
            raise UserError(f"{place}: ILSVRC2010_ID: {whole['ILSVRC2010_ID']} is there twice")
        found[whole["ILSVRC2010_ID"]] = Label(wnid, f"{wnid} {first}", whole["num_train_images"])
    if not found or sorted(found) != list(range(1, len(found) + 1)):
        raise UserError(f"{where}: the ids of the {len(found)} synsets without children are not 1 to {len(found)}")
    check_unique([label.wnid for label in found.values()], where, "WNID")
    return [found[number] for number in sorted(found)]


def parse_truth(data: bytes, n_labels: int, where: str) -> NDArray[np.int64]:
    """Return the id of each image's label, (n_images,) int64 from 1 to `n_labels`.

    Raises a `UserError` that begins with `where` and names the line that has no such id.
    """
    lines = text_lines(data, where)
    for number, line in enumerate(lines, 1):
        if not re.fullmatch("[0-9]{1,9}", line) or not 1 <= int(line) <= n_labels:
            raise UserError(f"{where}: line {number}: {line[:40]!r} is not the id of a label, 1 to {n_labels}")
    if not lines:
        raise UserError(f"{where}: is empty")
    return np.array([int(line) for line in lines], dtype=np.int64)


def parse_bags(data: bytes, prefix: str, where: str) -> Bags:
    """Return the visual words of a file's images, in the order of their numbers.

    Parameters
    ----------
    data : content of a `.sbow.mat` file
    prefix : what the images' ids begin with, before the number and its underscore
    where : the file

    Raises
    ------
    UserError
        This is no such file, an id begins otherwise or is there twice, or a word is not one of 0 to 999; begins with
        `where`.
    """
    images = read_structs(data, "image_sbow", IMAGE, where)
    pattern = re.compile(rf"{prefix}_([0-9]{{1,9}})")
    matches = [pattern.fullmatch(str(image["ID"])) for image in images]
    if None in matches:
        wrong = str(images[matches.index(None)]["ID"])
        raise UserError(f"{where}: the image {wrong[:60]!r}, where ids are {prefix}_ and a number")
    numbers = np.array([int(found[1]) for found in matches if found], dtype=np.int64)
    order = np.argsort(numbers, kind="stable")
    twice = np.flatnonzero(np.diff(numbers[order]) == 0)
    if len(twice):
        raise UserError(f"{where}: the image {images[order[twice[0]]]['ID']} is there twice")
    ids = [str(images[i]["ID"]) for i in order]
    rows = [_count(images[i]["sbow"], f"{where}: {images[i]['ID']}") for i in order]
    return Bags(where, ids, numbers[order], _stack(rows))


def _count(sbow: list[dict[str, Any]], where: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the words of an image, ascending, and how often it has each of them."""
    words = sbow[0]["word"] if len(sbow) == 1 else None
    if words is None or isinstance(words, str):
        raise UserError(f"{where}: sbow: {len(sbow)} structs, or words that are text; one with numbers is needed")
    with np.errstate(invalid="ignore"):
        wrong = words[~((words >= 0) & (words < WORDS) & (words % 1 == 0))]
    if len(wrong):
        raise UserError(f"{where}: the word {wrong[0]} is not one of 0 to {WORDS - 1}")
    counts = np.bincount(words.astype(np.int64), minlength=WORDS)
    used = np.flatnonzero(counts)
    return used, counts[used]


def _stack(rows: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]) -> Any:
    """Return columns and counts of rows as one csr_array (n_rows, 1000) float32."""
    empty = np.empty(0, dtype=np.intp)
    columns, counts = (np.concatenate([empty, *(row[i] for row in rows)]) for i in (0, 1))
    offsets = np.cumsum([0, *(len(used) for used, _ in rows)])
    return csr(counts.astype(np.float32), columns, offsets, (len(rows), WORDS))


def _whole(value: Any, where: str) -> int:
    """Return a field that is one whole number."""
    number = value[0] if isinstance(value, np.ndarray) and len(value) == 1 else -1
    if not 0 <= number < 2**31 or number % 1:
        raise UserError(f"{where}: is not one whole number")
    return int(number)


def _read_images(
    raw: Path, archives: Sequence[str], labels: Sequence[Label], kit: Mapping[str, bytes], dropped: list[Dropped]
) -> Images:
    """Return the images of all parts; note in `dropped` how many training images have no words."""
    truths, bags = _read_archives(raw, archives, labels, kit)
    some = _train_bags(raw, archives, labels, bags, dropped)
    targets = [np.repeat(np.arange(len(labels)), [len(of_label.ids) for of_label in some])]
    sizes = {"train": len(targets[0])}
    for part, (where, text) in truths.items():
        targets.append(parse_truth(text, len(labels), where) - 1)
        sizes[part] = len(targets[-1])
        some.append(_in_order(bags, part, sizes[part], where))
    ids = [image for of_file in some for image in of_file.ids]
    counts = sparse.vstack([of_file.counts for of_file in some], format="csr")
    return Images(ids, np.concatenate(targets), sizes, counts)


def _read_kit(archive: Path) -> dict[str, bytes]:
    """Return meta.mat and the ground truths by their names, those that are there."""
    content: dict[str, bytes] = {}
    for name, data in _members(archive, {META, *TRUTHS.values()}):
        _once(name, content, archive)
        content[name] = data
    return content


def _read_archives(
    raw: Path, archives: Sequence[str], labels: Sequence[Label], kit: Mapping[str, bytes]
) -> tuple[dict[str, tuple[str, bytes]], dict[str, Bags]]:
    """Return file and content of the ground truth of "valid" and "test", and the words by the names of their files."""
    texts = {name: (f"{raw / KIT}: {name}", data) for name, data in kit.items()}
    training = {f"{label.wnid}.sbow.mat": label.wnid for label in labels}
    bags: dict[str, Bags] = {}
    for archive in archives:
        for name, data in _members(raw / archive, {*training, *TRUTHS.values()}, OF_PART):
            where = f"{raw / archive}: {name}"
            if name in TRUTHS.values():
                _once(name, texts, raw / archive)
                texts[name] = (where, data)
                continue
            _once(name, bags, raw / archive)
            prefix = training.get(name) or f"ILSVRC2010_{name.partition('.')[0]}"
            bags[name] = parse_bags(data, prefix, where)
    for name in TRUTHS.values():
        if name not in texts:
            raise UserError(f"{raw / KIT}: contains no {name}, and none of the archives of visual words has it")
    return {part: texts[name] for part, name in TRUTHS.items()}, bags


def _members(archive: Path, names: set[str], pattern: re.Pattern[str] | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield name without folders and content of the members with one of these names or of this pattern."""

    def wanted(name: str) -> bool:
        basename = name.rpartition("/")[2]
        return basename in names or (pattern is not None and pattern.fullmatch(basename) is not None)

    with open_members(archive, wanted) as members:
        for name, stream in members:
            yield name.rpartition("/")[2], stream.read()


def _once(name: str, found: Mapping[str, object], archive: Path) -> None:
    if name in found:
        raise UserError(f"{archive}: contains {name}, which was there before, in this archive or another")


def _train_bags(
    raw: Path, archives: Sequence[str], labels: Sequence[Label], bags: Mapping[str, Bags], dropped: list[Dropped]
) -> list[Bags]:
    """Return the words of the training images of each label; note in `dropped` how many have none."""
    names = [f"{label.wnid}.sbow.mat" for label in labels]
    missing = [name for name in names if name not in bags]
    if missing:
        others = f" and {len(missing) - 1} others like it" if len(missing) > 1 else ""
        raise UserError(f"{raw}: there is no {missing[0]}{others} in {', '.join(archives)}")
    without = 0
    for name, label in zip(names, labels, strict=True):
        n_images = len(bags[name].ids)
        if n_images > label.n_train:
            raise UserError(f"{bags[name].where}: has {n_images} images, {META} counts {label.n_train} for training")
        without += label.n_train - n_images
    if without:
        dropped.append(Dropped("training images", without, f"counted by {META}, without visual words"))
    return [bags[name] for name in names]


def _in_order(bags: Mapping[str, Bags], part: str, size: int, truth: str) -> Bags:
    """Return the words of all images of "valid" or "test" in the order of the ground truth, the file `truth`."""
    prefix = PREFIXES[part]
    some = [bags[name] for name in sorted(bags) if name.startswith(f"{prefix}.")]
    file_of: dict[int, str] = {}  # by the image's number
    for of_file in some:
        for image, number in zip(of_file.ids, of_file.numbers.tolist(), strict=True):
            if not 1 <= number <= size:
                raise UserError(f"{of_file.where}: has the image {image}, but the ground truth {size} lines ({truth})")
            if number in file_of:
                raise UserError(f"{of_file.where}: the image {image} was there before ({file_of[number]})")
            file_of[number] = of_file.where
    missing = [number for number in range(1, size + 1) if number not in file_of]
    if missing:
        others = f" and {len(missing) - 1} others" if len(missing) > 1 else ""
        raise UserError(f"{truth}: has {size} lines, but no {prefix}.*.sbow.mat has image {missing[0]}{others}")
    numbers = np.concatenate([of_file.numbers for of_file in some])
    ids = [image for of_file in some for image in of_file.ids]
    order = np.argsort(numbers)
    counts = sparse.vstack([of_file.counts for of_file in some], format="csr")[order]
    return Bags(truth, [ids[i] for i in order], numbers[order], counts)
