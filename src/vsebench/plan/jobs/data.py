"""Jobs that make the label matrix, the features and the splits of a data set from its sources."""

import os
from pathlib import Path
from typing import Any

from vsebench.config.dataset import DatasetConfig
from vsebench.core.modules import modules_in
from vsebench.core.storage import as_sealed_json, features_file
from vsebench.core.tasks import Task
from vsebench.formats.adapters import knows, load_adapter
from vsebench.formats.images.image_files import folders_of
from vsebench.plan.jobs.base import Job, Wildcards, options, sources
from vsebench.plan.paths import FIRST_DOWNLOADS
from vsebench.plan.plan import Plan, source_datasets
from vsebench.protocols.base import load_protocol, module_of_protocol, source_of

MADE_FEATURES = "data/features"  # results of the stage `features`, in one folder per data set


def about(plan: Plan, at: Wildcards) -> Job:
    """Describe a data set, and the sources of its siblings and word vectors, for tables and the report."""
    keys = {"title", "licence", "citation", "homepage"}
    named = {"siblings": plan.siblings.get(at.dataset), "word_vectors": plan.word_vectors.get(at.dataset)}
    shown = {name: source.model_dump(include=keys) for name, source in named.items() if source is not None}
    path = Path("data/processed") / at.dataset / "about.json"
    return Job({}, content=as_sealed_json(plan.datasets[at.dataset].about() | shown, path, sort_keys=True))


def download(plan: Plan, at: Wildcards) -> Job:
    """Download the files of a data set, or of a source of siblings or word vectors, but not the user's own files."""
    if at.kind == "raw":
        own = list(plan.datasets[at.name].own_files.values())
        return Job({"own": own}, download_options(plan, at.name, download_definition(plan, at.name)))
    datasets = plan.datasets.items()
    if at.kind == "siblings":
        dataset = next(name for name, config in datasets if config.siblings == at.name)
        return Job({}, download_options(plan, at.name, plan.siblings[dataset].definition("options")))
    dataset = next(name for name, config in datasets if config.word_vectors == at.name)
    return Job({}, download_options(plan, at.name, plan.word_vectors[dataset].download_definition()))


def download_options(plan: Plan, name: str, definition: dict[str, Any]) -> str:
    """Return the options of a download.

    The file with the checksums of first downloads is not an input, so that a change of this file repeats no download.
    """
    # The path is a parameter of rules. It is relative, so that no job is repeated when the project's folder is moved.
    first = os.path.relpath(plan.folder.parent / FIRST_DOWNLOADS)
    return options(name=name, definition=definition, first_downloads=first)


def download_definition(plan: Plan, dataset: str) -> dict[str, Any]:
    """Return the keys in a data set's file that determine its download."""
    config = plan.datasets[dataset]
    adapter = load_adapter(config.adapter, dataset)
    reads_options = config.adapter == "table" or hasattr(adapter, "alternatives") or hasattr(adapter, "fetch")
    definition = config.definition("vocabulary", "expected", *([] if reads_options else ["options"]))
    if "" in config.networks:
        definition.pop("features")
    for name in config.networks.keys() - {""}:
        definition["features"].pop(name)
    return definition


def network_features(plan: Plan, at: Wildcards) -> Job:
    """Compute features of images with a network.

    If the network or the images are downloaded, the input provenance.json stands for all downloaded files.
    """
    dataset, raw = plan.datasets[at.dataset], f"data/raw/{at.dataset}"
    values = dataset.networks[at.name].model_dump()
    names = [values["model"], values["images"]]
    own = [name for name in names if not dataset.downloads(name)]
    files = [str(path) for name in own for path in folders_of(Path(name)) or [name]]
    if len(own) < len(names):
        files.append(f"{raw}/provenance.json")
    values |= {key: f"{raw}/{values[key]}" for key in ("model", "images") if dataset.downloads(values[key])}
    return Job({"sources": sources("vsebench.commands.features"), "images": files}, options(**values))


def prepare(plan: Plan, at: Wildcards) -> Job:
    """Make the label matrix and the features of a data set from its downloads and the user's own files."""
    config, raw = prepared(plan, at.dataset), f"data/raw/{at.dataset}"
    inputs = {
        "downloaded": [f"{raw}/provenance.json"],
        "sources": sources("vsebench.stages.prepare", modules_in("formats")[config.adapter]),
        "own": list(config.own_files.values()),
    }
    return Job(inputs, options(name=at.dataset, definition=config.definition("files"), raw=raw))


def prepared(plan: Plan, dataset: str) -> DatasetConfig:
    """Return a data set as the stage `prepare` reads it: files of features take the place of networks."""
    config = plan.datasets[dataset]
    return config.with_features_in(f"{MADE_FEATURES}/{dataset}") if config.networks else config


def processed_files(plan: Plan, dataset: str) -> list[str]:
    """Return the files that the stage `prepare` writes."""
    config = plan.datasets[dataset]
    features = [features_file(name, features.is_sparse) for name, features in config.sets.items()]
    truth = ["truth.npz"] if knows(config.adapter) else []
    return ["pairs.parquet", "images.parquet", "labels.parquet", "summary.json", *features, *truth]


def croissant(plan: Plan, at: Wildcards) -> Job:
    """Describe the prepared files of a data set in the Croissant format.

    The true label probabilities of simulated data are left out.
    """
    folder = f"data/processed/{at.dataset}"
    named = [f"{folder}/{name}" for name in processed_files(plan, at.dataset)]
    files = [name for name in named if not name.endswith(("summary.json", "truth.npz"))]
    described = {"about": f"{folder}/about.json", "summary": f"{folder}/summary.json"}
    return Job({"sources": sources("vsebench.stages.croissant"), "files": named}, options(files=files, **described))


def siblings(plan: Plan, at: Wildcards) -> Job:
    """Find which labels of a data set are siblings; the table of parents is downloaded or the user's own."""
    name, config = plan.datasets[at.dataset].siblings, plan.siblings[at.dataset]
    raw = f"data/siblings/{name}"
    own = config.options.get("parents")
    parents = [f"{raw}/provenance.json"] if config.files else [own] if own else []
    modules = sources("vsebench.stages.siblings", modules_in("formats")[config.adapter])
    named = options(name=name, definition=config.definition("files"), raw=raw)
    return Job({"sources": modules, "parents": parents}, named)


def word_vectors(plan: Plan, at: Wildcards) -> Job:
    """Find the word vectors of a data set's labels, in downloaded files and in the user's own files."""
    name, config = plan.datasets[at.dataset].word_vectors, plan.word_vectors[at.dataset]
    raw = f"data/word_vectors/{name}"
    files = list(config.own_files.values())
    files += [f"{raw}/provenance.json"] if config.files else []
    modules = sources("vsebench.stages.word_vectors", modules_in("formats")[config.adapter])
    named = options(dataset=at.dataset, name=name, definition=config.definition(), raw=raw)
    return Job({"sources": modules, "vectors": files}, named)


def join(plan: Plan, at: Wildcards) -> Job:
    """Join two data sets for a protocol that trains on one of them and tests on the other."""
    tested, trained = (f"data/processed/{name}" for name in [at.dataset, *source_datasets([at.protocol])])
    names = ("pairs.parquet", "images.parquet", "labels.parquet", "word_vectors.npz")
    files = [f"{folder}/{name}" for folder in (tested, trained) for name in names]
    features = joined_features(plan, at.task)
    inputs = {"sources": sources("vsebench.stages.join"), "processed": files, "features": features}
    return Job(inputs, options(tested=tested, trained=trained, features=features))


def joined_tasks(plan: Plan) -> list[Task]:
    """Return the tasks that train on one data set and test on another."""
    return [task for task in plan.tasks if source_of(task.protocol)]


def joined_files(plan: Plan, task: Task) -> list[str]:
    """Return the files that the stage `join` writes."""
    tables = ["pairs.parquet", "images.parquet", "labels.parquet", "word_vectors.npz", "given.parquet"]
    return [*tables, *plan.feature_files(task).values()]


def joined_features(plan: Plan, task: Task) -> list[str]:
    """Return the files of the sets of features that both data sets have; those of the tested data set come first."""
    names = [task.dataset, *source_datasets([task.protocol])]
    return [
        f"data/processed/{name}/{features_file(set_name, plan.datasets[name].sets[set_name].is_sparse)}"
        for name in names
        for set_name in plan.feature_files(task)
    ]


def split(plan: Plan, at: Wildcards) -> Job:
    """Split a data set under a protocol; a protocol with unseen labels also reads word vectors."""
    folder = plan.processed(at.task)
    protocol = module_of_protocol(at.protocol).__name__
    word_vectors_read = [f"{folder}/word_vectors.npz"] if load_protocol(at.protocol).unseen else []
    named = plan.config.datasets[at.dataset].unseen_labels
    unseen = [named] if named and at.protocol in plan.drawing_unseen(at.dataset) else []
    inputs = {
        "processed": [f"{folder}/{name}.parquet" for name in ("pairs", "images", "labels")],
        "sources": sources("vsebench.stages.split", protocol),
        "word_vectors": word_vectors_read,
        "unseen_labels": unseen,
    }
    return Job(inputs, options(processed=folder, word_vectors=word_vectors_read, unseen_labels=unseen))
