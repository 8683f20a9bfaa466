"""What a method can need besides the labels that it learns from: where it lies, how it is read, why it may be missing.

A need is one class here. From it follow which methods run at a place, what the jobs of the workflow read, the options
of the command line, and what a method finds in its `Problem`.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.storage import read_arrays, read_parquet
from vsebench.data.problem import HeldOut, LabelMatrix, Problem, Words

if TYPE_CHECKING:  # features need SciPy, which most fits do without
    from vsebench.data.features import Features

Value = TypeVar("Value")
Truth = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class PlaceData:
    """What is known of a place's data before it is read.

    Attributes
    ----------
    processed : the folder of the processed data that is split: the data set's, or that of two data sets joined
    tested : the folder of the processed data set that is tested on
    features_name : the file of features in `processed`; None if not all of its images come from sets with features
    has_words : whether a source of word vectors is named
    is_joined : whether another data set is trained on
    new_images : whether no test image is trained on
    unseen : whether some tested labels are never trained
    only_unseen : whether no tested label is ever trained
    simulated : what the simulator of the data knows of it, keys of `NEEDS`; empty for real data
    """

    processed: str
    tested: str
    features_name: str | None
    has_words: bool
    is_joined: bool
    new_images: bool
    unseen: bool
    only_unseen: bool
    simulated: frozenset[str]


class Need(ABC):
    """Something that a method can need, which a place may lack.

    Attributes
    ----------
    key : its name in `Fitter.needs`
    missing_reason : why a method is left out at a place that lacks it
    """

    key: ClassVar[str]
    missing_reason: ClassVar[str]

    @abstractmethod
    def is_provided(self, data: PlaceData) -> bool:
        """Return whether a place has it."""

    def files(self, data: PlaceData, split: str) -> list[str]:
        """Return the files that a job reads for it; `split` is the folder of the split."""
        return []


class FileNeed(Need, Generic[Value]):
    """A need that is read from a file, which an option of the stages names.

    Attributes
    ----------
    description : what the file holds, for the help and for errors
    """

    description: ClassVar[str]

    @property
    def option(self) -> str:
        return f"--{self.key.replace('_', '-')}"

    @abstractmethod
    def load(self, path: Path) -> Value:
        """Read the file."""

    def load_named(self, path: Path | None) -> Value:
        """Read the file that a method needs; without one, raise a `UserError`."""
        if path is None:
            raise UserError(f"{self.option}: this method needs {self.description}")
        return self.load(path)

    def of(self, problem: Problem) -> Value:
        """Return what a problem has of it; a problem without it raises a `ValueError`."""
        if self.key not in problem.extras:
            raise ValueError(f"{self.key}: the problem has none; this method needs {self.description}")
        return cast(Value, problem.extras[self.key])


class FeaturesNeed(FileNeed["Features"]):
    """Features of the images, features.npy or features.npz of the processed folder; also `Problem.features`."""

    key = "features"
    missing_reason = "the data set has no image features"
    description = "the image features of its data set"

    def is_provided(self, data: PlaceData) -> bool:
        return data.features_name is not None

    def files(self, data: PlaceData, split: str) -> list[str]:
        return [f"{data.processed}/{data.features_name}", f"{data.processed}/images.parquet"]

    def load(self, path: Path) -> "Features":
        from vsebench.data.features import read_features  # with SciPy, which most jobs do without

        images = read_parquet(path.parent / "images.parquet")
        return read_features(path, images["has_features"].to_numpy())


class WordsNeed(FileNeed[Words]):
    """Word vectors of the labels, words.npz of the processed folder; also `Problem.words`."""

    key = "words"
    missing_reason = "nothing says where the word vectors of the data set's labels are from"
    description = "the word vectors of its data set's labels"

    def is_provided(self, data: PlaceData) -> bool:
        return data.has_words

    def files(self, data: PlaceData, split: str) -> list[str]:
        return [f"{data.processed}/words.npz"]

    def load(self, path: Path) -> Words:
        arrays = read_arrays(path)
        try:
            return Words(arrays["vectors"], arrays["known"])
        except (KeyError, ValueError) as error:
            raise UserError(f"{path}: no word vectors of labels ({error}); delete it and run again") from None


class TruthNeed(FileNeed[Truth]):
    """What a simulator drew the labels from, as in `formats.annotations.RawAnnotations`, for an oracle."""

    key = "truth"
    missing_reason = "the data is real, so nobody knows the probabilities that its labels were drawn from"
    description = "the truth.npz of a simulated data set"

    def is_provided(self, data: PlaceData) -> bool:
        return self.key in data.simulated

    def files(self, data: PlaceData, split: str) -> list[str]:
        return [f"{data.tested}/truth.npz"]

    def load(self, path: Path) -> Truth:
        return read_arrays(path)


class TreeNeed(Need):
    """Labels that were drawn from a tree; the tree itself is in the truth."""

    key = "tree"
    missing_reason = "its labels were not drawn from a tree of labels"

    def is_provided(self, data: PlaceData) -> bool:
        return self.key in data.simulated


class TestLabelsNeed(Need):
    """Test labels that are never trained, for an oracle of unseen labels. They are read with the split."""

    __test__ = False  # not a class of tests
    key = "test_labels"
    missing_reason = "all its labels are trained, and this oracle is for labels that are not"

    def is_provided(self, data: PlaceData) -> bool:
        return data.unseen

    def files(self, data: PlaceData, split: str) -> list[str]:
        return [f"{split}/test.parquet"]

    def of(self, problem: Problem) -> HeldOut:
        """Return the test images of a problem with their labels."""
        return cast(HeldOut, problem.extras[self.key])


class GivenLabelsNeed(FileNeed[LabelMatrix]):
    """The labels that another data set has for the tested images, given.parquet of the two joined."""

    key = "given_labels"
    missing_reason = "its test images are not those of another data set, which may say what users have called them"
    description = "what another data set says of the tested images"

    def is_provided(self, data: PlaceData) -> bool:
        return data.is_joined

    def files(self, data: PlaceData, split: str) -> list[str]:
        return [f"{data.processed}/given.parquet"]

    def load(self, path: Path) -> LabelMatrix:
        images, labels = (read_parquet(path.parent / f"{name}.parquet") for name in ("images", "labels"))
        return LabelMatrix.from_pairs(read_parquet(path), images.height, labels.height)

    def of(self, problem: Problem) -> LabelMatrix:
        given, n_images = super().of(problem), problem.training.labels.n_rows
        if given.n_rows != n_images:
            raise ValueError(f"given_labels: {given.n_rows} rows for {n_images} images")
        return given


class KnownLabelsNeed(Need):
    """Test images of which some labels are known."""

    key = "known_labels"
    missing_reason = "its test images are new, and this method knows an image by its labels alone"

    def is_provided(self, data: PlaceData) -> bool:
        return not data.new_images


class TrainedLabelsNeed(Need):
    """Test labels that are trained; every method needs them that does not rank unseen labels."""

    key = "trained_labels"
    missing_reason = "its test labels are never trained, and this method knows a label by its training images alone"

    def is_provided(self, data: PlaceData) -> bool:
        return not data.only_unseen


FEATURES, WORDS, TRUTH, TEST_LABELS, GIVEN_LABELS = (
    FeaturesNeed(), WordsNeed(), TruthNeed(), TestLabelsNeed(), GivenLabelsNeed(),
)  # fmt: skip
NEEDS: dict[str, Need] = {
    need.key: need
    for need in (FEATURES, WORDS, TRUTH, TreeNeed(), TEST_LABELS, GIVEN_LABELS, KnownLabelsNeed(), TrainedLabelsNeed())
}
FILE_NEEDS: tuple[FileNeed[Any], ...] = tuple(need for need in NEEDS.values() if isinstance(need, FileNeed))


def provided(data: PlaceData) -> set[str]:
    """Return the keys of the needs that a place satisfies, and what else its simulator knows."""
    return {key for key, need in NEEDS.items() if need.is_provided(data)} | data.simulated


def load_needs(needs: Collection[str], paths: Mapping[str, Path | None], test: HeldOut | None = None) -> dict[str, Any]:
    """Read what a method needs; return the arguments `features`, `words` and `extras` of its `Problem`.

    Parameters
    ----------
    needs : the method's `needs`
    paths : key of a need -> its file, where an option names one
    test : what the model is tested on, for an oracle of unseen labels
    """
    loaded = {need.key: need.load_named(paths.get(need.key)) for need in FILE_NEEDS if need.key in needs}
    extras = loaded | ({TEST_LABELS.key: test} if TEST_LABELS.key in needs else {})
    return {"features": extras.pop("features", None), "words": extras.pop("words", None), "extras": extras}
