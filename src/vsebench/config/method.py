"""The files of methods, of recorded searches for settings, and of decision rules."""

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
    """The key `epochs`, which says when training stops."""

    maximum: int = Field(ge=1)  # largest number of epochs
    # training stops after this many epochs without a better validation metric, and the best model is kept; `null`:
    # training continues to the maximum, and the last model is kept
    patience: Annotated[int, Field(ge=1)] | None


class MethodConfig(Strict):
    """A method with its settings, as shown in the results (`config/methods/<name>.yaml`)."""

    title: str  # name in tables and the report
    # another file in the folder, of which this file is a variant: each setting in `settings` replaces the same setting
    # of the other file, and each other key replaces that key as a whole
    extends: str | None = None
    # a method, by its name in a module of `src/vsebench/methods`; several files can use the same one; left out if
    # `scores` is given
    method: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    # a file with the scores of a model that was trained elsewhere (docs/outside.md), in place of `method`; {dataset},
    # {protocol} and {seed} in the name are replaced; without {seed}, all seeds use the same scores
    scores: str | None = None
    tuned: str | None = None  # with `scores`: who chose the model's settings, and on which data; shown in tables
    # a method of the papers, a baseline, a control, or an oracle, which uses information that methods may not use, and
    # is shown but not compared; `external`, the default with `scores`: a model that was trained elsewhere
    role: Role
    source: str  # paper, equation, and the source of the settings
    # every setting of the method without a default; `factors` only to override the run's `factors`
    settings: dict[str, Any] = {}
    family_settings: dict[Family, dict[str, Any]] = {}  # settings that replace those above for one family of data sets
    epochs: Epochs | None = None  # when training stops; required for methods trained in epochs, refused for others
    from_paper: bool = False  # true: the settings are from a paper or its code; tables say so
    grid: dict[str, list[Any]] = {}  # setting -> values to try if the run tunes; all combinations are tried
    stays_in_grid: bool = False  # true: never search beyond the grid, for example because a paper states the range
    members: list[str] = []  # methods of the run that form an ensemble, which has no settings, epochs or grid

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
            raise PydanticCustomError("scores", "with `scores`, leave out `method` and set `role: external`")
        if outside and (self.settings != {"file": self.scores} or self.epochs or self.grid or self.members):
            raise PydanticCustomError("scores", "with `scores`, remove the keys settings, epochs and grid")
        if outside and not self.tuned:
            raise PydanticCustomError("tuned", "`tuned` is missing; state who chose the settings, and on which data")
        return self

    @property
    def grid_size(self) -> int:
        return prod(len(values) for values in self.grid.values())


class RecordedSearch(Strict):
    """The settings that a search on the validation labels chose for a method, and the size of the search."""

    configurations: int = Field(ge=1)  # number of configurations that were tried
    grid: dict[str, list[Any]] = Field(min_length=1)  # the values that were tried for each setting
    seeds: dict[int, dict[str, Any]] = Field(min_length=1)  # seed of the split -> all settings chosen with it
    # seeds whose mean validation value chose the settings; empty: settings were chosen for each of `seeds` alone
    mean_of: list[int] = []

    @property
    def searched_seeds(self) -> list[int]:
        """The seeds that were searched."""
        return self.mean_of or sorted(self.seeds)


class SearchesAtTask(Strict):
    """The recorded searches for settings on a data set under one protocol, one search for each variant."""

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
    tuned_for: str | None = None  # the metric of label sets to maximise on the validation images


class DecisionConfig(Decided):
    """A decision rule, as shown in the results (`config/decisions/<name>.yaml`)."""

    title: str  # name in tables and the report
    role: Role  # the possible values are those in a method's file
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
        raise UserError(f"{path}: extends: give the name of another file in this folder")
    base = path.with_name(f"{name}.yaml")
    if base in (*extending, path):
        raise UserError(f"{path}: extends: {base.stem!r} extends this file itself; name another file")
    if not base.is_file():
        raise UserError(f"{path}: extends: there is no file {base}; name another file in this folder")
    inherited = _extended(base, (*extending, path))
    if not isinstance(inherited, dict) or not isinstance(values.get("settings", {}), dict):
        return values  # the later check of the values reports the mistake
    settings = {"settings": (inherited.get("settings") or {}) | values["settings"]} if "settings" in values else {}
    return inherited | values | settings
