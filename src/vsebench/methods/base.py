"""The base classes of methods, `Method` and `Control`, and the functions that load a method by its name.

A module in src/vsebench/methods, or in a sub-folder of it, lists its methods in the dictionary `METHODS`, which maps
each method's name to its class. A file in config/methods names a method and gives its settings; several files can use
the same method.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.errors import UserError, missing_package
from vsebench.core.modules import modules_by_key
from vsebench.core.yaml_files import Strict, check
from vsebench.data.needs import NEEDS
from vsebench.data.problem import Problem
from vsebench.models import Model

# Bounds on the magnitude of settings other than 0. Beyond them, products overflow or vanish in floating point.
SMALLEST, LARGEST, LARGEST_INTEGER = 1e-30, 1e30, 2**31 - 1


class Settings(Strict):
    """Base class of the settings of a method; numbers that are too large, or too close to 0, are refused."""

    @model_validator(mode="after")
    def _of_sensible_size(self) -> Self:
        for name, value in self:
            if isinstance(value, int) and value > LARGEST_INTEGER:
                raise PydanticCustomError("integer", f"{name}: is {value}, but must be at most {LARGEST_INTEGER}")
            if isinstance(value, float) and value != 0 and not SMALLEST <= abs(value) <= LARGEST:
                sizes = f"0 or between {SMALLEST} and {LARGEST}"
                raise PydanticCustomError("number", f"{name}: is {value}, but its magnitude must be {sizes}")
        return self

    def given(self) -> dict[str, Any]:
        """Return the explicitly given settings, without those left at their defaults, as values for JSON."""
        return self.model_dump(mode="json", exclude_unset=True)

    def changed(self, changes: dict[str, Any], where: str) -> Self:
        """Return a copy of the settings with the new values in `changes` (setting -> value).

        If a new value is not valid, a `UserError` is raised, which begins with `where`.
        """
        return check(type(self), self.given() | changes, where)


class FactorSettings(Settings):
    """Settings of a method that learns embeddings."""

    factors: int = Field(ge=1)  # K, the number of factors: the length of each embedding


@dataclass(frozen=True)
class Progress:
    """The loss of an epoch and, for some methods, the mean number of negatives that a step examines."""

    loss: float | None  # None for third-party packages that do not report it
    trials: float | None = None


@dataclass(frozen=True)
class Solved:
    """How an iterative solver ended: whether it converged, after how many iterations, and with which gradient.

    For `slim`, `iterations` is the number of sweeps, and `gradient` the largest change of a weight in the last sweep.
    """

    converged: bool
    iterations: int
    gradient: float  # the largest absolute value of the gradient's components


@dataclass(frozen=True)
class Size:
    """The size of a problem: the numbers of training images, features per image, and labels.

    If the method reads features, only images with features are counted; otherwise, `features` is 0.
    """

    images: int
    features: int
    labels: int


class Fitter(ABC):
    """Base class of all methods and controls.

    An instance is created for a problem and the method's settings. Its method `model` returns the trained model.

    Attributes
    ----------
    settings_type : the pydantic class of the method's settings
    needs : the inputs that the method needs besides the labels, as keys of `needs.NEEDS`
    ranks_unseen : whether the method can rank labels that it was not trained on, for example by their word vectors
    gives : outputs besides scores: "thresholds" if the method's model is a `models.Thresholded`, "trials" if the method
        counts the negatives that a step examines
    is_random : whether the model depends on the seed, although the method is not trained in epochs
    solved : how the method's iterative solver ended, set by `model`; None for a method without an iterative solver
    """

    settings_type: ClassVar[type[Settings]] = Settings
    needs: ClassVar[frozenset[str]] = frozenset()
    ranks_unseen: ClassVar[bool] = False
    gives: ClassVar[frozenset[str]] = frozenset()
    is_random: ClassVar[bool] = False
    solved: Solved | None = None

    @abstractmethod
    def __init__(self, problem: Problem, settings: Any) -> None: ...

    @abstractmethod
    def model(self) -> Model:
        """Return the current model; the next epoch may overwrite its arrays."""

    @classmethod
    def least_memory(cls, size: Size, settings: Any) -> int:
        """Return a lower bound on the memory, in bytes, that a fit or its model needs.

        If the bound exceeds the memory that the process can use, the fit is refused before it begins. The bound counts
        only the matrices that become too large first: those whose numbers of rows and columns are given by `size` or
        `settings`. By default, a method that reads features is assumed to store one embedding per label and per
        feature. Any other method is assumed to store one per label and per image. For methods without the setting
        `factors`, the default bound is 0.
        """
        if not isinstance(settings, FactorSettings):
            return 0
        return 4 * settings.factors * (size.labels + (size.features if "features" in cls.needs else size.images))

    @classmethod
    def knows_labels_alone(cls) -> bool:
        """Return whether the model knows images only by their training labels, so that it cannot score new images."""
        return not cls.needs & {"features", "truth"}

    @classmethod
    def obstacle(cls, provided: Collection[str]) -> str | None:
        """Return why the method cannot run with the inputs `provided` (keys of `needs.NEEDS`), or None if it can."""
        needs = cls.needs if cls.ranks_unseen else cls.needs | {"trained_labels"}
        return next((NEEDS[need].missing_reason for need in sorted(needs) if need not in provided), None)


class Method(Fitter):
    """A method that is trained in timed epochs; the number of epochs is chosen on the validation images."""

    @abstractmethod
    def epoch(self) -> Progress:
        """Train for one epoch: one pass over the training pairs or images."""


class Control(Fitter):
    """A method without epochs, such as a baseline or a solution in closed form. `model` does the whole fit."""

    settings: Any  # of the class `settings_type`

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.problem, self.settings = problem, settings


class Member(Settings):
    """A member of an ensemble: its settings and epochs, and the weight of its scores."""

    variant: str
    module: str
    settings: dict[str, Any]
    epochs: int = Field(ge=1)
    deviation: float = Field(default=1.0, gt=0)  # standard deviation of its scores on the validation images
    weight: float = Field(default=1.0, ge=0)  # the weight of its scores after they are divided by `deviation`


class EnsembleSettings(Settings):
    """Settings of an ensemble, which the stage `fit` reads from the records of the members' fits."""

    members: list[Member] = Field(min_length=2)


class Ensemble(Control):
    """A weighted sum of the scores of other variants of the run.

    The ensemble's file lists these variants under `members`. If f_m(x) are the scores of member m for an image x, the
    scores of the ensemble are

        f(x) = sum_m weight_m / deviation_m f_m(x)

    where weight_m is the weight of member m, and deviation_m is the standard deviation of the member's scores. The
    deviations are measured and the weights are chosen on the validation images, with models that were not trained on
    these images.

    Attributes
    ----------
    member_type : the base class of the members' methods
    """

    settings_type = EnsembleSettings
    member_type: ClassVar[type[Method]]

    @classmethod
    @abstractmethod
    def combined(cls, models: Sequence[Model], scales: Sequence[float]) -> Model:
        """Return the model whose scores are the sum of the models' scores, each multiplied by its scale."""

    def models(self) -> list[Model]:
        """Train all members, and return models that are equal to those of the members' own fits with this seed."""
        return [self._trained(member) for member in self.settings.members]

    def model(self) -> Model:
        return self.combined(self.models(), [member.weight / member.deviation for member in self.settings.members])

    def _trained(self, member: Member) -> Model:
        method = load_method(member.module)
        fitter = method(self.problem, read_settings(method, member.settings, f"ensemble: {member.variant}"))
        assert isinstance(fitter, Method)
        for _ in range(member.epochs):
            fitter.epoch()
        return fitter.model()


def load_method(name: str) -> type[Method] | type[Control]:
    """Return the class with this name in the `METHODS` of a module in src/vsebench/methods or a sub-folder of it."""
    modules = modules_by_key("METHODS", "methods")
    if name not in modules:
        raise UserError(f"method {name!r}: no module in src/vsebench/methods has this name in its METHODS")
    try:
        method: type[Method] | type[Control] = importlib.import_module(modules[name]).METHODS[name]
    except ModuleNotFoundError as error:
        raise UserError(f"method {name!r}: {missing_package(str(error.name))}") from None
    return method


def with_factors(method: type[Fitter], values: dict[str, Any], factors: int) -> dict[str, Any]:
    """Return the settings `values`, with `factors` added if the method has this setting and `values` lacks it."""
    return {"factors": factors} | values if "factors" in method.settings_type.model_fields else values


def read_settings(method: type[Fitter], values: dict[str, Any], where: str) -> Settings:
    """Return the settings of a method with the given values.

    If a value is not valid, a `UserError` is raised that names `where` and the key.
    """
    return check(method.settings_type, values, where)


def epochs_mistake(method: type[Fitter]) -> str:
    """Return the message for a method's file that lacks the key `epochs`, or that must not have this key."""
    if issubclass(method, Method):
        return f"this key is missing; {method.__name__} is trained in epochs; give maximum and patience"
    return f"{method.__name__} is not trained in epochs; remove this key"
