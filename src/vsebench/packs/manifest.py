"""The manifest of a pack: which tasks, splits, methods and metrics it has (`pack.json`)."""

from collections.abc import Sequence
from types import UnionType
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from vsebench.config.method import Role
from vsebench.core.errors import UserError
from vsebench.core.tasks import Entry, Task
from vsebench.evaluation.metrics.base import (
    ImageSetMetric,
    LabelMetric,
    ListMetric,
    Metric,
    PopularityMetric,
    SetMetric,
    load_metric,
)

# The schema number of packs. Increase it if an older version of vsebench would fail on a new pack or misread it.
PACK_VERSION = 2
MANIFEST = "pack.json"


class _Open(BaseModel):
    """A part of a manifest; keys that this version does not know are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Shown(_Open):
    """What a pack says about a method or a decision."""

    title: str
    role: Role
    source: str
    tuned: str | None = None  # who chose the settings of a model that was trained elsewhere


class PackedTask(_Open):
    """A task of a run."""

    protocol: str  # a description of what is held out
    splits: dict[int, str]  # seed -> the hash of the split
    methods: dict[str, list[int]]  # method -> its seeds
    decided: list[str] = []  # methods with a decision, as "method/decision"


class PackedData(_Open):
    """A data set of a run; the hashes are empty if the files did not exist when the pack was written."""

    title: str
    simulated: bool
    licence: str
    citation: str
    homepage: str | None = None
    downloaded: dict[str, str] = {}  # file -> SHA-256
    prepared: dict[str, str] = {}  # file -> SHA-256


class Manifest(_Open):
    """The content of pack.json, which describes a pack."""

    pack: int = PACK_VERSION
    name: str
    vsebench: str  # the version that wrote the results
    commit: str
    tasks: dict[str, PackedTask]  # dataset/protocol -> the task
    methods: dict[str, Shown]  # in display order
    decisions: dict[str, Shown]
    datasets: dict[str, PackedData]
    metrics: list[str]
    decision_metrics: list[str]
    checksums: dict[str, str] = {}  # CSV or Markdown file -> SHA-256; other formats contain their own checksums

    @property
    def of_tasks(self) -> dict[Task, PackedTask]:
        """The tasks in display order."""
        return {Task.of(name): task for name, task in self.tasks.items()}

    def entries(self, task: Task) -> dict[Entry, list[int]]:
        """Map each method of a task, alone and with each of its decisions, to its seeds."""
        packed = self.tasks[str(task)]
        alone = {Entry(method): seeds for method, seeds in packed.methods.items()}
        return alone | {(entry := Entry.of(name)): packed.methods[entry.variant] for name in packed.decided}


def files_read(metrics: Sequence[str]) -> list[str]:
    """Return the files that the given ranking metrics read for each model, in addition to its ranks.

    >>> files_read(["recall@10"]), files_read(["macro_f1@5", "label_map"])
    ([], ['lists.parquet', 'label_ranks.parquet'])
    """
    of_lists = ListMetric | PopularityMetric | SetMetric | ImageSetMetric
    kinds: dict[str, type[Metric] | UnionType] = {"lists.parquet": of_lists, "label_ranks.parquet": LabelMetric}
    return [file for file, kind in kinds.items() if any(isinstance(load_metric(name), kind) for name in metrics)]


def read_manifest(value: Any, where: str) -> Manifest:
    """Check the content of a pack.json, and return it as a manifest.

    A `UserError` is raised if the content is wrong, or if its schema number is too new for this version of vsebench.
    """
    number = value.get("pack") if isinstance(value, dict) else None
    if isinstance(number, int) and number > PACK_VERSION:
        limit = f"this version of vsebench reads up to {PACK_VERSION}"
        raise UserError(f"{where}: the pack has the schema number {number}, but {limit}; install a newer version")
    try:
        return Manifest.model_validate(value)
    except ValidationError as error:
        key = ".".join(map(str, error.errors()[0]["loc"]))
        raise UserError(f"{where}: not a pack of vsebench: {MANIFEST} is wrong at {key or 'its beginning'}") from None
