"""Image features, dense or sparse, in one set or in several sets side by side, and their normalisation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from vsebench.core.errors import UserError
from vsebench.core.storage import features_file, map_array, read_arrays, write_array, write_arrays

Step = Literal["l2", "idf", "standard", "root"]
# (n, d) float32: a NumPy array, or a scipy.sparse.csr_array with sorted, unique column numbers in each row.
Rows: TypeAlias = Any
# Steps for all sets, or for each set by its name; a set that is not named gets no step.
Steps: TypeAlias = Sequence[Step] | Mapping[str, Sequence[Step]]

BLOCK = 4096  # rows to check at a time, so that a memory-mapped file is not read into memory as a whole
SMALLEST_DEVIATION = 1e-6  # a column with a smaller standard deviation is only centred
PREFIX = "normalise."  # begins the names of a normalisation's arrays in a model file
WHOLE = -1  # takes the place of a set's number if a step is applied to whole rows, with all sets


class Block(NamedTuple):
    """The name and columns of a set of features, in rows that contain all sets side by side.

    The set has the columns from `start` to `stop` - 1. The name is "" for a single set that was not given a name.
    """

    name: str
    start: int
    stop: int


@dataclass(frozen=True)
class Features:
    """Features of a data set's images, one row per image.

    Attributes
    ----------
    values : (n_images, d), finite numbers. Dense features are a float16 or float32 array in C order, in memory or
        memory-mapped. Sparse features are a scipy.sparse.csr_array of float32, whose column numbers strictly ascend in
        each row
    known : (n_images,) bool, whether each image has features; the rows of images without features are zeros
    named : the sets of features, in the order of their columns; empty if there is one set without a name

    A `UserError` is raised if a shape, a dtype or the order is not as above, or if a number is not finite. Its message
    begins with `where`, the name of the file that contains the features.
    """

    values: Any
    known: NDArray[np.bool_]
    where: InitVar[str] = "features"
    named: tuple[Block, ...] = ()

    def __post_init__(self, where: str) -> None:
        if self.values.ndim != 2 or self.values.shape[1] == 0:
            raise UserError(f"{where}: features have shape {self.values.shape}; give one row per image")
        if self.known.shape != (self.n_images,) or self.known.dtype != np.bool_:
            raise UserError(f"{where}: {self.n_images} rows of features, but {len(self.known)} images")
        allowed = [np.dtype(np.float32)] if self.is_sparse else [np.dtype(np.float16), np.dtype(np.float32)]
        if self.values.dtype not in allowed:
            raise UserError(f"{where}: features are {self.values.dtype}, not {' or '.join(map(str, allowed))}")
        if self.is_sparse:
            _check_columns(self.values, where)
        elif not self.values.flags.c_contiguous:
            raise UserError(f"{where}: features are not stored row by row; save them in C order")
        _check_finite(self.values, where)
        if self.named and self.named[-1].stop != self.dimensions:
            raise UserError(f"{where}: {self.dimensions} columns, but the feature sets need {self.named[-1].stop}")

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The sets of features and their columns; features without names count as one set with the name ""."""
        return self.named or (Block("", 0, self.dimensions),)

    @property
    def is_sparse(self) -> bool:
        return bool(sparse.issparse(self.values))

    @property
    def n_images(self) -> int:
        return int(self.values.shape[0])

    @property
    def dimensions(self) -> int:
        return int(self.values.shape[1])

    @property
    def file_name(self) -> str:
        """The name of these features' file in a processed data set, if they are a single set without a name."""
        return features_file("", self.is_sparse)

    def rows(self, images: NDArray[np.integer]) -> Rows:
        """Return the rows of some images; `images` are (m,) row numbers, in any order.

        Returns (m, d) float32: a new dense array, or a scipy.sparse.csr_array if the features are sparse.
        """
        chosen = self.values[images]
        return chosen if self.is_sparse else np.asarray(chosen, dtype=np.float32)

    def take(self, images: NDArray[np.integer]) -> "Features":
        """Return the features of some images; `images` are (m,) row numbers."""
        return Features(self.values[images], self.known[images], named=self.named)

    def of_only(self, known: NDArray[np.bool_]) -> "Features":
        """Return the features of only the images in a mask.

        `known` is the mask, (n_images,) bool. In the result, all other images have rows of zeros and no features.
        """
        known = known & self.known
        if (known == self.known).all():
            return self
        if self.is_sparse:
            values = self.values
            kept = known[_row_of_entry(values)]
            offsets = np.append(0, np.cumsum(np.where(known, np.diff(values.indptr), 0)))
            rows = csr(values.data[kept], values.indices[kept], offsets, values.shape)
            return Features(rows, known, named=self.named)
        return Features(np.where(known[:, np.newaxis], self.values, self.values.dtype.type(0)), known, named=self.named)


def side_by_side(sets: Mapping[str, Features]) -> Features:
    """Put sets of features of the same images side by side, in the order of `sets`.

    Parameters
    ----------
    sets : name -> the raw features of a set. All sets have the same images. A single set may have the name ""; it is
        returned as it is

    Returns
    -------
    Features whose rows have the columns of all sets; `named` states which columns belong to each set. Dense features
    are float16 if all sets are float16, and float32 otherwise. An image has features if it has features of every set.

    Raises
    ------
    UserError
        Some sets are dense and others sparse.
    """
    if list(sets) == [""]:
        return sets[""]
    features = list(sets.values())
    if len({part.is_sparse for part in features}) > 1:
        kinds = ", ".join(f"{name} is {'sparse' if part.is_sparse else 'dense'}" for name, part in sets.items())
        raise UserError(f"features: sets must be all dense or all sparse, but {kinds}; name sets of one kind")
    offsets = np.cumsum([0, *(part.dimensions for part in features)]).tolist()
    named = tuple(Block(name, start, stop) for name, (start, stop) in zip(sets, pairwise(offsets), strict=True))
    known = np.logical_and.reduce([part.known for part in features])
    if len(features) == 1:
        return replace(features[0], named=named)
    values = [part.of_only(known).values for part in features]
    return Features(_beside(values) if features[0].is_sparse else np.concatenate(values, axis=1), known, named=named)


def _beside(parts: Sequence[Any]) -> Any:
    """Put sparse rows side by side."""
    joined = sparse.hstack(parts, format="csr")
    return csr(joined.data, joined.indices, joined.indptr, joined.shape)


def csr(
    data: NDArray[np.float32], indices: NDArray[np.integer], offsets: NDArray[np.integer], shape: tuple[int, int]
) -> Any:
    """Return a scipy.sparse.csr_array of the given entries.

    Column numbers and offsets are int32 if there are fewer than 2^31 entries, rows and columns, and int64 otherwise.

    Parameters
    ----------
    data : (n_entries,) float32, the value of each entry
    indices : (n_entries,) column number of each entry
    offsets : (n_rows + 1,) index of the first entry of each row
    shape : (n_rows, d)

    Raises a `TypeError` if `indices` or `offsets` are not whole numbers, and a `ValueError` if the sizes of the arrays
    do not match. Only `Features` checks that column numbers are in range and ascend.
    """
    if indices.dtype.kind not in "iu" or offsets.dtype.kind not in "iu":
        raise TypeError("columns and offsets should be whole numbers")
    integer = np.int32 if max(len(data), *shape) < 2**31 else np.int64
    return sparse.csr_array((data, indices.astype(integer), offsets.astype(integer)), shape=shape)


def write_features(features: Features, path: Path) -> None:
    """Write dense features to a `.npy` file, or the arrays of sparse features to an `.npz` file.

    The `.npz` file holds `data` (float32), `indices` (column numbers, int32), `offsets` (int64) and `shape` (int64).
    """
    if not features.is_sparse:
        write_array(features.values, path)
        return
    values = features.values
    write_arrays(
        path,
        data=values.data,
        indices=values.indices.astype(np.int32),
        offsets=values.indptr.astype(np.int64),
        shape=np.array(values.shape, dtype=np.int64),
    )


def read_features(path: Path, known: NDArray[np.bool_]) -> Features:
    """Read a file written by `write_features`; dense features are memory-mapped.

    `known` is (n_images,) bool, the column `has_features` of the data set's images.parquet. A `UserError` is raised if
    the file is missing or damaged, or if it does not match the images.
    """
    if path.suffix == ".npz":
        arrays = read_arrays(path)
        try:
            shape = tuple(arrays["shape"].tolist())
            values = csr(arrays["data"], arrays["indices"], arrays["offsets"], shape)
        except (KeyError, ValueError, TypeError) as error:
            raise UserError(f"{path}: not a file of sparse features ({error}); delete it and run again") from None
        return Features(values, known, where=str(path))
    return Features(map_array(path), known, where=str(path))


@dataclass(frozen=True)
class Normalisation:
    """Normalisation steps, with the arrays that were estimated from the training images.

    The possible steps are:

    - `root` divides each row by its sum, then takes the square root of each number. Features must not be negative.
    - `idf` multiplies column j by ln((n + 1) / (1 + df_j)), where df_j of the n training images have a non-zero
      number in column j.
    - `standard` subtracts the mean of each column, and divides by the population standard deviation of the column. A
      deviation below 1e-6 is replaced by 1.
    - `l2` divides each row by its Euclidean length.

    `root`, `idf` and `l2` do not change a row of zeros. Sparse features stay sparse, so `standard` is refused for them.
    If several sets of features are side by side, each step is applied to the columns of one set or to whole rows.

    Attributes
    ----------
    steps : names of the steps, in the order of application
    learnt : for each step, name -> array. `idf` has the array `weight`; `standard` has `mean` and `deviation`; `root`
        and `l2` have no arrays. Each array is (d,) float32, where d is the number of columns that the step is applied
        to
    named : the sets of features, as in `Features.named`
    sets : for each step, the index in `named` of the set that the step is applied to, or `WHOLE` for whole rows; empty
        if `named` is empty
    """

    steps: tuple[Step, ...]
    learnt: tuple[Mapping[str, NDArray[np.float32]], ...]
    named: tuple[Block, ...] = ()
    sets: tuple[int, ...] = ()

    @classmethod
    def fit(
        cls, steps: Steps, features: Features, images: NDArray[np.integer], unit_length: bool = False
    ) -> "Normalisation":
        """Return a normalisation with the given steps, whose arrays are estimated from the training images.

        Parameters
        ----------
        steps : the same steps for every set of features, or the steps of each set by its name
        features : the features of all images of the data set
        images : the (m,) row numbers of the training images; images without features are ignored
        unit_length : whether to scale whole rows to unit length. If so, the step `l2` for whole rows is added, unless
            it is already the last step

        Raises a `UserError` if `standard` is used for sparse features, or if steps are given for a set that the
        features do not have. If there is a step `idf` or `standard`, a `UserError` is also raised if no training image
        has features, or if `root` is used for negative numbers.
        """
        planned = list(_planned(steps, features, unit_length))
        if features.is_sparse and "standard" in [step for step, _ in planned]:
            raise UserError("normalise: 'standard' would make sparse features dense; use 'root', 'idf' or 'l2'")
        numbers = tuple(number for _, number in planned) if features.named else ()
        empty = cls(tuple(step for step, _ in planned), tuple({} for _ in planned), features.named, numbers)
        if not {"idf", "standard"} & set(empty.steps):
            return empty
        images = images[features.known[images]]
        if len(images) == 0:
            raise UserError("normalise: no training image has features; remove the steps, or give features")
        rows = features.rows(images)
        learnt = []
        for step, block in empty._applied():
            learnt.append(_learn(step, _columns(rows, block)))
            rows = _apply_to(block, step, rows, learnt[-1])
        return replace(empty, learnt=tuple(learnt))

    def apply(self, rows: Rows) -> Rows:
        """Return normalised rows of features, (m, d) float32.

        `rows` is a float16 or float32 array of shape (m, d), or a scipy.sparse.csr_array of float32, and is not
        changed. The result is dense or sparse, like `rows`. If there are no steps, float32 rows are returned without a
        copy. A `UserError` is raised if the number of columns is wrong, or if `root` is used for negative numbers.
        """
        if self.named and rows.shape[1] != self.named[-1].stop:
            widths = ", ".join(f"{block.stop - block.start} of the set {block.name}" for block in self.named)
            raise UserError(f"features of {rows.shape[1]} numbers per image, but the model was fitted to {widths}")
        rows = rows.astype(np.float32, copy=False)
        for (step, block), arrays in zip(self._applied(), self.learnt, strict=True):
            rows = _apply_to(block, step, rows, arrays)
        return rows

    def with_standard(self, rows: Rows) -> "tuple[Normalisation, Rows]":
        """Add the step `standard` for whole rows, and return the new normalisation and the new rows.

        `rows` are dense rows that `apply` has returned. The step is fitted to them and then applied to them.
        """
        learnt = _learn("standard", rows)
        sets = (*self.sets, WHOLE) if self.named else ()
        added = replace(self, steps=(*self.steps, "standard"), learnt=(*self.learnt, learnt), sets=sets)
        return added, _apply("standard", rows, learnt)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that `from_arrays` reads from a model file; their names begin with "normalise."."""
        stored: dict[str, NDArray[Any]] = {f"{PREFIX}steps": np.array(self.steps, dtype="U8")}
        for number, arrays in enumerate(self.learnt):
            stored |= {f"{PREFIX}{number}.{name}": array for name, array in arrays.items()}
        if self.named:
            stored[f"{PREFIX}named"] = np.array([block.name for block in self.named])
            stored[f"{PREFIX}offsets"] = np.array([0, *(block.stop for block in self.named)], dtype=np.int64)
            stored[f"{PREFIX}sets"] = np.array(self.sets, dtype=np.int64)
        return stored

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], where: str) -> "Normalisation":
        """Build the normalisation from the arrays of a model file; arrays with other names are ignored.

        Raises a `UserError` if an array is missing, or has the wrong shape or dtype. Its message begins with `where`,
        the model file.
        """
        steps = arrays.get(f"{PREFIX}steps", np.array([0])).tolist()
        if not set(steps) <= set(get_args(Step)):
            known = f"the only steps are {', '.join(get_args(Step))}"
            raise UserError(f"{where}: {PREFIX}steps: missing or unknown ({steps}); {known}")
        learnt = []
        for number, step in enumerate(steps):
            names = {name: f"{PREFIX}{number}.{name}" for name in LEARNT.get(step, ())}
            for name in names.values():
                array = arrays.get(name, np.empty(0))
                if array.dtype != np.float32 or array.ndim != 1 or not np.isfinite(array).all():
                    raise UserError(f"{where}: {name}: missing, or not a vector of finite float32 numbers")
            learnt.append({name: arrays[stored] for name, stored in names.items()})
        named, sets = _sets_of(arrays, len(steps), where)
        of_set = sets or (WHOLE,) * len(steps)
        for number in set(of_set):
            of_number = [step_arrays for step_arrays, own in zip(learnt, of_set, strict=True) if own == number]
            if len({len(array) for step_arrays in of_number for array in step_arrays.values()}) > 1:
                raise UserError(f"{where}: arrays of {PREFIX}* differ in length")
        return cls(tuple(steps), tuple(learnt), named, sets)

    def _applied(self) -> Iterator[tuple[Step, Block | None]]:
        """Yield each step with the set that it is applied to, or None for whole rows."""
        for step, number in zip(self.steps, self.sets or (WHOLE,) * len(self.steps), strict=True):
            yield step, None if number == WHOLE else self.named[number]


def _planned(steps: Steps, features: Features, unit_length: bool) -> Iterator[tuple[Step, int]]:
    """Yield the steps for `features` in their order, each with the number of the set that it is applied to."""
    if not features.named:
        if isinstance(steps, Mapping):
            why = f"has steps for the sets {', '.join(steps)}, but the only set has no name"
            raise UserError(f"normalise: {why}; give one list of steps")
        yield from ((step, WHOLE) for step in steps)
        if unit_length and list(steps[-1:]) != ["l2"]:
            yield "l2", WHOLE
        return
    names = [block.name for block in features.named]
    unknown = [name for name in (steps if isinstance(steps, Mapping) else ()) if name not in names]
    if unknown:
        raise UserError(f"normalise: there are no features named {unknown[0]!r}; the names are {', '.join(names)}")
    for number, name in enumerate(names):
        yield from ((step, number) for step in _steps_for(steps, name))
    if unit_length and not (len(names) == 1 and list(_steps_for(steps, names[0])[-1:]) == ["l2"]):
        yield "l2", WHOLE


def _steps_for(steps: Steps, name: str) -> Sequence[Step]:
    return steps.get(name, ()) if isinstance(steps, Mapping) else steps


def _sets_of(arrays: Mapping[str, NDArray[Any]], n_steps: int, where: str) -> tuple[tuple[Block, ...], tuple[int, ...]]:
    """Return the attributes `named` and `sets` of a normalisation, given the arrays of a model file.

    Both are empty if the sets of features have no names.
    """
    if f"{PREFIX}named" not in arrays:
        return (), ()
    names = [str(name) for name in arrays[f"{PREFIX}named"].ravel()]
    offsets, sets = (arrays.get(f"{PREFIX}{name}", np.empty(0)) for name in ("offsets", "sets"))
    fits = offsets.shape == (len(names) + 1,) and sets.shape == (n_steps,)
    whole_numbers = offsets.dtype == sets.dtype == np.int64
    if not (fits and whole_numbers and len(names) and offsets[0] == 0 and (np.diff(offsets) > 0).all()):
        raise UserError(f"{where}: {PREFIX}offsets or {PREFIX}sets: missing, or they do not fit {PREFIX}named")
    if not ((sets >= WHOLE) & (sets < len(names))).all():
        raise UserError(f"{where}: {PREFIX}sets: {sets.tolist()}, but there are only {len(names)} sets of features")
    blocks = (Block(name, start, stop) for name, (start, stop) in zip(names, pairwise(offsets.tolist()), strict=True))
    return tuple(blocks), tuple(sets.tolist())


def _columns(rows: Rows, block: Block | None) -> Rows:
    return rows if block is None else rows[:, block.start : block.stop]


def _apply_to(block: Block | None, step: Step, rows: Rows, learnt: Mapping[str, NDArray[np.float32]]) -> Rows:
    """Apply a step to the columns of a set, or to whole rows; the array `rows` is not changed."""
    changed = _apply(step, _columns(rows, block), learnt)
    if block is None or changed.shape == rows.shape:
        return changed
    if sparse.issparse(rows):
        return _beside([rows[:, : block.start], changed, rows[:, block.stop :]])
    rows = rows.copy()
    rows[:, block.start : block.stop] = changed
    return rows


LEARNT: dict[Step, tuple[str, ...]] = {"idf": ("weight",), "standard": ("mean", "deviation")}


def _learn(step: Step, rows: Rows) -> dict[str, NDArray[np.float32]]:
    if step == "idf":
        columns = rows.indices[rows.data != 0] if sparse.issparse(rows) else np.nonzero(rows)[1]
        n_images, dimensions = rows.shape
        weight = np.log((n_images + 1) / (1 + np.bincount(columns, minlength=dimensions)))
        return {"weight": weight.astype(np.float32)}
    if step == "standard":
        deviation = rows.std(axis=0, dtype=np.float64)
        deviation[deviation < SMALLEST_DEVIATION] = 1
        mean = rows.mean(axis=0, dtype=np.float64)
        return {"mean": mean.astype(np.float32), "deviation": deviation.astype(np.float32)}
    return {}


def _apply(step: Step, rows: Rows, learnt: Mapping[str, NDArray[np.float32]]) -> Rows:
    if any(len(array) != rows.shape[1] for array in learnt.values()):
        fitted = len(next(iter(learnt.values())))
        raise UserError(f"features of {rows.shape[1]} numbers per image, but {step!r} was fitted to {fitted}")
    if step == "idf":
        weight = learnt["weight"]
        return _with_numbers(rows, rows.data * weight[rows.indices]) if sparse.issparse(rows) else rows * weight
    if step == "standard":
        return (rows - learnt["mean"]) / learnt["deviation"]
    numbers = rows.data if sparse.issparse(rows) else rows
    if step == "l2":
        return _scale_rows(rows, np.sqrt(_row_sums(rows, numbers.astype(np.float64) ** 2)))
    if (numbers < 0).any():
        raise UserError("normalise: 'root' takes square roots, but some features are negative; remove 'root'")
    shares = _scale_rows(rows, _row_sums(rows, numbers))
    return _with_numbers(shares, np.sqrt(shares.data if sparse.issparse(shares) else shares))


def _row_sums(rows: Rows, numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return the sum of `numbers` over each row, (n_rows,).

    `numbers` contains one number for each stored number of `rows`, in the same order.
    """
    if not sparse.issparse(rows):
        return np.asarray(numbers.sum(axis=1, dtype=np.float64))
    return np.asarray(np.bincount(_row_of_entry(rows), numbers, minlength=rows.shape[0]), dtype=np.float64)


def _scale_rows(rows: Rows, divisors: NDArray[np.float64]) -> Rows:
    """Divide row i by `divisors[i]`; a row with the divisor 0 is not changed."""
    divisors = np.where(divisors == 0, 1, divisors)
    if sparse.issparse(rows):
        return _with_numbers(rows, rows.data / np.repeat(divisors, np.diff(rows.indptr)))
    return (rows / divisors[:, None]).astype(np.float32)


def _with_numbers(rows: Rows, numbers: NDArray[Any]) -> Rows:
    """Return `rows` with its stored numbers replaced by `numbers`, as float32."""
    numbers = numbers.astype(np.float32, copy=False)
    if not sparse.issparse(rows):
        return numbers
    return sparse.csr_array((numbers, rows.indices, rows.indptr), shape=rows.shape)


def _check_columns(values: Any, where: str) -> None:
    """Check that offsets and column numbers of a CSR array are in range, and that columns ascend within each row."""
    columns, offsets = values.indices, values.indptr
    whole = offsets[0] == 0 and offsets[-1] == len(columns) == len(values.data) and (np.diff(offsets) >= 0).all()
    in_range = values.shape[1] < 2**31 and ((columns >= 0) & (columns < values.shape[1])).all()
    if not (whole and in_range):
        raise UserError(f"{where}: offsets or column numbers of the sparse features are out of range")
    rows = _row_of_entry(values)
    wrong = np.flatnonzero(np.diff(rows * values.shape[1] + columns) <= 0)
    if len(wrong):
        row = rows[wrong[0]] + 1
        raise UserError(f"{where}: row {row}: column numbers of sparse features must be ascending, without repeats")


def _check_finite(values: Any, where: str) -> None:
    if sparse.issparse(values):
        wrong = _row_of_entry(values)[~np.isfinite(values.data)]
        if len(wrong):
            raise UserError(f"{where}: row {wrong[0] + 1}: contains a number that is not finite")
        return
    for start in range(0, len(values), BLOCK):
        wrong = np.flatnonzero(~np.isfinite(values[start : start + BLOCK]).all(axis=1))
        if len(wrong):
            raise UserError(f"{where}: row {start + wrong[0] + 1}: contains a number that is not finite")


def _row_of_entry(rows: Rows) -> NDArray[np.int64]:
    """Return the row number of each stored number of a CSR array, (n_entries,) int64."""
    return np.repeat(np.arange(rows.shape[0], dtype=np.int64), np.diff(rows.indptr))
