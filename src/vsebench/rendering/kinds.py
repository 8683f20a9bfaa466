"""Kinds of tables and figures, found by the names of their classes.

A kind of table is a subclass of `TableKind` in a module of `rendering/tables`; a kind of figure is a subclass of
`FigureKind` in `rendering/figures`. The class `TrainingTime` defines the kind `training_time`. Related kinds share a
module. A new table or figure needs only one file, because you need not add it to any list.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.core.modules import classes_by_name, name_of
from vsebench.core.yaml_files import Strict, check
from vsebench.rendering.outline import GATHERED, Outline
from vsebench.rendering.results import Results
from vsebench.rendering.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
else:  # Matplotlib is slow to import
    Axes = Figure = Any

NOT_OF_FITS = {"audit", "claims", "datasets", "scaling", "word_vectors"}  # results that are not about fitted methods

# The file of a paper (config/papers/<paper>.yaml). A kind that reads the paper declares the field `paper: PaperFile`,
# which is filled in for the tables and figures of that paper. The paper's printed numbers become an input of the
# Snakemake rule that makes the table or figure. Of the YAML file, only the keys that tables read are a parameter of
# this rule, so a table is not made again if a claim changes.
PaperFile = Annotated[Path, Field(strict=False)]

# The sections of the page for a run's tables and figures, besides the sections on single tasks.
Section = Literal["result", "claims", "overview", "training-time", "more", "audit", "settings", "data"]


class Kind(Strict, ABC):
    """The base class of kinds. The fields of a subclass are the parameters of one table or figure of that kind.

    The package `vsebench.plan`, which plans a run, imports the module of every kind before the first job. Modules that
    are slow to import (`vsebench.rendering.drawing`, Matplotlib, SciPy) are therefore imported in the functions that
    use them.
    """

    folder: ClassVar[str]  # the folder of the modules: tables or figures
    # The results files that the kind reads, by their names in `outline.GATHERED`. Those that the run makes become
    # inputs of the Snakemake rule that makes the table or figure (see `inputs`).
    needs: ClassVar[tuple[str, ...]]
    # Whether a run has one table or figure of this kind, or one for each task (the parameter `task`). None: unless
    # the kind overrides `instances`, only the files of papers define its tables or figures, with names such as
    # `vse_ens_table2`.
    made_for: ClassVar[Literal["run", "task"] | None] = None
    # The section of the page for the tables or figures of a run; None: the template places them. Tables and figures
    # with a parameter `task` are in the section on this task, and those of a paper in the section on this paper.
    section: ClassVar[Section | None] = "more"
    position: ClassVar[int] = 100  # kinds in a section are ordered by this number and then by name

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        """Return the names and parameters of the tables or figures of this kind in a run.

        A name consists of lower-case letters, digits and hyphens and begins with the name of the kind.
        """
        kind = name_of(cls).replace("_", "-")
        if cls.made_for == "task":
            return {f"{kind}-{task.name}": {"task": str(task)} for task in outline.tasks}
        return {kind: {}} if cls.made_for == "run" else {}

    def applies(self, outline: Outline) -> bool:
        """Return whether a run has content for this table or figure.

        If a table or figure has no content, it is left out of the run.
        """
        return bool(outline.papers) or not {"claims", "comparison", "audit"}.intersection(self.needs)

    def variants_read(self) -> list[str]:
        """Return the methods for which the analyses in `needs` are made; by default, those in the field `methods`."""
        return list(getattr(self, "methods", []))


class TableKind(Kind):
    """The base class of all kinds of tables."""

    folder: ClassVar[str] = "tables"

    @abstractmethod
    def table(self, results: Results) -> Table:
        """Return the table with its caption and notes."""


class FigureKind(Kind):
    """The base class of all kinds of figures."""

    folder: ClassVar[str] = "figures"

    @abstractmethod
    def figure(self, results: Results) -> Figure:
        """Return the figure; the caller has set the style of the figures."""

    def is_empty(self, results: Results) -> bool:
        """Return whether the results contain nothing to draw, although the figure `applies` to the run.

        The page omits an empty figure.
        """
        return False

    @abstractmethod
    def caption(self, results: Results) -> str:
        """Return sentences that explain the figure: the axes, the intervals and the meaning of the marks."""

    @abstractmethod
    def alternative(self, results: Results) -> str:
        """Return a text for readers who cannot see the figure: its form and its main result."""


AnyKind = TypeVar("AnyKind", bound=Kind)


@dataclass(frozen=True)
class Instance:
    """A table or figure of a run: its name, its kind, the parameters of this kind, and its paper if there is one."""

    name: str  # the name of its files
    kind: str
    parameters: Mapping[str, Any]  # can be written as JSON
    paper: str | None = None  # the paper's name


def known(base: type[AnyKind]) -> Mapping[str, type[AnyKind]]:
    """Return the kinds of tables (if `base` is TableKind) or of figures (if it is FigureKind), sorted by name."""
    return classes_by_name(base, f"rendering/{base.folder}")


def find(base: type[AnyKind], kind: str) -> type[AnyKind]:
    """Return the class of a kind; an unknown name raises a `UserError` that lists the known names."""
    if kind not in known(base):
        raise UserError(f"there is no kind of {base.folder} {kind!r}; use one of {', '.join(known(base))}")
    return known(base)[kind]


def make(base: type[AnyKind], kind: str, parameters: Mapping[str, Any], where: str) -> AnyKind:
    """Return a kind with the given parameters; a wrong parameter raises a `UserError` that names `where`."""
    return check(find(base, kind), dict(parameters), where)


def read_parameters(text: str) -> dict[str, Any]:
    """Read a kind's parameters from a JSON object on the command line; any other text raises a `UserError`."""
    try:
        parameters = json.loads(text)
    except ValueError as error:
        raise UserError(f"--parameters: not JSON ({error}): {text}") from None
    if not isinstance(parameters, dict):
        raise UserError(f"--parameters: must be a JSON object, not {text}")
    return parameters


def instances_of_run(base: type[Kind], outline: Outline) -> dict[str, Instance]:
    """Return the tables or figures of a run that have content, by their names, except those of papers."""
    instances: dict[str, Instance] = {}
    for kind, found in known(base).items():
        for name, parameters in found.instances(outline).items():
            if name in instances:
                raise UserError(
                    f"two {base.folder} have the name {name!r}, one of the kind {instances[name].kind} and one of the "
                    f"kind {kind}; rename one"
                )
            if make(base, kind, parameters, name).applies(outline):
                instances[name] = Instance(name, kind, parameters)
    return instances


def by_section(base: type[Kind], instances: Mapping[str, Instance]) -> dict[str, list[str]]:
    """Return the names of a run's tables or figures for each section of the page, in the order of display."""
    names: dict[str, list[str]] = {section: [] for section in get_args(Section)}
    for name, instance in sorted(instances.items(), key=lambda item: find(base, item[1].kind).position):
        kind = find(base, instance.kind)
        if "task" in instance.parameters or kind.section is None:
            continue
        if kind.section not in names:
            places = f"there is no section {kind.section!r}; use {', '.join(names)}"
            raise UserError(f"{kind.__module__}: {kind.__name__}.section: {places}")
        names[kind.section].append(name)
    return names


def instances_of_paper(
    base: type[Kind], paper: Path, entries: Mapping[str, Mapping[str, Any]], outline: Outline | None = None
) -> dict[str, Instance]:
    """Return the tables or figures in a paper's file, by their names (`<paper>_<key>`).

    Parameters
    ----------
    paper : config/papers/<paper>.yaml
    entries : the value of the file's key `tables` or `figures`. It maps a key, such as `table2`, to a mapping with
        the name of the `kind` and its parameters
    outline : if given, tables or figures without content in this run are left out

    Raises
    ------
    UserError
        A kind is unknown or a parameter is wrong; the message names file and key.
    """
    instances = {}
    for key, entry in entries.items():
        where = f"{paper}: {base.folder}.{key}"
        if "kind" not in entry:
            raise UserError(f"{where}.kind: this key is missing; add it")
        kind, parameters = str(entry["kind"]), {name: value for name, value in entry.items() if name != "kind"}
        try:
            fields = find(base, kind).model_fields
        except UserError as error:
            raise UserError(f"{where}.kind: {error}") from None
        if "paper" in fields:
            parameters["paper"] = str(paper)
        if "printed" in fields:  # name of the printed table in the paper's CSV file
            parameters.setdefault("printed", key)
        made = make(base, kind, parameters, where)
        if outline is None or made.applies(outline):
            name = f"{paper.stem}_{key}"
            instances[name] = Instance(name, kind, parameters, paper.stem)
    return instances


def kinds_of_paper(
    paper: Path, tables: Mapping[str, Mapping[str, Any]], figures: Mapping[str, Mapping[str, Any]]
) -> list[Kind]:
    """Return an object of its kind for each table and figure in a paper's file (see `instances_of_paper`)."""
    bases: list[tuple[type[Kind], Mapping[str, Mapping[str, Any]]]] = [(TableKind, tables), (FigureKind, figures)]
    return [
        make(base, instance.kind, instance.parameters, instance.name)
        for base, entries in bases
        for instance in instances_of_paper(base, paper, entries).values()
    ]


def inputs(base: type[Kind], instance: Instance, outline: Outline) -> list[str]:
    """Return the results files that a table or figure reads, relative to the folder of results.

    Tables and figures about fitted methods also read the records of fits, to mark fits that ended at a limit. If the
    run names packs, all tables and figures also read packs.json. This file lists the methods of packs that are left out
    of a task. These methods are not known before the run.
    """
    needs = find(base, instance.kind).needs
    marked = ("packs",) if NOT_OF_FITS.issuperset(needs) else ("settings", "decisions", "packs")
    return [GATHERED[name] for name in dict.fromkeys((*needs, *marked)) if name in outline.files]


def printed_numbers(instance: Instance) -> list[str]:
    """Return a list with the paper's CSV file if a table or figure reads a paper; otherwise, an empty list."""
    paper = instance.parameters.get("paper")
    return [] if paper is None else [str(Path(paper).with_suffix(".csv"))]


def modules(base: type[Kind], instance: Instance) -> tuple[str, str]:
    """Return the names of the two modules that make a table or figure: that of the stage and that of the kind."""
    stage = base.folder.removesuffix("s")
    return f"vsebench.stages.{stage}", find(base, instance.kind).__module__
