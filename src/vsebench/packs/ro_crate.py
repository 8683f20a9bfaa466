"""Describe a pack as an RO-Crate 1.1 (https://w3id.org/ro/crate/1.1), which archives of research data can read."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from vsebench.packs.manifest import Manifest

CRATE = "ro-crate-metadata.json"
FORMATS = {"json": "application/json", "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
CONTENT = {
    "summary.parquet": "The mean of each metric over the seeds, with intervals and paired tests",
    "metrics.parquet": "Each metric of each method and seed, with its interval",
    "timing.parquet": "Measured times and memory use of methods",
    "settings.json": "The settings of each fitted model, and how they were chosen",
    "datasets.json": "The data sets, with counts, licences and citations",
    "machine.json": "The machine and the versions of packages",
    "outline.json": "Tasks, methods, seeds and metrics of the run",
    "claims.csv": "The claims of papers with verdicts",
    "comparison.csv": "The numbers printed in papers next to those of the run",
}


def describe(manifest: Manifest, sizes: Mapping[str, int], modified: float) -> dict[str, Any]:
    """Return the content of ro-crate-metadata.json.

    Parameters
    ----------
    sizes : the size of each file of results in the pack, in bytes
    modified : when the results were made, in seconds since 1970
    """
    date = datetime.fromtimestamp(modified, UTC).date().isoformat()
    folders = {name: (f"Ranks of the methods on {name}", task.protocol) for name, task in manifest.tasks.items()}
    if any(name.startswith("tables/") for name in sizes):
        folders["tables"] = ("Tables", "The tables of the run, in Markdown")
    files = [name for name in sizes if name in CONTENT]
    datasets = [f"#data-{name}" for name in manifest.datasets]
    descriptor = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
    }
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"vsebench: results of the run {manifest.name}",
        "description": "Accuracy of methods for image annotation, with the ranks of the held-out labels.",
        "datePublished": date,
        "license": "The data sets of the run have their own licences; see mentions.",
        "hasPart": _references([*files, *(f"{name}/" for name in folders)]),
        "mentions": _references([*datasets, "#run"]),
    }
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"The run {manifest.name}",
        "instrument": {"@id": "#vsebench"},
        "object": _references(datasets),
        "result": {"@id": "./"},
    }
    software = {
        "@id": "#vsebench",
        "@type": "SoftwareApplication",
        "name": "vsebench",
        "version": f"{manifest.vsebench} ({manifest.commit})",
    }
    graph = [descriptor, root, *(_file(name, sizes[name]) for name in files)]
    graph += [_folder(name, *described) for name, described in folders.items()]
    graph += [_dataset(name, manifest) for name in manifest.datasets]
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": [*graph, run, software]}


def _references(ids: list[str]) -> list[dict[str, str]]:
    return [{"@id": name} for name in ids]


def _file(name: str, size: int) -> dict[str, str]:
    suffix = name.rpartition(".")[2]
    return {
        "@id": name,
        "@type": "File",
        "name": name,
        "description": CONTENT[name],
        "encodingFormat": FORMATS[suffix],
        "contentSize": str(size),
    }


def _folder(name: str, title: str, description: str) -> dict[str, str]:
    return {"@id": f"{name}/", "@type": "Dataset", "name": title, "description": description}


def _dataset(name: str, manifest: Manifest) -> dict[str, str]:
    data = manifest.datasets[name]
    homepage = {} if data.homepage is None else {"url": data.homepage}
    described = {"@id": f"#data-{name}", "@type": "Dataset", "name": data.title, "license": data.licence}
    return described | {"citation": data.citation} | homepage
