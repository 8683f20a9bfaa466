"""Read a file of scores for (image, label) pairs, computed by a model outside this package.

    .npy       a matrix of numbers, (images, labels); beside it `<name>.ids.txt` and `<name>.labels.txt`, one id or
               label per line
    .npz       the arrays `ids` and `labels`, with the image ids and label names as text; and either the array `scores`,
               (images, labels), or the arrays `image_vectors`, (images, d), and `label_vectors`, (labels, d), whose
               inner products are the scores
    .parquet   the columns `image`, `label` and `score`, one row per listed label of an image; a column `rank` (1 is
    .csv       the best) can replace `score`; labels that are not listed are tied behind all listed labels

Larger scores are better. If the model was trained on a split that `vsebench export` wrote, a text file
`<name>.split.txt` beside the scores can contain the hash of this split (the value of `hash` in its split.json).
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError, no_file
from vsebench.data.chunks import even_chunks
from vsebench.data.problem import Ids
from vsebench.formats.annotations import check_names
from vsebench.formats.download.archives import text_lines
from vsebench.formats.features_file import read_ids
from vsebench.formats.numpy_files import load, texts

LARGEST = 1e30  # larger numbers could overflow in inner products
COLUMNS = ("image", "label")
SMALL = 1 << 16  # 16 bits can represent this many numbers
ROWS_A_BATCH = 1 << 16  # number of rows of a table to read at a time
ROWS_A_CHECK = 1 << 12  # number of rows of a matrix to check at a time
ARRAYS = ("ids", "labels", "scores", "image_vectors", "label_vectors")  # read from an .npz file
SUFFIXES = (".npy", ".npz", ".parquet", ".csv")


@dataclass(frozen=True)
class VectorPairs:
    """Vectors of images and of labels; the inner products of the vectors are the scores.

    `image` has shape (images, d), and `label` has shape (labels, d), where d is the number of dimensions.
    """

    image: NDArray[np.float32]
    label: NDArray[np.float32]


@dataclass(frozen=True)
class ScoredLists:
    """The labels that a table lists for each image, with their scores.

    Attributes
    ----------
    start : (images + 1,) int64: the labels of image i are at start[i]:start[i + 1] in the other arrays
    label : (n_pairs,) indices into `Scores.labels`; uint16, or int32 if there are more than 65,536 labels
    score : (n_pairs,) float32: the scores of these labels
    """

    start: NDArray[np.int64]
    label: NDArray[np.uint16] | Ids
    score: NDArray[np.float32]


Values = NDArray[np.float32] | VectorPairs | ScoredLists


@dataclass(frozen=True)
class Scores:
    """Scores of labels for images.

    Attributes
    ----------
    path : the file from which the scores were read
    ids, labels : image ids and label names, without duplicates
    values : the scores as a matrix, (images, labels) float32, or the vectors or lists that define the scores
    split : the hash of the split that the model was trained on; None if there is no `<name>.split.txt`
    """

    path: Path
    ids: list[str]
    labels: list[str]
    values: Values
    split: str | None


def companions(path: Path) -> list[Path]:
    """Return which of `<name>.ids.txt`, `<name>.labels.txt` and `<name>.split.txt` exist beside the file of scores."""
    beside = [path.with_suffix(f".{name}.txt") for name in ("ids", "labels", "split")]
    return [file for file in beside if file.is_file()]


def read_scores(path: Path) -> Scores:
    """Read a file of scores.

    Raises
    ------
    UserError
        - The file, or a text file that belongs to it, is missing or damaged.
        - An array or a column is missing, or has the wrong shape or type.
        - An id or a label is empty or, in an array or a text file, contains a control character.
        - An id or a label in an array or a text file occurs twice.
        - A table lists a pair twice.
        - A score (or a number in a vector) is not finite, or its absolute value is 1e30 or more.
    """
    if path.suffix not in SUFFIXES:
        raise UserError(f"{path}: scores must be in a file of one of the types {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise UserError(no_file(path))
    ids, labels, values = (_from_arrays if path.suffix in (".npy", ".npz") else _from_table)(path)
    record = path.with_suffix(".split.txt")
    stated = "".join(text_lines(record.read_bytes(), str(record))) if record.is_file() else None
    return Scores(path, ids, labels, values, stated)


def _from_arrays(path: Path) -> tuple[list[str], list[str], Values]:
    content = load(path, ARRAYS)
    if isinstance(content, dict):
        ids, labels = (_names(content, key, path) for key in ("ids", "labels"))
        if "scores" not in content and {"image_vectors", "label_vectors"} <= content.keys():
            image, label = (numbers_of(content[key], f"{path}: {key}") for key in ("image_vectors", "label_vectors"))
            _check_shape(image, (len(ids), label.shape[1]), f"{path}: image_vectors")
            _check_shape(label, (len(labels), label.shape[1]), f"{path}: label_vectors")
            return ids, labels, VectorPairs(image, label)
        if "scores" not in content:
            raise UserError(f"{path}: contains neither `scores`, nor `image_vectors` and `label_vectors`")
        content = content["scores"]
    else:
        for name in ("ids", "labels"):
            companion = path.with_suffix(f".{name}.txt")
            if not companion.is_file():
                raise UserError(f"{path}: the file {companion} is missing; it must list the {name}, one per line")
        ids, labels = (read_ids(path.with_suffix(f".{name}.txt")) for name in ("ids", "labels"))
    values = numbers_of(content, str(path))
    _check_shape(values, (len(ids), len(labels)), str(path))
    return ids, labels, values


def _names(content: dict[str, Any], key: str, path: Path) -> list[str]:
    """Return the text in the array `key` of an .npz file as a list."""
    array = content.get(key)
    if array is None or array.ndim != 1 or array.dtype.kind not in "UiuS":
        raise UserError(f"{path}: `{key}` is missing, or is not a list of strings")
    names = texts(array, f"{path}: {key}")
    check_names(names, f"{path}: {key}", key.removesuffix("s"), unit="entry")
    return names


def numbers_of(given: Any, where: str) -> NDArray[np.float32]:
    """Return a matrix of numbers as float32.

    Raises a `UserError` that begins with `where` if `given` is not a matrix of numbers, or if a number is NaN, infinite
    or too large.
    """
    array = np.asarray(given)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise UserError(f"{where}: must be a matrix of numbers, but has type {array.dtype} and shape {array.shape}")
    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(array, dtype=np.float32)
    for start, stop in even_chunks(len(numbers), ROWS_A_CHECK):
        wrong = np.flatnonzero(~(np.abs(numbers[start:stop]).max(axis=1, initial=0) < LARGEST))
        if len(wrong):
            row = start + wrong[0] + 1
            why = f"is not finite, or whose absolute value is {LARGEST:g} or more"
            raise UserError(f"{where}: row {row} contains a number that {why}")
    return numbers


def _check_shape(array: NDArray[Any], shape: tuple[int, int], where: str) -> None:
    if array.shape != shape:
        raise UserError(f"{where}: has shape {array.shape}, but must have shape ({shape[0]}, {shape[1]})")


def _from_table(path: Path) -> tuple[list[str], list[str], Values]:
    """Read a table in batches, because the names in a large table would take gigabytes as text."""
    numbers: dict[str, dict[str, int]] = {name: {} for name in COLUMNS}  # column -> its names and their numbers
    images, row = [], 0
    try:
        scan = partial(pl.scan_csv, infer_schema=False) if path.suffix == ".csv" else pl.scan_parquet
        table = scan(path, glob=False, low_memory=True)
        kind = _kind_of_numbers(table.collect_schema().names(), path)
        n_rows = table.select(pl.len()).collect().item()
        label, score = np.empty(n_rows, dtype=np.uint16), np.empty(n_rows, dtype=np.float32)
        for frame in table.select(*COLUMNS, kind).collect_batches(chunk_size=ROWS_A_BATCH, maintain_order=True):
            image, *values = _read_batch(frame, kind, numbers, f"{path}: row", row)
            images.append(_runs(image))
            if len(numbers["label"]) > SMALL:
                label = label.astype(np.int32, copy=False)
            label[row : row + len(frame)], score[row : row + len(frame)] = values
            row += len(frame)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UserError(f"{path}: not a readable table ({' '.join(str(error).split())[:200]})") from None
    ids, labels = (list(numbers[name]) for name in COLUMNS)
    lists = _by_image(images, label, score, len(ids))
    twice = _first_twice(lists, len(labels))
    if twice is not None:
        image_id, name = ids[twice[0]], labels[twice[1]]
        rows = " and ".join(map(str, _rows_of(table, image_id, name)[:2]))
        raise UserError(f"{path}: rows {rows}: {name!r} is listed more than once for image {image_id!r}")
    return ids, labels, lists


def _kind_of_numbers(columns: list[str], path: Path) -> str:
    """Return which of the columns `score` and `rank` a table has."""
    given = [name for name in ("score", "rank") if name in columns]
    if len(given) != 1 or not set(COLUMNS) <= set(columns):
        needed = "image, label, and either score or rank"
        raise UserError(f"{path}: has the columns {', '.join(columns[:9])}; needs {needed}")
    return given[0]


def _read_batch(
    frame: pl.DataFrame, kind: str, numbers: dict[str, dict[str, int]], where: str, before: int
) -> list[NDArray[Any]]:
    """Return the image numbers, the label numbers and the scores of some rows of a table.

    Each of these three arrays has one entry per row. If `kind` is `rank`, the score is the negative rank. `numbers`
    contains the number of each image id and of each label name; new ones are added. `before` is the number of earlier
    rows of the table. `where` names the table in error messages.
    """
    sign = 1 if kind == "score" else -1
    frame = frame.select(*map(_name, COLUMNS), pl.col(kind).cast(pl.Float32, strict=False).alias("score") * sign)
    wrong = (~(frame["score"].abs() < LARGEST).fill_null(False)).arg_true()
    if len(wrong):
        why = "is not a finite number, or its absolute value is 1e30 or more"
        raise UserError(f"{where} {before + wrong[0] + 1}: the {kind} {why}")
    columns = []
    for name, known in numbers.items():
        empty = (frame[name].fill_null("") == "").arg_true()
        if len(empty):
            raise UserError(f"{where} {before + empty[0] + 1}: the {name} is missing")
        names = frame[name].unique(maintain_order=True)
        own = [known.setdefault(each, len(known)) for each in names.to_list()]
        columns.append(frame[name].replace_strict(names, own, return_dtype=pl.Int32).to_numpy())
    return [*columns, frame["score"].to_numpy()]


def _name(column: str) -> pl.Expr:
    """Return the names in a column without leading and trailing spaces."""
    return pl.col(column).cast(pl.String).str.strip_chars()


def _runs(image: Ids) -> NDArray[np.int64]:
    """Return the image number and the length of each run of equal image numbers, (n_runs, 2)."""
    first = np.flatnonzero(np.diff(image, prepend=-1))
    return np.stack([image[first], np.diff(first, append=len(image))], axis=1).astype(np.int64)


def _by_image(
    images: list[NDArray[np.int64]], label: NDArray[Any], score: NDArray[np.float32], n_images: int
) -> ScoredLists:
    """Return the rows of a table, sorted by image; rows of the same image stay in the table's order.

    `images` contains the image numbers of all rows as runs, in the form that `_runs` returns. `label` and `score`
    contain the label number and the score of each row.
    """
    image, length = np.concatenate([np.empty((0, 2), dtype=np.int64), *images]).T
    if (np.diff(image) < 0).any():
        order = np.argsort(np.repeat(image.astype(np.int32), length), kind="stable")
        label, score = label[order], score[order]
    counts = np.zeros(n_images, dtype=np.int64)
    np.add.at(counts, image, length)
    return ScoredLists(np.concatenate([[0], np.cumsum(counts)]), label, score)


def _first_twice(lists: ScoredLists, n_labels: int) -> tuple[int, int] | None:
    """Return the numbers of an image and of a label that the image has more than once, or None if there are none."""
    n_images = len(lists.start) - 1
    step = max(1, n_images * ROWS_A_BATCH // max(1, len(lists.label)))
    for first in range(0, n_images, step):
        bounds = lists.start[first : first + step + 1]
        image = np.repeat(np.arange(first, first + len(bounds) - 1), np.diff(bounds))
        ordered = np.sort(image * n_labels + lists.label[bounds[0] : bounds[-1]])
        again = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(again):
            return int(again[0]) // n_labels, int(again[0]) % n_labels
    return None


def _rows_of(table: pl.LazyFrame, image: str, label: str) -> list[int]:
    """Return the numbers, counted from 1, of the rows that list a label for an image."""
    both = (_name("image") == image) & (_name("label") == label)
    return [row + 1 for row in table.select(both.arg_true()).collect().to_series().to_list()]
