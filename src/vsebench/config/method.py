"""The types that check the files of methods, of recorded searches for settings, and of decision rules."""

import re
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.config.dataset import Family, Vocabulary
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict, check, read_yaml

Role = Literal["paper", "baseline", "control", "oracle", "external"]
OUTSIDE = "outside_scores"  # the method of a file with `scores` or `command`
WRITTEN = re.compile(r"\{scores\}(\.[a-z]+)?")  # the file of scores in a command; without a suffix, it is a .csv file


class Epochs(Strict):
    """The key `epochs`, which says when training stops."""

    maximum: int = Field(ge=1)  # largest number of epochs
    # training stops after this many epochs without a better validation metric, and the best model is kept; `null`:
    # training continues to the maximum, and the last model is kept
    patience: Annotated[int, Field(ge=1)] | None


class MethodConfig(Strict):
    """A method with its settings, as shown in the results (`config/methods/<name>.yaml`)."""

    title: str  # name in tables and the report
    # a shorter title for legends and axes of figures, LaTeX, and menus of the report; none: `title`
    short: str | None = Field(default=None, min_length=1)
    # the name of another file in this folder, without .yaml. Keys that are not set here are taken from the other file,
    # and so are settings that are not named in `settings` here
    extends: str | None = None
    # the name of a method in a module of `src/vsebench/methods`; several files can use the same method; left out of
    # files with `scores` or `command`
    method: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    # in place of `method`: a file with the scores of a model that was trained elsewhere (docs/outside.md); in its name,
    # {dataset}, {protocol} and {seed} are replaced by those of the case; without {seed}, all seeds use the same scores
    scores: str | None = None
    # a shell command, in place of `method`, that trains a model on the data in the folder {problem} and writes the file
    # {scores} (docs/outside.md); {dataset}, {protocol}, {seed} and {threads} are replaced, too
    command: str | None = None
    # for `command`: a requirements file for pip; the command runs in a virtual environment with these packages
    environment: str | None = None
    conda: str | None = None  # for `command`: a conda environment, as in Snakemake's rules
    container: str | None = None  # for `command`: a container image, as in Snakemake's rules
    threads: int = Field(1, ge=1)  # for `command`: number of threads
    # required with `scores` or `command`: who chose the model's settings, and on which data; tables show this
    tuned: str | None = None
    # `paper`: a method of the papers; `baseline`: another method to compare with them; `control`: helps to explain
    # results, such as a random ranking; `oracle`: uses information that no method may use, so it is shown but not
    # compared; `external`: a model with `scores` or `command`, whose default role this is
    role: Role
    source: str  # paper, equation, and the source of the settings
    # settings of the method; those without a default must be set. If `factors` is left out, the run's `factors` is used
    settings: dict[str, Any] = {}
    # family of data sets -> settings for this family, which replace those in `settings`
    family_settings: dict[Family, dict[str, Any]] = {}
    # the set of image features to use, or a list of sets, which are concatenated; none: the sets that the run names for
    # the data set, or else all sets of the data set
    features: str | list[str] | None = Field(default=None, min_length=1)
    epochs: Epochs | None = None  # when training stops; required for methods trained in epochs, refused for others
    from_paper: bool = False  # true: the settings are from a paper or its code; tables say so
    grid: dict[str, list[Any]] = {}  # setting -> values to try if the run tunes; all combinations are tried
    stays_in_grid: bool = False  # true: never search beyond the grid, for example because a paper states the range
    members: list[str] = []  # methods of the run that form an ensemble, which has no settings, epochs or grid

    @model_validator(mode="before")
    @classmethod
    def _of_scores(cls, values: Any) -> Any:
        """Add the method, settings and role to a file that names `scores` or `command`."""
        if not isinstance(values, dict):
            return values
        file = values.get("scores") or values.get("command")
        if not isinstance(file, str):
            return values
        return {"method": OUTSIDE, "settings": {"file": file}, "role": "external"} | values

    @model_validator(mode="after")
    def _one_kind(self) -> "MethodConfig":
        key = "scores" if self.command is None else "command"
        file = self.scores or self.command
        outside = file is not None
        if self.scores is not None and self.command is not None:
            raise PydanticCustomError("command", "`command` takes the place of `scores`; remove one of the two keys")
        if not outside and (self.method == OUTSIDE or self.role == "external"):
            remedy = "add one of the two keys, or set another method and role"
            raise PydanticCustomError("scores", f"a model with the role external needs `scores` or `command`; {remedy}")
        if outside and (self.method != OUTSIDE or self.role != "external"):
            remedy = "remove `method`, and `role` unless it is external"
            raise PydanticCustomError(key, f"`{key}` takes the place of `method`; {remedy}")
        if outside and (self.settings != {"file": file} or self.epochs or self.grid or self.members):
            remedy = "remove the keys of a method: settings, epochs, grid, members"
            raise PydanticCustomError(key, f"`{key}` takes the place of `method`; {remedy}")
        if outside and not self.tuned:
            raise PydanticCustomError("tuned", "`tuned` is missing; state who chose the settings, and on which data")
        return self

    @model_validator(mode="after")
    def _one_command(self) -> "MethodConfig":
        software = [key for key in ("environment", "conda", "container") if getattr(self, key) is not None]
        if self.command is None:
            if software or self.threads != 1:
                unused = [*software, "threads"][0]
                raise PydanticCustomError(unused, f"`{unused}` works only with `command`; remove it")
            return self
        if len(software) > 1:
            raise PydanticCustomError(software[1], f"name only one of {' and '.join(software)}")
        for name in ("{problem}", "{scores}"):
            if name not in self.command:
                raise PydanticCustomError("command", f"{name} is missing in `command`")
        return self

    @property
    def written_suffix(self) -> str:
        """The suffix of the file of scores that the command writes."""
        named = WRITTEN.search(self.command or "")
        return (named and named[1]) or ".csv"

    @property
    def grid_size(self) -> int:
        return prod(len(values) for values in self.grid.values())


class RecordedTry(Strict):
    """A configuration that a search tried, and its best epochs."""

    settings: dict[str, Any] = Field(min_length=1)  # the settings of the grid, with their values in this configuration
    # the best epoch with each seed of the search; null: training diverged
    epochs: list[int | None] = Field(min_length=1)
    at_limit: bool = False  # whether the limit on epochs ended training with one of the seeds


class RecordedSearch(Strict):
    """The settings that a search on the validation labels chose for a method, and the size of the search."""

    configurations: int = Field(ge=1)  # number of configurations that were tried
    grid: dict[str, list[Any]] = Field(min_length=1)  # the values that were tried for each setting
    seeds: dict[int, dict[str, Any]] = Field(min_length=1)  # seed of the split -> all settings chosen with it
    # seed of the split -> its settings at the edge of the range that its search tried; seeds without any are left out
    on_edges: dict[int, list[str]] = {}
    # seeds whose mean validation value chose the settings; empty: settings were chosen separately for each of `seeds`
    mean_of: list[int] = []
    # the configurations that were tried, for a method trained in epochs whose settings were chosen by such a mean
    tries: list[RecordedTry] = []
    # metric -> how much it varies due to the choice of settings, as a relative standard deviation (null: not known);
    # intervals include this variation; empty: known for no metric
    spread: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)] | None] = {}
    # checksum of how the data were configured that the method read, besides `options` and `vocabulary`: features, word
    # vectors, partition, list of unseen labels, and the data set of training; empty: nothing else was configured
    data: str = ""

    @property
    def searched_seeds(self) -> list[int]:
        """The seeds with which settings were searched."""
        return self.mean_of or sorted(self.seeds)

    def source_of(self, seed: int) -> int:
        """Return the seed in `seeds` whose settings a seed uses: the same one or, if it is missing, the first one."""
        return seed if seed in self.seeds else next(iter(self.seeds))


class SearchesAtTask(Strict):
    """The recorded searches for settings on a data set under one protocol, one search for each variant."""

    validation_metric: str  # the metric by which settings were chosen
    variants: dict[str, RecordedSearch]  # method -> its search


class ChosenSettings(Strict):
    """The settings that a tuned run chose on a data set; `vsebench record` writes `config/chosen/<data set>.yaml`."""

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
    # a shorter title for legends and axes of figures, LaTeX, and menus of the report; none: `title`
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
        raise UserError(f"{path}: extends: give the name of another file in this folder, without .yaml")
    base = path.with_name(f"{name}.yaml")
    if base in (*extending, path):
        raise UserError(f"{path}: extends: {base.stem!r} extends this file itself; name another file")
    if not base.is_file():
        raise UserError(f"{path}: extends: there is no file {base}; name another file in this folder, without .yaml")
    inherited = _extended(base, (*extending, path))
    if not isinstance(inherited, dict) or not isinstance(values.get("settings", {}), dict):
        return values  # a later check of the values reports the mistake
    if "title" in values:
        inherited.pop("short", None)  # it is the short form of the other title
    settings = {"settings": (inherited.get("settings") or {}) | values["settings"]} if "settings" in values else {}
    return inherited | values | settings
