"""Share downloads, prepared data and virtual environments between runs that have folders of their own."""

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from vsebench.config.dataset import SourceFile
from vsebench.core.storage import read_json
from vsebench.formats.own_files import READ_IN_PLACE
from vsebench.plan.jobs.base import as_json
from vsebench.plan.jobs.commands import ENVIRONMENTS, environment_name
from vsebench.plan.plan import Plan, source_datasets


def share_data(plan: Plan, root: Path) -> None:
    """Link downloads, prepared data and the environments of users' commands to a folder that several runs share.

    In the shared folder, the name of a prepared data set contains a hash of its definition. Data sets with the same
    name but different options or filters are therefore stored separately. A table that the run names in `data` is not
    shared.

    Parameters
    ----------
    root : the folder of the project. The environment variable `VSEBENCH_DATA` names the shared folder, as an absolute
        path or relative to `root`; without this variable, nothing is shared
    """
    if "VSEBENCH_DATA" not in os.environ:
        return
    shared = root / os.environ["VSEBENCH_DATA"]
    if Path("data").resolve() == shared.resolve():
        return
    for name in shipped(plan):
        if is_of_definition(shared / "raw" / name / "provenance.json", plan.datasets[name].files):
            link(Path("data", "raw", name), shared / "raw" / name)
        link(Path("data", "processed", name), shared / "prepared" / f"{name}-{fingerprint(plan, name)}")
    for kind in ("siblings", "word_vectors"):
        for source in sorted(filter(None, (getattr(plan.datasets[name], kind) for name in shipped(plan)))):
            if (plan.folder / kind / f"{source}.yaml").is_file():
                link(Path("data", kind, source), shared / kind / source)
    for environment in filter(None, (environment_name(plan, variant) for variant in plan.commands)):
        link(Path(ENVIRONMENTS, environment), shared / "environments" / environment)


def shipped(plan: Plan) -> list[str]:
    """Return the data sets of a run that have a file in config/datasets."""
    return [name for name, entry in plan.config.datasets.items() if entry.data is None]


def fingerprint(plan: Plan, name: str) -> str:
    """Return a hash of everything on which the prepared files of a data set depend, apart from the code."""
    joined = source_datasets(plan.config.datasets[name].protocols)
    parts: list[dict[str, Any]] = []
    for dataset in [name, *joined]:
        config, siblings, vectors = plan.datasets[dataset], plan.siblings.get(dataset), plan.word_vectors.get(dataset)
        parts += [config.definition(), config.about()]
        parts += [source.model_dump(mode="json") for source in (siblings, vectors) if source is not None]
    return sha256(as_json(parts).encode()).hexdigest()[:12]


def is_of_definition(provenance: Path, files: list[SourceFile]) -> bool:
    """Return whether all downloads recorded in the file `provenance` are among `files`.

    The checksums in `files`, if any, must be those in the record. Without the file `provenance`, the result is True.
    """
    if not provenance.is_file():
        return True
    stated = {file.name: file for file in files}
    records = [record for record in read_json(provenance)["files"] if record["source"] != READ_IN_PLACE]
    return all(
        record["name"] in stated
        and stated[record["name"]].sha256 in (None, record["sha256"])
        and stated[record["name"]].md5 in (None, record["md5"])
        for record in records
    )


def link(path: Path, target: Path) -> None:
    """Make `path` a link to the folder `target`, creating `target` if needed; a folder at `path` is left as it is."""
    if path.exists() and not path.is_symlink():
        return
    target.mkdir(parents=True, exist_ok=True)
    # At the end of a run, Snakemake removes empty folders, and fails if one is a link; this file prevents that.
    (target / ".shared").touch()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.resolve() != target.resolve():
        path.unlink(missing_ok=True)
        path.symlink_to(target.resolve(), target_is_directory=True)
