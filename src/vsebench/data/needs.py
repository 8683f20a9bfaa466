"""The inputs that a method can need besides training labels: their files, and why they may be missing.

Each of these inputs has a class, called a need. The classes determine which methods run on a task (a data set under a
protocol), which files the workflow's jobs read, which options the stages have, and which extras a `Problem` contains.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.schemas import IMAGES, SPLIT_IMAGES, SPLIT_LABELS
from vsebench.core.storage import read_arrays, read_json, read_parquet, read_table, set_of
from vsebench.data.problem import HeldOut, LabelMatrix, Mask, Problem, WordVectors

if TYPE_CHECKING:  # importing features loads SciPy, which most fits do not need
    from vsebench.data.features import Features

Value = TypeVar("Value")
Truth = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Names:
    """The names of a data set's images and labels, in the order of their numbers.

    Attributes
    ----------
    images : the ids of the images
    labels : the names of the labels
    """

    images: list[str]
    labels: list[str]


@dataclass(frozen=True)
class Parts:
    """The test images of a split and the labels to rank for them, but not which labels are held out.

    Attributes
    ----------
    hash : the hash of the split; None if it is unknown
    test : (n_images,) bool, the test images
    candidates : (n_labels,) bool, the labels that are ranked for the test images
    """

    hash: str | None
    test: Mask
    candidates: Mask


@dataclass(frozen=True)
class TaskData:
    """Properties of a task's data that are known before the data are read.

    Attributes
    ----------
    processed : folder of the processed data to split, either of one data set or of two joined data sets
    tested : folder of the processed data set to test on
    features : name of a set of image features -> its file in `processed`, for each set that all data sets of the task
        have; a single set may have the name ""
    has_word_vectors : whether a source of word vectors is configured
    is_joined : whether the model is trained on one data set and tested on another
    new_images : whether no test image is a training image
    unseen : whether models are trained without some of the tested labels
    only_unseen : whether models are trained without any of the tested labels
    simulated : the needs (keys of `NEEDS`) that the simulator of the data provides; empty for real data
    """

    processed: str
    tested: str
    features: Mapping[str, str]
    has_word_vectors: bool
    is_joined: bool
    new_images: bool
    unseen: bool
    only_unseen: bool
    simulated: frozenset[str]


class Need:
    """An input that a method can need, and that a task may lack.

    Attributes
    ----------
    key : name of the need in `Fitter.needs`
    missing_reason : why a method that needs this input is left out on a task that lacks it
    """

    key: ClassVar[str]
    missing_reason: ClassVar[str]

    def is_provided(self, data: TaskData) -> bool:
        """Return whether a task has this input.

        Unless a subclass overrides this method, only tasks with simulated data can have the input.
        """
        return self.key in data.simulated

    def files(self, data: TaskData, split: str) -> list[str]:
        """Return the files that a job has to read for this need; `split` is the folder of the split."""
        return []


class FileNeed(Need, ABC, Generic[Value]):
    """A need that is read from a file, which an option of the stages names.

    Attributes
    ----------
    description : the content of the file, for help texts and errors
    nargs : "+" if the option can name several files
    """

    description: ClassVar[str]
    nargs: ClassVar[str | None] = None

    @property
    def option(self) -> str:
        return f"--{self.key.replace('_', '-')}"

    @abstractmethod
    def load(self, path: Any) -> Value:
        """Read this input from the file `path`, or from a list of files if `nargs` is set."""

    def option_value(self, data: TaskData) -> str:
        """Return the value of the option: the need's first file."""
        return self.files(data, "")[0]

    def load_named(self, path: Any) -> Value:
        """Read this input from the file or files `path`; raise a `UserError` if `path` is None."""
        if path is None:
            raise UserError(f"{self.option}: missing; this method needs {self.description}")
        return self.load(path)

    def example(self, labels: LabelMatrix) -> Value | None:
        """Return a small input that fits a label matrix, or None if there is no example.

        Methods are fitted to examples in order to compile kernels in advance.
        """
        return None

    def of(self, problem: Problem) -> Value:
        """Return this input from a problem; raise a `ValueError` if the problem lacks the input."""
        if self.key not in problem.extras:
            raise ValueError(f"{self.key}: missing in the problem; this method needs {self.description}")
        return cast(Value, problem.extras[self.key])


class FeaturesNeed(FileNeed["Features"]):
    """The image features, which methods read as `Problem.features`.

    Each set of features has its own file.
    """

    key = "features"
    missing_reason = "the data set has no image features"
    description = "the image features of the data set, from one file for each set of features"
    nargs = "+"

    def is_provided(self, data: TaskData) -> bool:
        return bool(data.features)

    def files(self, data: TaskData, split: str) -> list[str]:
        return [*(f"{data.processed}/{name}" for name in data.features.values()), f"{data.processed}/images.parquet"]

    def option_value(self, data: TaskData) -> str:
        return " ".join(f"{data.processed}/{name}" for name in data.features.values())

    def load(self, path: Path | Sequence[Path]) -> "Features":
        """Read one set of features from its file, or several sets from their files.

        The columns of several sets are put side by side.
        """
        from vsebench.data.features import read_features, side_by_side  # SciPy, which most jobs do not need

        paths = [path] if isinstance(path, Path) else path
        known = read_table(paths[0].parent / "images.parquet", IMAGES)["has_features"].to_numpy()
        return side_by_side({set_of(file): read_features(file, known) for file in paths})

    def example(self, labels: LabelMatrix) -> "Features":
        from vsebench.data.features import Features

        return Features(np.eye(labels.n_rows, 3, dtype=np.float32), np.ones(labels.n_rows, dtype=np.bool_))


class WordVectorsNeed(FileNeed[WordVectors]):
    """The word vectors of the labels, which methods read as `Problem.word_vectors`.

    They are stored in word_vectors.npz.
    """

    key = "word_vectors"
    missing_reason = "no word vectors are configured for this data set"
    description = "the word vectors of the data set's labels"

    def is_provided(self, data: TaskData) -> bool:
        return data.has_word_vectors

    def files(self, data: TaskData, split: str) -> list[str]:
        return [f"{data.processed}/word_vectors.npz"]

    def load(self, path: Path) -> WordVectors:
        arrays = read_arrays(path)
        try:
            return WordVectors(arrays["vectors"], arrays["known"])
        except (KeyError, ValueError) as error:
            raise UserError(f"{path}: not a file of word vectors ({error}); delete it and run again") from None

    def example(self, labels: LabelMatrix) -> WordVectors:
        return WordVectors(np.eye(labels.n_labels, dtype=np.float32), np.ones(labels.n_labels, dtype=np.bool_))


class TruthNeed(FileNeed[Truth]):
    """The distribution from which a simulator drew labels; only oracles use this input.

    `formats.annotations.RawAnnotations` describes the arrays.
    """

    key = "truth"
    missing_reason = "true label probabilities exist only for simulated data"
    description = "the truth.npz of a simulated data set"

    def files(self, data: TaskData, split: str) -> list[str]:
        return [f"{data.tested}/truth.npz"]

    def load(self, path: Path) -> Truth:
        return read_arrays(path)


class TreeNeed(Need):
    """The tree of labels that a simulator used to draw the labels of images.

    The file of the need `truth` contains the tree.
    """

    key = "tree"
    missing_reason = "the labels were not drawn from a tree of labels"


class TestLabelsNeed(Need):
    """The test labels, which are read together with the split.

    Only an oracle that ranks unseen labels uses this input.
    """

    __test__ = False  # not a class of tests
    key = "test_labels"
    missing_reason = "all labels are trained, but this oracle ranks unseen labels"

    def is_provided(self, data: TaskData) -> bool:
        return data.unseen

    def files(self, data: TaskData, split: str) -> list[str]:
        return [f"{split}/test.parquet"]

    def of(self, problem: Problem) -> HeldOut:
        """Return the test images of a problem with their labels."""
        return cast(HeldOut, problem.extras[self.key])


class GivenLabelsNeed(FileNeed[LabelMatrix]):
    """The labels that images of the data set to test on have in the data set to train on.

    They are stored in given.parquet.
    """

    key = "given_labels"
    missing_reason = "no other data set gives labels (such as user tags) to the test images"
    description = "the labels that another data set gives to the test images"

    def is_provided(self, data: TaskData) -> bool:
        return data.is_joined

    def files(self, data: TaskData, split: str) -> list[str]:
        return [f"{data.processed}/given.parquet"]

    def load(self, path: Path) -> LabelMatrix:
        images, labels = (read_parquet(path.parent / f"{name}.parquet") for name in ("images", "labels"))
        return LabelMatrix.from_pairs(read_parquet(path), images.height, labels.height)

    def of(self, problem: Problem) -> LabelMatrix:
        given, n_images = super().of(problem), problem.training.labels.n_rows
        if given.n_rows != n_images:
            raise ValueError(f"given_labels: {given.n_rows} rows, but {n_images} images; give one row per image")
        return given


class NamesNeed(FileNeed[Names]):
    """The image ids and label names, from images.parquet and labels.parquet."""

    key = "names"
    missing_reason = "the names of the images and labels are unknown"
    description = "the labels.parquet of the data set, in the same folder as images.parquet"

    def is_provided(self, data: TaskData) -> bool:
        return True

    def files(self, data: TaskData, split: str) -> list[str]:
        return [f"{data.processed}/labels.parquet", f"{data.processed}/images.parquet"]

    def load(self, path: Path) -> Names:
        images, labels = read_parquet(path.parent / "images.parquet"), read_parquet(path)
        return Names(images["id"].to_list(), labels["name"].to_list())


class PartsNeed(Need):
    """The test images and candidate labels of a split, but not the held-out labels.

    This input is read together with the split.
    """

    key = "parts"
    missing_reason = "the test images of the split are unknown"

    def is_provided(self, data: TaskData) -> bool:
        return True

    def of(self, problem: Problem) -> Parts:
        """Return the test images and candidate labels that a problem contains as an extra input."""
        return cast(Parts, problem.extras[self.key])

    def load(self, split: Path) -> Parts:
        """Read the test images and candidate labels from `split`, the folder of a split."""
        images = read_table(split / "images.parquet", SPLIT_IMAGES)["test"].to_numpy()
        labels = read_table(split / "labels.parquet", SPLIT_LABELS)["test"].to_numpy()
        return Parts(read_json(split / "split.json")["hash"], images, labels)


class KnownLabelsNeed(Need):
    """A property of a task: its test images also have labels that models are trained on."""

    key = "known_labels"
    missing_reason = "the test images are new, and this method knows an image only by its labels"

    def is_provided(self, data: TaskData) -> bool:
        return not data.new_images


class TrainedLabelsNeed(Need):
    """A property of a task: models are trained on some tested labels.

    Methods that cannot rank unseen labels have this need.
    """

    key = "trained_labels"
    missing_reason = "the test labels are never trained, and this method knows a label only by its training images"

    def is_provided(self, data: TaskData) -> bool:
        return not data.only_unseen


FEATURES, WORD_VECTORS, TRUTH, TEST_LABELS, GIVEN_LABELS, NAMES, PARTS = (
    FeaturesNeed(), WordVectorsNeed(), TruthNeed(), TestLabelsNeed(), GivenLabelsNeed(), NamesNeed(), PartsNeed(),
)  # fmt: skip
ALL = (
    FEATURES, WORD_VECTORS, TRUTH, TreeNeed(), TEST_LABELS, GIVEN_LABELS, NAMES, PARTS, KnownLabelsNeed(),
    TrainedLabelsNeed(),
)  # fmt: skip
NEEDS: dict[str, Need] = {need.key: need for need in ALL}
FILE_NEEDS: tuple[FileNeed[Any], ...] = tuple(need for need in NEEDS.values() if isinstance(need, FileNeed))


def provided(data: TaskData) -> set[str]:
    """Return the keys of the needs that a task provides, including those that only its simulator provides."""
    return {key for key, need in NEEDS.items() if need.is_provided(data)} | data.simulated


def load_needs(needs: Collection[str], paths: Mapping[str, Any], test: HeldOut | None = None) -> dict[str, Any]:
    """Read the inputs that a method needs, and return them as arguments of `Problem`.

    The result has the keys `features`, `word_vectors` and `extras`. `paths` maps the key of each need to the file or
    files that its option names, and the key `split` to the folder of the split. `test` contains the test images with
    their labels, for an oracle that ranks unseen labels.
    """
    loaded = {need.key: need.load_named(paths.get(need.key)) for need in FILE_NEEDS if need.key in needs}
    if TEST_LABELS.key in needs:
        loaded[TEST_LABELS.key] = test
    if PARTS.key in needs:
        loaded[PARTS.key] = PARTS.load(cast(Path, paths["split"]))
    return of_problem(loaded)


def examples(needs: frozenset[str], labels: LabelMatrix) -> dict[str, Any] | None:
    """Return small inputs that fit a label matrix, as arguments of `Problem`; None if a need has no example.

    The result has the keys `features`, `word_vectors` and `extras`.
    """
    small = {need.key: need.example(labels) for need in FILE_NEEDS if need.key in needs}
    missing = needs & {TEST_LABELS.key, PARTS.key} or any(value is None for value in small.values())
    return None if missing else of_problem(small)


def of_problem(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a `Problem` with the given `inputs`, which map the key of each need to an input."""
    features, word_vectors = inputs.pop("features", None), inputs.pop("word_vectors", None)
    return {"features": features, "word_vectors": word_vectors, "extras": inputs}
