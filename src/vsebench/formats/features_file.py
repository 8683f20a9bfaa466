"""Read image features from a file of their own, such as a user's file, rather than from the files of annotations.

    .npy       an array (rows, dimensions) of numbers
    .npz       a sparse matrix (rows, dimensions) in CSR format, as scipy.sparse.save_npz writes it
    .parquet   a column of image ids (text or whole numbers), and either columns of numbers, or a single column of
               lists of numbers, all of the same length
    .csv       a header, a column of image ids, and columns of numbers

Rows are matched to images by image id. A .parquet or .csv file has a column of ids. For the other formats, a text file
can list one id per line, in the order of the rows; without this file, the rows must be in the order of the data set's
images. An image without a row has no features. Rows of images that are not in the data set are counted and left out.
float16 in a .npy file stays float16; all other numbers become float32.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from vsebench.config.dataset import FEATURES, TABLES, FeaturesFile
from vsebench.core.errors import UserError, one_line
from vsebench.data.features import Features, csr
from vsebench.formats.annotations import Dropped, check_names
from vsebench.formats.download.archives import text_lines
from vsebench.formats.numpy_files import load
from vsebench.formats.own_files import find

CSR = ("format", "shape", "data", "indices", "indptr")  # the arrays of a sparse matrix
SAVE_SPARSE = "save a CSR matrix with scipy.sparse.save_npz, or dense features as .npy"


def read_features_file(raw: Path, source: FeaturesFile, images: Sequence[str]) -> tuple[Features, list[Dropped]]:
    """Read the features of a data set's images.

    `raw` is the folder of downloads. `images` contains the ids of the images. Returns the features in the order of
    `images`, and the number of rows that were left out because their images are not in the data set.

    A `UserError` is raised in these cases:

    - A file is missing or damaged.
    - A shape or type is wrong, or a number is not finite.
    - An id is missing or occurs twice.
    - There are more or fewer ids than rows.
    - No id belongs to an image of the data set.
    """
    assert source.file is not None  # even features that a network computes are in a file by now
    path = find(raw, source.file)
    row_ids, values = read_rows(path, find(raw, source.ids) if source.ids else None, source.image)
    ids = list(images) if row_ids is None else row_ids
    if values.ndim == 2 and len(ids) != values.shape[0]:
        in_data_set = "images in the data set; list the image ids of the rows in a text file (`ids`)"
        needed = f"ids in {source.ids}; list one id per row" if source.ids else in_data_set
        raise UserError(f"{path}: {values.shape[0]} rows of features, but {len(ids)} {needed}")
    Features(values, np.ones(len(ids), dtype=bool), where=str(path))  # check all rows before some are left out
    return arrange(values, ids, images, path)


def read_rows(path: Path, ids: Path | None, column: str) -> tuple[list[str] | None, Any]:
    """Read a file of features; return the image ids of the rows, and the rows.

    The ids of a table are in its column `column`. The ids of an array or a matrix are in the text file `ids`. If there
    is no such file, None is returned instead of the ids.
    """
    if path.suffix not in FEATURES:
        raise UserError(f"{path}: features must be in a file of one of the types {', '.join(FEATURES)}")
    if path.suffix in TABLES:
        return read_table(path, column)
    values = read_csr(path) if path.suffix == ".npz" else read_npy(path)
    return None if ids is None else read_ids(ids), values


def arrange(values: Any, ids: list[str], images: Sequence[str], path: Path) -> tuple[Features, list[Dropped]]:
    """Put the rows of features into the order of the images.

    `values` contains the rows, and `ids` contains the image id of each row. Returns the features in the order of
    `images`, and the number of rows that were left out because their ids are not in `images`.
    """
    row_of = {image: row for row, image in enumerate(ids)}
    rows = np.array([row_of.get(image, -1) for image in images], dtype=np.int64)
    known = rows >= 0
    if not known.any():
        examples = f"the file's ids look like {ids[:1]}, the data set's ids like {list(images[:1])}"
        raise UserError(f"{path}: no row belongs to an image of the data set; {examples}")
    extra = len(ids) - int(known.sum())
    dropped = [Dropped("rows of features", extra, "their images are not in the data set")] if extra else []
    if sparse.issparse(values):
        n_rows, dimensions = values.shape
        with_empty_row = csr(
            values.data, values.indices, np.append(values.indptr, len(values.data)), (n_rows + 1, dimensions)
        )
        arranged = with_empty_row[np.where(known, rows, n_rows)]
    else:
        arranged = np.zeros((len(images), values.shape[1]), dtype=values.dtype)
        arranged[known] = values[rows[known]]
    return Features(arranged, known, where=str(path)), dropped


def read_npy(path: Path) -> NDArray[Any]:
    """Read an array of numbers."""
    values = load(path)
    if isinstance(values, dict):
        raise UserError(f"{path}: is an archive of arrays (.npz), not a single array; rename it to .npz")
    return np.ascontiguousarray(as_float(values, path))


def as_float(values: NDArray[Any], path: Path) -> NDArray[Any]:
    """Return float16 numbers as float16 and all other numbers as float32, in this machine's byte order."""
    if values.dtype.kind not in "fiu":
        raise UserError(f"{path}: features should be numbers, but are {values.dtype}")
    half = values.dtype.kind == "f" and values.dtype.itemsize == 2
    with np.errstate(over="ignore"):  # numbers that are too big for float32 become infinite, which is refused later
        return values.astype(np.float16 if half else np.float32, copy=False)


def read_csr(path: Path) -> Any:
    """Read a sparse matrix in the layout of scipy.sparse.save_npz."""
    arrays = load(path, CSR)
    if not isinstance(arrays, dict):
        raise UserError(f"{path}: contains an array, not a sparse matrix; {SAVE_SPARSE}")
    try:
        if arrays["format"].item() != b"csr":
            raise UserError(f"{path}: the sparse matrix is not in CSR format; {SAVE_SPARSE}")
        data = as_float(arrays["data"], path).astype(np.float32)
        n_rows, dimensions = (int(length) for length in arrays["shape"])
        return csr(data, arrays["indices"], arrays["indptr"], (n_rows, dimensions))
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise UserError(f"{path}: not a sparse matrix ({error}); {SAVE_SPARSE}") from None


def read_ids(path: Path) -> list[str]:
    """Read one image id per line."""
    ids = text_lines(path.read_bytes(), str(path))
    check_names(ids, str(path), "image")
    return ids


def read_table(path: Path, column: str) -> tuple[list[str], NDArray[np.float32]]:
    """Read the ids and the features of a table."""
    is_csv = path.suffix == ".csv"
    try:
        frame = pl.read_csv(path, infer_schema=False, glob=False) if is_csv else pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UserError(f"{path}: not a readable {path.suffix} file ({one_line(error)})") from None
    if column not in frame.columns:
        named = ", ".join(frame.columns[:9]) + (", ..." if len(frame.columns) > 9 else "")
        raise UserError(f"{path}: no column {column!r} with image ids; the columns are {named}")
    names = frame[column]
    if not (names.dtype.is_integer() or names.dtype == pl.String):
        raise UserError(f"{path}: the column {column!r} is {names.dtype}; convert it to text or whole numbers")
    ids = ["" if image is None else str(image).strip() for image in names]
    check_names(ids, str(path), "image", unit="row")
    values = frame.drop(column)
    return ids, numbers_of(numbers_from_text(values, path) if is_csv else values, path)


def numbers_from_text(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return the numbers in the cells of a CSV table; an empty cell stays empty."""
    numbers = frame.select(pl.all().str.strip_chars().cast(pl.Float32, strict=False))
    for text, column in zip(frame, numbers, strict=True):
        wrong = (text.is_not_null() & column.is_null()).arg_true()
        if len(wrong):
            cell = f"row {wrong[0] + 1}: the column {text.name!r} is {text[wrong[0]][:40]!r}"
            raise UserError(f"{path}: {cell}, which is not a number")
    return numbers


def numbers_of(frame: pl.DataFrame, path: Path) -> NDArray[np.float32]:
    """Return the features in a table that has one column per feature, or a single column of lists."""
    if len(frame.columns) == 1 and isinstance(frame.dtypes[0], pl.List | pl.Array):
        lists = frame.to_series().cast(pl.List(frame.dtypes[0].inner))
        lengths = lists.list.len()
        wrong = lengths.ne_missing(lengths[0]).arg_true()
        if lengths[0] is None or len(wrong):
            row = int(wrong[0]) if len(wrong) else 0
            found = f"row {row + 1}: has {lengths[row]} features, but row 1 has {lengths[0]}"
            raise UserError(f"{path}: {found}; every row must have the same number")
        flat = numbers_of(lists.explode().to_frame(), path) if lengths[0] else np.empty(0, dtype=np.float32)
        return flat.reshape(len(lists), lengths[0])
    for name, dtype in frame.schema.items():
        if not dtype.is_numeric():
            raise UserError(f"{path}: the column {name!r} is {dtype}; convert it to numbers")
        if frame[name].null_count():
            raise UserError(f"{path}: the column {name!r} has empty cells; fill them or remove the rows")
    return np.ascontiguousarray(frame.cast(pl.Float32).to_numpy())
