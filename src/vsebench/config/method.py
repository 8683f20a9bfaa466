"""A method with its settings, the search for the settings, and a decision rule."""

from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.config.dataset import Family, Vocabulary
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict, check, read_yaml

Role = Literal["paper", "baseline", "control", "oracle", "external"]
OUTSIDE = "outside_scores"  # the method of a file with `scores`


class Epochs(Strict):
    """The rule by which training stops."""

    maximum: int = Field(ge=1)  # largest number of epochs
    # training stops after this many epochs without a better validation metric, and the best model is kept; `null`: it
    # goes on to the maximum, and the last model is kept
    patience: Annotated[int, Field(ge=1)] | None


class MethodConfig(Strict):
    """A method with its settings, as shown in the results (`config/methods/<name>.yaml`)."""

    title: str  # name in tables and the report
    # a shorter title for legends and axes of figures, LaTeX, and menus of the page, where space is short; none: `title`
    short: str | None = Field(default=None, min_length=1)
    # another file of the folder that this file is a variant of: a single setting in `settings` replaces that setting of
    # the other file, and any other key replaces the whole key
    extends: str | None = None
    # a method, by its name in a module of `src/vsebench/methods`; several files can use the same one; left out where
    # the file names `scores`
    method: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    # a file with the scores of a model that was trained elsewhere (docs/outside.md), in place of `method`; {dataset},
    # {protocol} and {seed} are replaced, and without {seed} all seeds have the same scores
    scores: str | None = None
    tuned: str | None = None  # for `scores`: who chose the model's settings, and on which data; tables show this
    # a method of the papers, a baseline, a control, or an oracle, which uses information that no method may use, and is
    # shown but not compared; a model that was trained elsewhere is `external`, the default for `scores`
    role: Role
    source: str  # paper, equation, and the source of the settings
    # all settings of the method that have no default; `factors` only if it should not depend on the run's `factors`
    settings: dict[str, Any] = {}
    family_settings: dict[Family, dict[str, Any]] = {}  # replace settings for one family of data sets
    # the name of a set of image features, or a list of them, which are put side by side; none: those that the run names
    # for the data set, or else all that it has
    features: str | list[str] | None = Field(default=None, min_length=1)
    epochs: Epochs | None = None  # when training stops; required for methods trained by epochs, refused for others
    from_paper: bool = False  # true: the settings are those of a paper or of its code; tables state it
    grid: dict[str, list[Any]] = {}  # setting -> values to try if the run tunes; all combinations are tried
    stays_in_grid: bool = False  # true: no search beyond the grid's edges, for example because a paper states the range
    members: list[str] = []  # methods of the run that form an ensemble, which has no own settings, epochs or grid

    @model_validator(mode="before")
    @classmethod
    def _of_scores(cls, values: Any) -> Any:
        """Set the method and the role of a file that names `scores`."""
        if not isinstance(values, dict) or not isinstance(values.get("scores"), str):
            return values
        return {"method": OUTSIDE, "settings": {"file": values["scores"]}, "role": "external"} | values

    @model_validator(mode="after")
    def _one_kind(self) -> "MethodConfig":
        outside = self.scores is not None
        if outside != (self.method == OUTSIDE) or outside != (self.role == "external"):
            raise PydanticCustomError("scores", "`scores` takes the place of `method`, and its role is external")
        if outside and (self.settings != {"file": self.scores} or self.epochs or self.grid or self.members):
            raise PydanticCustomError("scores", "remove the keys of a method of this package: settings, epochs, grid")
        if outside and not self.tuned:
            raise PydanticCustomError("tuned", "`tuned` is missing: who chose the model's settings, and on which data")
        return self

    @property
    def grid_size(self) -> int:
        return prod(len(values) for values in self.grid.values())


class RecordedSearch(Strict):
    """The settings that a search on the validation labels chose for a method, and the size of the search."""

    configurations: int = Field(ge=1)  # number of configurations that were tried
    grid: dict[str, list[Any]] = Field(min_length=1)  # the values that were tried
    seeds: dict[int, dict[str, Any]] = Field(min_length=1)  # seed of the split -> all settings of the method
    # seeds whose mean validation value chose the settings; empty: each of `seeds` chose its own
    mean_of: list[int] = []

    @property
    def searched_seeds(self) -> list[int]:
        """The seeds that were searched."""
        return self.mean_of or sorted(self.seeds)


class SearchesAtTask(Strict):
    """The searches on a data set under one protocol."""

    validation_metric: str  # the metric that settings were chosen by
    variants: dict[str, RecordedSearch]  # method -> its search


class ChosenSettings(Strict):
    """The settings that a tuned run chose on a data set (`config/chosen/<data set>.yaml`, by `vsebench record`)."""

    options: dict[str, Any]  # all options of the data set in that run
    vocabulary: Vocabulary  # the data set's filters in that run
    protocols: dict[str, SearchesAtTask]  # protocol -> the searches under it


class Decided(Strict):
    """A rule that chooses label sets, with its settings."""

    decision: str = Field(pattern=r"^[a-z][a-z0-9_]*$")  # a module of `src/vsebench/evaluation/decisions`
    settings: dict[str, Any] = {}  # settings of the decision
    tuned_for: str | None = None  # the metric of label sets that is maximised on the validation images


class DecisionConfig(Decided):
    """A decision rule, as shown in the results (`config/decisions/<name>.yaml`)."""

    title: str  # name in tables and the report
    # a shorter title for legends and axes of figures, LaTeX, and menus of the page, where space is short; none: `title`
    short: str | None = Field(default=None, min_length=1)
    role: Role  # the same values as in a method's file
    source: str  # paper, section, and the source of the settings


def read_method_config(path: Path) -> MethodConfig:
    """Read a method's file, merged with the file that it extends."""
    return check(MethodConfig, _extended(path, ()), str(path))


def _extended(path: Path, extending: tuple[Path, ...]) -> Any:
    """Return the values of a method's file, merged with those of the file that it extends."""
    values = read_yaml(path)
    if not isinstance(values, dict) or values.get("extends") is None:
        return values
    name = values.pop("extends")
    if not isinstance(name, str):
        raise UserError(f"{path}: extends: should be the name of another file in this folder")
    base = path.with_name(f"{name}.yaml")
    if base in (*extending, path):
        raise UserError(f"{path}: extends: {base.stem!r} extends this file itself; name another file")
    if not base.is_file():
        raise UserError(f"{path}: extends: {base.stem!r} has no file {base}")
    inherited = _extended(base, (*extending, path))
    if not isinstance(inherited, dict) or not isinstance(values.get("settings", {}), dict):
        return values  # the check of the values reports the mistake
    if "title" in values:
        inherited.pop("short", None)  # it is short for the other title
    settings = {"settings": (inherited.get("settings") or {}) | values["settings"]} if "settings" in values else {}
    return inherited | values | settings
