"""Read the description of a paper: a YAML file, and a CSV file of the same name.

The CSV file contains the numbers that the paper prints (docs/papers.md). No paper is named in the code: these two files
determine everything that a run does with a paper.
"""

from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pydantic import Field, PrivateAttr

from vsebench.core.errors import UserError
from vsebench.core.tasks import Entry, Task
from vsebench.core.yaml_files import Strict, check, read_yaml
from vsebench.papers.published import PrintedCell, PrintedCells, Statement, read_published


class PaperRow(Strict):
    """A method that a paper names, and the variants of this project that implement it."""

    title: str
    ours: list[str] = Field(default_factory=list)  # "method" or "method/decision"


class PaperTask(Strict):
    """A data set that a paper names, and the data set and protocol of this project that correspond to it, if any."""

    title: str
    dataset: str | None = None  # our data set with the same data; its counts are compared with the paper's
    protocol: str | None = None  # our protocol with the same held-out labels; none: no accuracies or times are compared
    note: str | None = None

    @property
    def ours(self) -> Task | None:
        """The task of this project whose accuracies can be compared with the paper's; None if there is no such task."""
        return Task(self.dataset, self.protocol) if self.dataset and self.protocol else None


class Paper(Strict):
    """The contents of a paper's YAML file; the keys of `rows` and `tasks` are names in the paper's CSV file."""

    title: str = Field(min_length=1)  # short title for headings
    citation: str
    link: str | None = None
    run: str | None = None  # the file in `config` of the run that tests most of the paper's claims
    rows: dict[str, PaperRow] = Field(default_factory=dict)
    tasks: dict[str, PaperTask] = Field(default_factory=dict)
    # name of a table or figure -> its kind and parameters; the kind validates the parameters
    tables: dict[str, dict[str, Any]] = Field(default_factory=dict)
    figures: dict[str, dict[str, Any]] = Field(default_factory=dict)
    claims: list[dict[str, Any]] = Field(default_factory=list)  # validated by `papers.verdicts.read_claims`
    claim_defaults: dict[str, Any] = Field(default_factory=dict)  # parameter -> its default in tests that have it
    checks: list[str] | None = None  # the audit's checks, or families of checks, to apply; none: all
    statements: dict[str, Statement] = Field(default_factory=dict)  # name of a statement in the audit -> its content
    conditions: dict[str, str] = Field(default_factory=dict)  # cell -> condition under which it contradicts other cells
    lower_bounds: list[str] = Field(default_factory=list)  # cells that are lower bounds (printed with "more than")
    same_fact: list[list[str]] = Field(default_factory=list)  # groups of checked cells and statements about one fact
    _path: Path = PrivateAttr()

    @classmethod
    def read(cls, path: Path) -> "Paper":
        """Read and validate a paper's YAML file; a mistake raises a `UserError` that names the file and the key."""
        if path.is_dir():
            raise UserError(f"{path}: is a folder, but must be a paper's YAML file")
        files = [file.stat() for file in (path, path.with_suffix(".csv")) if file.exists()]
        return cls._read(path, *((file.st_ino, file.st_mtime_ns, file.st_size) for file in files))

    @classmethod
    @cache
    def _read(cls, path: Path, *_states: tuple[int, int, int]) -> "Paper":
        """Return the paper, from a cache if the states of its two files, `_states`, have not changed.

        The cache saves time, because the plan needs the paper for each table.
        """
        paper = check(cls, read_yaml(path), str(path))
        paper._path = path
        for key, task in paper.tasks.items():
            if task.protocol and not task.dataset:
                raise UserError(
                    f"{path}: tasks.{key}: protocol: `dataset` is missing; name the data set of vsebench there"
                )
        return paper

    @property
    def name(self) -> str:
        """The paper's name in tables, files and Snakemake targets."""
        return self._path.stem

    @property
    def path(self) -> Path:
        """The path of the YAML file."""
        return self._path

    @property
    def numbers(self) -> Path:
        """The path of the CSV file with the printed numbers."""
        return self._path.with_suffix(".csv")

    @property
    def datasets(self) -> list[str]:
        """The names of this project's data sets that contain the same data as a data set of the paper."""
        return sorted({task.dataset for task in self.tasks.values() if task.dataset is not None})

    @property
    def own(self) -> list[str]:
        """Our variants of the paper's own method (the row that has the paper's name); empty if there is no such row."""
        row = self.rows.get(self.name)
        return [] if row is None else list(dict.fromkeys(Entry.of(name).variant for name in row.ours))

    @property
    def facts(self) -> dict[str, Any]:
        """The entries of the paper's YAML file that comparisons and tables read."""
        return self.model_dump(include={"title", "rows", "tasks"})

    @property
    def audited(self) -> dict[str, Any]:
        """The entries of the paper's YAML file that the audit of the printed numbers reads."""
        return self.model_dump(include={"checks", "statements", "conditions", "lower_bounds", "same_fact"})

    @property
    def tested(self) -> dict[str, Any]:
        """The entries of the paper's YAML file that the tests of the claims read."""
        return self.model_dump(include={"claims", "claim_defaults"})

    @cached_property
    def cells(self) -> PrintedCells:
        """The cells of the paper's CSV file."""
        return read_published([self.numbers])

    def printed(self, table: str) -> list[PrintedCell]:
        """Return the cells of one table as printed; an unknown table raises a `UserError`."""
        cells = [cell for cell in self.cells.all if cell.table == table]
        if not cells:
            raise UserError(f"{self.numbers}: has no {table}, but {self._path} names it")
        return cells

    def row_title(self, row: str) -> str:
        """Return the title of a method in the paper, or the method's name if it has no title."""
        return self.rows[row].title if row in self.rows else row

    def task_title(self, task: str) -> str:
        """Return the title of a data set in the paper, or the data set's name if it has no title."""
        return self.tasks[task].title if task in self.tasks else task


def read_papers(paths: Sequence[Path]) -> list[Paper]:
    return [Paper.read(path) for path in paths]
