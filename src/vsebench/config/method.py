"""A method with its settings, the search for them, and a decision."""

from math import prod
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from vsebench.config.dataset import Family, Vocabulary
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict, check, read_yaml

Role = Literal["paper", "baseline", "control", "oracle"]


class Epochs(Strict):
    """When training stops."""

    maximum: int = Field(ge=1)  # epochs at most
    patience: int = Field(ge=1)  # epochs without a better validation metric


class MethodConfig(Strict):
    """A row of the results: a method with its settings (`config/methods/<row>.yaml`)."""

    title: str  # for tables and the report
    # another file of the folder: this one's `settings` replace some of the other's, and each further key that stands
    # here replaces the other's whole key
    extends: str | None = None
    method: str = Field(pattern=r"^[a-z][a-z0-9_]*$")  # a module of `src/vsebench/methods`; files can share one
    # a method of the papers, a baseline, a control, or an oracle, which knows what no method may know, so that it is
    # shown and not compared
    role: Role
    source: str  # paper, equation, and where the settings are from
    # all settings of the method that have no default; `factors` only where the method has a size of its own
    settings: dict[str, Any] = {}
    family_settings: dict[Family, dict[str, Any]] = {}  # replace settings for one family of data sets
    epochs: Epochs | None = None  # when training stops; exactly where the method is trained by epochs
    grid: dict[str, list[Any]] = {}  # setting -> values to try if the run tunes; all combinations are tried
    stays_in_grid: bool = False  # true: no search beyond the grid's edges, such as those of a range in print
    members: list[str] = []  # methods of the run, for an ensemble, which has no settings, epochs or grid of its own

    @property
    def grid_size(self) -> int:
        return prod(len(values) for values in self.grid.values())


class Search(Strict):
    """What a search on the validation labels chose for a row, out of how many configurations."""

    configurations: int = Field(ge=1)  # how many were tried
    grid: dict[str, list[Any]] = Field(min_length=1)  # the values that were tried
    seeds: dict[int, dict[str, Any]] = Field(min_length=1)  # seed of the split -> all settings of the method


class SearchesAtPlace(Strict):
    """The searches on a data set under one protocol."""

    validation_metric: str  # what settings were chosen by
    rows: dict[str, Search]  # method -> its search


class ChosenSettings(Strict):
    """The settings that a tuned run chose on a data set (`config/chosen/<data set>.yaml`, by `vsebench record`)."""

    options: dict[str, Any]  # of the data set in that run, all of them
    vocabulary: Vocabulary  # its filters in that run
    protocols: dict[str, SearchesAtPlace]  # protocol -> the searches under it


class Decided(Strict):
    """A rule that chooses label sets, with its settings."""

    decision: str = Field(pattern=r"^[a-z][a-z0-9_]*$")  # a module of `src/vsebench/evaluation/decisions`
    settings: dict[str, Any] = {}  # the decision's own
    tuned_for: str | None = None  # a metric of sets, which is as good as possible on the validation images


class DecisionConfig(Decided):
    """A decision of the results (`config/decisions/<name>.yaml`)."""

    title: str  # for tables and the report
    role: Role  # as in a method's file
    source: str  # paper, section, and where the settings are from


def read_method_config(path: Path) -> MethodConfig:
    """Read a row's file, with what it takes over from the file that it extends."""
    return check(MethodConfig, _extended(path, ()), str(path))


def _extended(path: Path, extending: tuple[Path, ...]) -> Any:
    """Return the values of a row's file together with those of the file that it extends."""
    values = read_yaml(path)
    if not isinstance(values, dict) or values.get("extends") is None:
        return values
    name = values.pop("extends")
    if not isinstance(name, str):
        raise UserError(f"{path}: extends: should be the name of another file of the folder")
    base = path.with_name(f"{name}.yaml")
    if base in (*extending, path):
        raise UserError(f"{path}: extends: {base.stem!r} extends this row itself; name another one")
    if not base.is_file():
        raise UserError(f"{path}: extends: {base.stem!r} has no file {base}")
    taken = _extended(base, (*extending, path))
    if not isinstance(taken, dict) or not isinstance(values.get("settings", {}), dict):
        return values  # the check of the values says what is wrong
    settings = {"settings": (taken.get("settings") or {}) | values["settings"]} if "settings" in values else {}
    return taken | values | settings
