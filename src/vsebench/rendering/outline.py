"""The outline of a run for tables, figures and the report: `results/outline.json`.

The package `vsebench.plan`, which plans a run, writes the outline before the first job. It contains names, titles and
roles, but no results. Its entries are in display order, so the keys of the JSON objects are not sorted.
"""

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from vsebench.config.method import Role
from vsebench.core.errors import UserError
from vsebench.core.storage import read_json
from vsebench.core.tasks import Entry, Task
from vsebench.core.yaml_files import Strict
from vsebench.evaluation.analyses import known_analyses

# The gathered files in the folder of results, by the names that tables and figures use for them. A run makes an
# analysis only if a table, a figure or a claim of a paper reads it, and only for the methods named there.
GATHERED = {
    "summary": "summary.parquet",
    "metrics": "metrics.parquet",
    "cold": "cold.parquet",
    "by_frequency": "by_frequency.parquet",
    "history": "history.parquet",
    "timing": "timing.parquet",
    "scaling": "scaling.parquet",
    "sweeps": "sweeps.parquet",
    "settings": "settings.json",
    "decisions": "decisions.json",
    "datasets": "datasets.json",
    "word_vectors": "word_vectors.json",
    "packs": "packs.json",
    "machine": "machine.json",
    "claims": "claims.csv",
    "comparison": "comparison.csv",
    "audit": "audit.csv",
    **{name: f"{name}.parquet" for name in known_analyses()},
}


FEWEST_SEEDS = 3


class OutlineVariant(Strict):
    """A method or decision that the run names, with the data that tables and figures show, such as its title."""

    title: str
    short: str | None = None  # the title where space is short
    role: Role  # an oracle is not compared with the other methods, and is shown separately
    source: str  # paper, equation, and origin of the settings
    tuned: str | None = None  # who chose the settings of a model with the role `external`
    pack: str | None = None  # for a method of a pack: in which run it was fitted, in words
    by_command: bool = False  # whether a command of the run trains the model

    def shown(self, short: bool) -> str:
        """Return the title; with `short`, return the short title if there is one."""
        return (self.short if short else None) or self.title


class LeftOut(Strict):
    """A method that is left out of a task, with the reason."""

    dataset: str
    protocol: str
    method: str
    reason: str


class MetricLeftOut(Strict):
    """A metric that cannot be computed on a task, with the reason."""

    dataset: str
    protocol: str
    metric: str
    reason: str


class Outline(Strict):
    """A run's tasks, methods, protocols, seeds and metrics, in display order."""

    configuration: str = ""  # the name of the configuration file; empty if there is none
    tasks: list[Task]
    variants: dict[str, OutlineVariant]
    protocols: dict[str, str]  # name -> a description of the held-out labels
    seeds: list[int]
    # dataset/protocol/method -> the method's seeds on this task, if they differ from `seeds`
    own_seeds: dict[str, list[int]] = Field(default_factory=dict)
    metrics: list[str] = Field(min_length=1)  # metrics of rankings, such as recall@10, in the column `metric`
    decision_metrics: list[str] = Field(default_factory=list)  # metrics of label sets, such as exact_match
    decisions: dict[str, OutlineVariant] = Field(default_factory=dict)  # in display order
    decided: list[Task] = Field(default_factory=list)  # the tasks on which methods have decisions
    left_out: list[LeftOut]
    metrics_left_out: list[MetricLeftOut]
    papers: dict[str, str]  # name -> title
    files: list[str]  # keys of GATHERED whose files the run produces
    # The fields below decide which tables and figures have content (`Kind.applies`):
    entries: dict[str, list[str]]  # dataset/protocol -> names of the methods, and each "method/decision"
    trained: list[str]  # methods that are trained in epochs
    searching: list[str]  # methods that examine negatives until one violates the margin
    timed: dict[str, list[str]]  # dataset/protocol -> the methods that are timed there
    simulated: list[str]  # simulated data sets
    judged: list[str]  # papers with a claim that this run can judge: the claim's method ran on suitable data
    compared: dict[str, list[str]]  # paper -> its printed tables that contain numbers recomputed by this run

    def without(self, left_out: Sequence[LeftOut]) -> "Outline":
        """Return a copy of the outline from which the methods in `left_out` are removed.

        `left_out` contains methods of packs, each with a task. Such a method was fitted on another split, or tested on
        other labels. The copy lists it in `left_out`, but not among the `entries` of the task.
        """
        names = {(f"{left.dataset}/{left.protocol}", left.method) for left in left_out}
        entries = {
            task: [name for name in of_task if (task, name) not in names] for task, of_task in self.entries.items()
        }
        return self.model_copy(update={"entries": entries, "left_out": [*self.left_out, *left_out]})

    @property
    def few_seeds(self) -> str:
        """A warning if a task has too few seeds to show how much results vary between seeds; otherwise "".

        The seeds of a task are those of the method with the most: a method without random numbers may have one seed.
        """
        number = len(self.seeds)
        for task, names in self.entries.items():
            of_methods = [self.own_seeds.get(f"{task}/{Entry.of(name).variant}", self.seeds) for name in names]
            number = min(number, max(map(len, of_methods), default=number))
        if number >= FEWEST_SEEDS:
            return ""
        seeds = "one seed" if number == 1 else f"{number} seeds"
        return f"{seeds} cannot show how much results vary between seeds; use at least {FEWEST_SEEDS}, preferably 5"

    @property
    def number_of_seeds(self) -> str:
        """The number of seeds, as text.

        If methods or tasks have different numbers of seeds, the text is a range, such as "1 to 5".
        """
        numbers = [len(seeds) for seeds in (self.seeds, *self.own_seeds.values())]
        return f"{min(numbers)} to {max(numbers)}" if len(set(numbers)) > 1 else str(numbers[0])

    def competitors(self, task: Task) -> list[str]:
        """Return the methods of a task that are compared with each other, in display order."""
        return [
            name
            for name, variant in self.variants.items()
            if variant.role != "oracle" and name in self.entries[str(task)]
        ]

    def tasks_with(self, *names: str, protocols: Collection[str] | None = None) -> list[Task]:
        """Return the tasks on which at least one of the given methods has results, in display order.

        Each of the `names` has the form "method" or "method/decision". If `protocols` is given, only tasks with one of
        these protocols are returned.
        """
        return [
            task
            for task in self.tasks
            if (protocols is None or task.protocol in protocols) and not set(names).isdisjoint(self.entries[str(task)])
        ]

    def variants_of_role(self, *roles: Role) -> list[str]:
        """Return the names of the methods that have one of the given roles."""
        return [name for name, variant in self.variants.items() if variant.role in roles]


def read_outline(path: Path) -> Outline:
    """Read the outline of a run; a missing or damaged file raises a `UserError`."""
    text = json.dumps(read_json(path))  # as JSON, because only then can a task be read from an object
    try:
        return Outline.model_validate_json(text)
    except ValidationError:
        raise UserError(f"{path}: is not a readable outline of a run; delete it and run again") from None
