"""The results of a run, in a folder or in a pack, with their manifest."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vsebench.core.errors import UserError
from vsebench.core.schemas import SUMMARY
from vsebench.core.storage import read_json, read_table
from vsebench.core.tasks import FROM_PACK, Case, Entry, Task, common_seeds
from vsebench.evaluation.metrics.base import ImageSetMetric, RankMetric, SetMetric, load_metric
from vsebench.packs.archive import unpack
from vsebench.packs.manifest import Manifest, PackedData, PackedTask, Shown
from vsebench.rendering.outline import Outline, OutlineVariant, read_outline

UNFINISHED = "the run is not finished: repeat its command, `vsebench run FILE`, where FILE is its configuration"
HASHED = ("pairs.parquet", "images.parquet", "labels.parquet")  # files of a prepared data set


@dataclass(frozen=True)
class Run:
    """The results of a run, from a folder or from a pack.

    Attributes
    ----------
    path : the folder or the pack, as the user named it
    folder : a folder with the files of results: `path` itself, or the folder into which the pack is unpacked
    """

    path: Path
    folder: Path
    manifest: Manifest


@contextmanager
def opened(path: Path) -> Iterator[Run]:
    """Yield the results in a folder or a pack.

    A pack is unpacked into a temporary folder, which is deleted at the end of the block.
    """
    if path.is_dir():
        yield Run(path, path, manifest_of(path))
        return
    with TemporaryDirectory(prefix="vsebench-") as folder:
        yield Run(path, Path(folder), unpack(path, Path(folder)))


def manifest_of(results: Path, data: Path | None = None) -> Manifest:
    """Return the manifest of a finished run.

    Parameters
    ----------
    results : the folder with the results of the run
    data : the folder with the data sets of the run, whose files are hashed; if None, the manifest contains no hashes of
        data

    Raises
    ------
    UserError
        A file is missing or does not fit the outline, or an older version of vsebench wrote the splits.
    """
    outline, machine = read_outline(made(results / "outline.json")), read_json(made(results / "machine.json"))
    check_finished(outline, results)
    own = [name for name in outline.variants if FROM_PACK not in name]
    return Manifest(
        name=Path(outline.configuration or "run").stem,
        vsebench=machine["versions"]["vsebench"],
        commit=machine["git_commit"],
        tasks={str(task): _task(task, own, outline, results) for task in outline.tasks},
        methods={name: _shown(outline.variants[name]) for name in own},
        decisions={name: _shown(decision) for name, decision in outline.decisions.items()},
        datasets={entry["name"]: _data(entry, data) for entry in read_json(made(results / "datasets.json"))},
        metrics=outline.metrics,
        decision_metrics=outline.decision_metrics,
    )


def made(path: Path) -> Path:
    """Return the path of a file that every finished run has made; raise a `UserError` if it is missing."""
    if not path.is_file():
        raise UserError(f"{path}: no such file; {UNFINISHED}")
    return path


def check_finished(outline: Outline, results: Path) -> None:
    """Raise a `UserError` unless the results have the tasks, methods, seeds and metrics of the outline, and no others.

    The outline is written before the first job. So if a run is repeated with another configuration and then stopped,
    the other files are still those of the earlier configuration.
    """
    found_and_planned = {
        "summary.parquet": (set(_measured(results)), set(_to_measure(outline))),
        "settings.json": (set(_fitted(results)), set(_to_fit(outline))),
    }
    for name, (found, planned) in found_and_planned.items():
        if different := sorted(found ^ planned):
            has = "has" if different[0] in found else "lacks"
            raise UserError(f"{results / name}: {has} {different[0]}, unlike {results}/outline.json; {UNFINISHED}")


def _measured(results: Path) -> Iterator[str]:
    """Yield "<metric> of <entry> on <task>" for each value of the run's own methods in summary.parquet.

    Metrics that do not have a value on every task are left out.
    """
    for row in read_table(made(results / "summary.parquet"), SUMMARY).iter_rows(named=True):
        entry, task = Entry(row["method"], row["decision"]), Task(row["dataset"], row["protocol"])
        if FROM_PACK not in entry.variant and _always_has_value(row["metric"]):
            yield f"{row['metric']} of {entry} on {task}"


def _to_measure(outline: Outline) -> Iterator[str]:
    """Yield the same texts as `_measured`, for the values that a run with this outline computes."""
    for task, entries in outline.entries.items():
        for entry in (Entry.of(name) for name in entries if FROM_PACK not in name):
            metrics = outline.decision_metrics if entry.decision else outline.metrics
            yield from (f"{metric} of {entry} on {task}" for metric in metrics if _always_has_value(metric))


def _always_has_value(metric: str) -> bool:
    """Return whether a metric has a value on every task, unlike a metric that needs siblings of labels."""
    return isinstance(load_metric(metric), RankMetric | SetMetric | ImageSetMetric)


def _fitted(results: Path) -> Iterator[str]:
    """Yield "<method> on <task>, seed <k>" for each fitted model."""
    for fit in read_json(made(results / "settings.json")):
        yield f"{fit['method']} on {fit['dataset']}/{fit['protocol']}, seed {fit['seed']}"


def _to_fit(outline: Outline) -> Iterator[str]:
    """Yield "<method> on <task>, seed <k>" for each model that a run with this outline fits."""
    for task in outline.tasks:
        for name in outline.entries[str(task)]:
            if FROM_PACK not in name and not Entry.of(name).decision:
                seeds = common_seeds(outline.seeds, outline.own_seeds, task, [name])
                yield from (f"{name} on {task}, seed {seed}" for seed in seeds)


def _shown(variant: OutlineVariant) -> Shown:
    return Shown(**variant.model_dump(include=set(Shown.model_fields)))


def _task(task: Task, own: list[str], outline: Outline, results: Path) -> PackedTask:
    """Return the manifest's entry for a task, without methods that the run takes from other packs."""
    here = outline.entries[str(task)]
    methods = {name: common_seeds(outline.seeds, outline.own_seeds, task, [name]) for name in own if name in here}
    splits = {}
    for seed in sorted(set().union(*methods.values())):
        path = Case(task, "", seed).split(results) / "split.json"
        splits[seed] = read_json(made(path)).get("hash")
        if splits[seed] is None:
            raise UserError(f"{path}: has no hash, because an older version wrote it; delete it and run again")
    decided = [name for name in here if Entry.of(name).decision and Entry.of(name).variant in methods]
    return PackedTask(protocol=outline.protocols[task.protocol], splits=splits, methods=methods, decided=decided)


def _data(entry: dict[str, Any], data: Path | None) -> PackedData:
    """Return the manifest's entry for a data set.

    `entry` is the data set's entry in datasets.json. If the folder `data` is given, the result contains hashes of the
    data set's files in this folder.
    """
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
