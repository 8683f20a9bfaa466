"""What a method is, and how one is found by its name."""

import importlib
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.config import Strict, check
from vsebench.errors import UserError
from vsebench.kernels.ranking import count_above, count_embedded
from vsebench.kernels.rounding import ROUNDING_PAYS, RoundedLabels, round_labels
from vsebench.kernels.vectors import aligned, padded_size
from vsebench.labels import LabelMatrix
from vsebench.parallel import Workers, workers

Matrix = NDArray[np.float32]
Ids = NDArray[np.int32]


class Scorer(ABC):
    """A fitted model: it scores every label for an image."""

    @abstractmethod
    def scores(self, images: Ids, known: LabelMatrix) -> Matrix:
        """Return the scores (n, n_labels) float32 of n images; `known` are the labels that the model was fitted to."""

    def count_above(self, images: Ids, labels: Ids, known: LabelMatrix) -> tuple[Ids, Ids]:
        """Count for n held-out labels, given with their images, the candidates that score higher and the same.

        Both counts, (n,), are -1 where the label is a known one.
        """
        return count_above(self.scores(images, known), images, labels, known.offsets, known.labels)

    @abstractmethod
    def largest_score(self) -> float:
        """Return a bound on the absolute score, NaN if a number of the model is."""

    @abstractmethod
    def arrays(self) -> dict[str, Matrix]:
        """Return what model.npz holds."""


@dataclass(frozen=True)
class Embeddings(Scorer):
    """The score of a label for an image is the inner product of their rows.

    Attributes
    ----------
    image : (n_images, K) float32
    label : (n_labels, K) float32
    """

    image: Matrix
    label: Matrix

    @cached_property
    def _columns(self) -> Matrix:
        return np.ascontiguousarray(self.label.T)

    def scores(self, images: Ids, known: LabelMatrix) -> Matrix:
        product: Matrix = self.image[images] @ self._columns
        return product

    @cached_property
    def _rounded_labels(self) -> RoundedLabels:
        return round_labels(self.label)

    def count_above(self, images: Ids, labels: Ids, known: LabelMatrix) -> tuple[Ids, Ids]:
        if ROUNDING_PAYS:
            return count_embedded(self.image, self._rounded_labels, images, labels, known.offsets, known.labels)
        return super().count_above(images, labels, known)

    def largest_score(self) -> float:
        return _norm(self.image) * _norm(self.label)  # Cauchy and Schwarz

    def arrays(self) -> dict[str, Matrix]:
        return {"image": self.image, "label": self.label}


@dataclass(frozen=True)
class LabelWeights(Scorer):
    """The score of a label for an image is the sum of the weights that the image's labels give it.

    Attributes
    ----------
    weight : (n_labels, n_labels) float32, a row for each label that gives
    """

    weight: Matrix

    def scores(self, images: Ids, known: LabelMatrix) -> Matrix:
        # An image has few labels, so their rows are added up: a product with a dense matrix would be far more work.
        scores = np.zeros((len(images), known.n_labels), dtype=np.float32)
        firsts, lasts = known.offsets[images], known.offsets[images + 1]
        for row, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
            np.sum(self.weight[known.labels[first:last]], axis=0, out=scores[row])
        return scores

    def largest_score(self) -> float:
        return _norm(self.weight) * math.sqrt(len(self.weight))

    def arrays(self) -> dict[str, Matrix]:
        return {"weight": self.weight}


def _norm(matrix: Matrix) -> float:
    """Return the Frobenius norm; infinity or NaN if a number is, or if their squares are too large."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.sqrt(np.vdot(matrix, matrix)))


def scorer_of(arrays: dict[str, Matrix], where: str) -> Scorer:
    """Return the model that a model.npz holds; `where` names it in errors."""
    match sorted(arrays):
        case ["weight"]:
            return LabelWeights(**arrays)
        case ["image", "label"]:
            return Embeddings(**arrays)
    raise UserError(f"{where}: not a model, it holds {', '.join(sorted(arrays)) or 'nothing'}; delete it and run again")


@dataclass(frozen=True)
class EpochReport:
    """What one epoch tells: its loss and, where it samples, how many negatives a step looks at before it takes one."""

    loss: float | None  # none: a package of others does not tell
    trials_per_step: float | None = None


class Settings(Strict):
    """The settings of a method; a method adds its own."""


class FactorSettings(Settings):
    """Settings of a method that learns embeddings."""

    factors: int = Field(ge=1)  # K


class Method(ABC):
    """A method that is trained epoch by epoch.

    A module `vsebench.methods.<name>` defines one subclass called `Model`. It is built with the training matrix, its
    settings, a seed and workers for parallel loops; `epoch` is timed, everything else is not.
    """

    settings_type: ClassVar[type[Settings]]

    @abstractmethod
    def __init__(self, train: LabelMatrix, settings: Any, seed: int, workers: Workers) -> None: ...

    @abstractmethod
    def epoch(self) -> EpochReport:
        """Go once over the training pairs."""

    @abstractmethod
    def scorer(self) -> Scorer:
        """Return the model as it stands; the arrays may still be in use by the next epoch."""


class Untrained(ABC):
    """A method that needs no epochs: a control or a ceiling. Its module's subclass is called `Model`, too.

    `processed` is the folder of the data set's label matrix.
    """

    settings_type: ClassVar[type[Settings]] = Settings

    @abstractmethod
    def __init__(self, train: LabelMatrix, settings: Any, seed: int, processed: Path) -> None: ...

    @abstractmethod
    def scorer(self) -> Scorer:
        """Return the model."""


def load_method(name: str) -> type[Method] | type[Untrained]:
    """Return the class `Model` of the module `vsebench.methods.<name>`."""
    try:
        module = importlib.import_module(f"vsebench.methods.{name}")
    except ModuleNotFoundError as error:
        if error.name == f"vsebench.methods.{name}":
            raise UserError(f"method {name!r}: there is no module src/vsebench/methods/{name}.py") from None
        raise UserError(f"method {name!r}: it needs the package {error.name}; `make setup-peers` installs it") from None
    model: type[Method] | type[Untrained] | None = getattr(module, "Model", None)
    if model is None:
        raise UserError(f"method {name!r}: src/vsebench/methods/{name}.py defines no class Model")
    return model


def read_settings(method: type[Method] | type[Untrained], values: dict[str, Any], where: str) -> Settings:
    """Check a method's settings; a mistake raises a `UserError` that names `where` and the key."""
    return check(method.settings_type, values, where)


def tiny_matrix() -> LabelMatrix:
    """Four images with two of six labels each: enough to compile a method's kernels, or to load them."""
    labels = np.array([0, 1, 1, 2, 2, 3, 0, 4], dtype=np.int32)
    return LabelMatrix(6, np.arange(0, 9, 2, dtype=np.int64), labels, np.ones(8, dtype=np.int32))


def warm_up(method: type[Method], settings: Settings) -> None:
    """Train for an epoch on a tiny matrix, so that no timed epoch compiles or loads a kernel."""
    with workers(1) as pool:
        method(tiny_matrix(), settings, 1, pool).epoch()


def padded_start(n_rows: int, factors: int, deviation: float, rng: np.random.Generator) -> Matrix:
    """Return (n_rows, K) float32 from a normal distribution around 0.

    K is `factors`, padded to a multiple of the kernels' LANES with factors that are 0.
    """
    start = aligned(n_rows, padded_size(factors))
    if start.shape[1] == factors:
        rng.standard_normal(out=start, dtype=np.float32)
    else:
        start[:, :factors] = rng.standard_normal((n_rows, factors), dtype=np.float32)
    start *= np.float32(deviation)
    return start
