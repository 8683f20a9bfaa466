"""What a method is, and how one is found by its name."""

import importlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.config import Strict, check
from vsebench.errors import UserError
from vsebench.labels import LabelMatrix
from vsebench.parallel import Workers, workers

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Embeddings:
    """A model: the score of a label for an image is the inner product of their rows.

    Attributes
    ----------
    image : (n_images, K) float32
    label : (n_labels, K) float32
    """

    image: Matrix
    label: Matrix


@dataclass(frozen=True)
class EpochReport:
    """What one epoch tells: its loss and, where it samples, how many negatives a step looks at before it takes one."""

    loss: float
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
    def embeddings(self) -> Embeddings:
        """Return the model as it stands; the arrays may still be in use by the next epoch."""


class Untrained(ABC):
    """A method that needs no epochs: a control or a ceiling. Its module's subclass is called `Model`, too.

    `processed` is the folder of the data set's label matrix.
    """

    settings_type: ClassVar[type[Settings]] = Settings

    @abstractmethod
    def __init__(self, train: LabelMatrix, settings: Any, seed: int, processed: Path) -> None: ...

    @abstractmethod
    def embeddings(self) -> Embeddings:
        """Return the model."""


def load_method(name: str) -> type[Method] | type[Untrained]:
    """Return the class `Model` of the module `vsebench.methods.<name>`."""
    try:
        module = importlib.import_module(f"vsebench.methods.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"vsebench.methods.{name}":
            raise
        raise UserError(f"method {name!r}: there is no module src/vsebench/methods/{name}.py") from None
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


def normal_start(n_rows: int, factors: int, deviation: float, rng: np.random.Generator) -> Matrix:
    """Return (n_rows, factors) float32 from a normal distribution around 0."""
    return rng.standard_normal((n_rows, factors), dtype=np.float32) * np.float32(deviation)
