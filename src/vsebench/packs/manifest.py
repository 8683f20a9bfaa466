"""The manifest of a pack: which tasks, splits, methods and metrics it has (`pack.json`)."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from vsebench.core.errors import UserError
from vsebench.core.storage import read_json
from vsebench.core.tasks import FROM_PACK, Case, Entry, Task, common_seeds
from vsebench.evaluation.metrics.base import ImageSetMetric, LabelMetric, ListMetric, SetMetric, load_metric
from vsebench.rendering.outline import Outline, OutlineVariant, read_outline

# The schema number of packs. Add one when an older version of vsebench would fail on a pack or misread it.
PACK_VERSION = 1
MANIFEST = "pack.json"
HASHED = ("pairs.parquet", "images.parquet", "labels.parquet")  # files of a prepared data set


class _Open(BaseModel):
    """A part of a manifest; keys that this version does not know are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Shown(_Open):
    """A method or a decision."""

    title: str
    role: str
    source: str
    tuned: str | None = None  # who chose the settings of a model that was trained elsewhere


class PackedTask(_Open):
    """A task of a run."""

    protocol: str  # a description of the held-out labels
    splits: dict[int, str]  # seed -> the hash of the split
    methods: dict[str, list[int]]  # method -> its seeds
    decided: list[str] = []  # each "method/decision"


class PackedData(_Open):
    """A data set of a run; the hashes are empty where the files were not there when the pack was written."""

    title: str
    simulated: bool
    licence: str
    citation: str
    homepage: str | None = None
    downloaded: dict[str, str] = {}  # file -> SHA-256
    prepared: dict[str, str] = {}  # file -> SHA-256


class Manifest(_Open):
    """The content of a pack."""

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

    @property
    def of_tasks(self) -> dict[Task, PackedTask]:
        """The tasks in display order."""
        return {Task.of(name): task for name, task in self.tasks.items()}

    def entries(self, task: Task) -> dict[Entry, list[int]]:
        """Return the methods of a task, alone and with each of their decisions, with their seeds."""
        packed = self.tasks[str(task)]
        alone = {Entry(method): seeds for method, seeds in packed.methods.items()}
        return alone | {(entry := Entry.of(name)): packed.methods[entry.variant] for name in packed.decided}


def files_read(metrics: Sequence[str]) -> list[str]:
    """Return the files of a model that metrics of rankings read besides its ranks.

    >>> files_read(["recall@10"]), files_read(["macro_f1@5", "label_map"])
    ([], ['lists.parquet', 'label_ranks.parquet'])
    """
    kinds = {"lists.parquet": ListMetric | SetMetric | ImageSetMetric, "label_ranks.parquet": LabelMetric}
    return [file for file, kind in kinds.items() if any(isinstance(load_metric(name), kind) for name in metrics)]


def manifest_of(results: Path, data: Path | None = None) -> Manifest:
    """Return the manifest of a finished run.

    Parameters
    ----------
    results : the folder of its results
    data : the folder of its data, to hash the files of the data sets; None: the manifest has no hashes of data

    Raises
    ------
    UserError
        A file is missing, or an older version wrote the splits.
    """
    outline, machine = read_outline(results / "outline.json"), read_json(results / "machine.json")
    own = [name for name in outline.variants if FROM_PACK not in name]
    return Manifest(
        name=Path(outline.configuration or "run").stem,
        vsebench=machine["versions"]["vsebench"],
        commit=machine["git_commit"],
        tasks={str(task): _task(task, own, outline, results) for task in outline.tasks},
        methods={name: _shown(outline.variants[name]) for name in own},
        decisions={name: _shown(decision) for name, decision in outline.decisions.items()},
        datasets={entry["name"]: _data(entry, data) for entry in read_json(results / "datasets.json")},
        metrics=outline.metrics,
        decision_metrics=outline.decision_metrics,
    )


def _shown(variant: OutlineVariant) -> Shown:
    return Shown(**variant.model_dump(include=set(Shown.model_fields)))


def _task(task: Task, own: list[str], outline: Outline, results: Path) -> PackedTask:
    """Return the entry of a task, with the results of the run's own methods only."""
    here = outline.entries[str(task)]
    methods = {name: common_seeds(outline.seeds, outline.own_seeds, task, [name]) for name in own if name in here}
    splits = {}
    for seed in sorted(set().union(*methods.values())):
        path = Case(task, "", seed).split(results) / "split.json"
        splits[seed] = read_json(path).get("hash")
        if splits[seed] is None:
            raise UserError(f"{path}: has no hash, since an older version wrote it; delete it and run again")
    decided = [name for name in here if Entry.of(name).decision and Entry.of(name).variant in methods]
    return PackedTask(protocol=outline.protocols[task.protocol], splits=splits, methods=methods, decided=decided)


def _data(entry: dict[str, Any], data: Path | None) -> PackedData:
    """Return the entry of a data set, from its entry in datasets.json and its files, where they are there."""
    described: dict[str, Any] = {
        key: entry.get(key) for key in ("title", "simulated", "licence", "citation", "homepage")
    }
    if data is None:
        return PackedData(**described)
    provenance, folder = data / "raw" / entry["name"] / "provenance.json", data / "processed" / entry["name"]
    records = read_json(provenance)["files"] if provenance.is_file() else []
    return PackedData(
        **described,
        downloaded={Path(record["name"]).name: record["sha256"] for record in records},
        prepared={
            name: sha256((folder / name).read_bytes()).hexdigest() for name in HASHED if (folder / name).is_file()
        },
    )


def read_manifest(value: Any, where: str) -> Manifest:
    """Check the content of a pack.json; a newer schema number, or other content, raises a `UserError`."""
    number = value.get("pack") if isinstance(value, dict) else None
    if isinstance(number, int) and number > PACK_VERSION:
        limit = f"this version of vsebench reads up to {PACK_VERSION}"
        raise UserError(f"{where}: schema number {number} of packs, but {limit}; install a newer version")
    try:
        return Manifest.model_validate(value)
    except ValidationError as error:
        key = ".".join(map(str, error.errors()[0]["loc"]))
        raise UserError(f"{where}: not a pack of vsebench: {MANIFEST} is wrong at {key or 'its beginning'}") from None
