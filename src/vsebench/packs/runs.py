"""The results of a run, in a folder or in a pack, with their manifest."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vsebench.core.errors import UserError
from vsebench.core.storage import read_json
from vsebench.core.tasks import FROM_PACK, Case, Entry, Task, common_seeds
from vsebench.packs.archive import unpack
from vsebench.packs.manifest import Manifest, PackedData, PackedTask, Shown
from vsebench.rendering.outline import Outline, OutlineVariant, read_outline

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
    """Yield the results in a folder or a pack; those of a pack are in a temporary folder until the block ends."""
    if path.is_dir():
        yield Run(path, path, manifest_of(path))
        return
    with TemporaryDirectory(prefix="vsebench-") as folder:
        yield Run(path, Path(folder), unpack(path, Path(folder)))


def manifest_of(results: Path, data: Path | None = None) -> Manifest:
    """Return the manifest of a finished run.

    Parameters
    ----------
    results : the folder of its results
    data : the folder with its data sets, whose files are hashed; None: the manifest contains no hashes of data

    Raises
    ------
    UserError
        A file is missing, or an older version of vsebench wrote the splits.
    """
    outline, machine = read_outline(made(results / "outline.json")), read_json(made(results / "machine.json"))
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
        repeat = "repeat its command, `vsebench run FILE`, where FILE is its configuration"
        raise UserError(f"{path}: no such file; the run is not finished: {repeat}")
    return path


def _shown(variant: OutlineVariant) -> Shown:
    return Shown(**variant.model_dump(include=set(Shown.model_fields)))


def _task(task: Task, own: list[str], outline: Outline, results: Path) -> PackedTask:
    """Return the manifest's entry for a task, with only the run's own methods, not those from other packs."""
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
    """Return a data set's entry for the manifest, made from datasets.json and, if it exists, from the folder `data`."""
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
