"""Convert relative paths in configuration files, so that they are relative to the folder where jobs run.

A path in a run's file is relative to the folder of that file. A path in a file of the folder `config` or of its
subfolders is relative to the project's folder, which contains `config`. If a run has a folder of its own, its jobs run
there, and paths are made relative to that folder.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vsebench.config.dataset import DatasetConfig, FeaturesFile
from vsebench.config.run import RunConfig
from vsebench.core.yaml_files import read_yaml

LIST_NAME = "[a-z][a-z0-9-]*"  # pattern of the names of lists of unseen labels that come with the project
INCLUDED = "data/included/"  # files that come with the project; a run finds them from any folder
FIRST_DOWNLOADS = f"{INCLUDED}first-downloads.yaml"  # checksums that `vsebench record-downloads` collects


def base_of(files: list[Path], config: Path, *keys: str) -> Path:
    """Return the folder to which paths under a key of the run are relative.

    Parameters
    ----------
    files : the run's configuration files; keys of a later file replace those of earlier ones
    config : the folder `config` of the project
    keys : the path of nested keys, outermost first, such as "datasets" and the name of a data set
    """
    for file in reversed(files):
        value: Any = read_yaml(file)
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            folder, project = file.resolve().parent, config.resolve().parent
            return project if folder.is_relative_to(config.resolve()) else folder
    return Path.cwd()


def moved(path: str, base: Path) -> str:
    """Convert a path that is relative to the folder `base`, so that it is relative to the current folder.

    A path that is absolute, or that begins with ~ or `INCLUDED`, is returned unchanged.
    """
    if Path(path).is_absolute() or path.startswith(("~", INCLUDED)) or base.resolve() == Path.cwd():
        return path
    return os.path.relpath(base / path)


def with_paths_of_run(config: RunConfig, files: list[Path], folder: Path) -> RunConfig:
    """Make the paths of a run's packs and lists of unseen labels relative to the current folder.

    A list that is named without folder and suffix comes with the project, in config/unseen_labels.
    """

    def list_of(name: str, dataset: str) -> str:
        if re.fullmatch(LIST_NAME, name):
            return str(folder / "unseen_labels" / f"{name}.txt")
        return moved(name, base_of(files, folder, "datasets", dataset))

    packs = [moved(path, base_of(files, folder, "with")) for path in config.with_packs]
    datasets = {
        name: entry
        if entry.unseen_labels is None
        else entry.model_copy(update={"unseen_labels": list_of(entry.unseen_labels, name)})
        for name, entry in config.datasets.items()
    }
    return config.model_copy(update={"with_packs": packs, "datasets": datasets})


def with_own_files(config: DatasetConfig, base: Path) -> DatasetConfig:
    """Make the paths of a data set's own files, which are not downloaded, relative to the current folder."""

    def own(name: str | None) -> str | None:
        return name if name is None or config.downloads(name) else moved(name, base)

    changes: dict[str, Any] = {}
    if config.adapter == "table" and isinstance(pairs := config.options.get("pairs"), str):
        changes["options"] = config.options | {"pairs": own(pairs)}
    if config.partition is not None:
        files = {part: own(name) for part, name in config.partition.files.items()}
        changes["partition"] = config.partition.model_copy(update=files)
    if config.pictures is not None:
        changes["pictures"] = config.pictures.model_copy(update={"images": own(config.pictures.images)})
    if config.features is not None:
        sets = {name: with_own_features(features, own) for name, features in config.sets.items()}
        changes["features"] = sets.get("", sets)
    if config.siblings is not None and "." in config.siblings:  # a table, not a file of config/siblings
        changes["siblings"] = own(config.siblings)
    return config.model_copy(update=changes)


def with_own_features(features: FeaturesFile, own: Callable[[str | None], str | None]) -> FeaturesFile:
    """Return a set of features, with the path of each file changed by the function `own`."""
    named: dict[str, Any] = {"file": own(features.file), "ids": own(features.ids)}
    if features.network is not None:
        made = {"model": own(features.network.model), "images": own(features.network.images)}
        named["network"] = features.network.model_copy(update=made)
    return features.model_copy(update={key: value for key, value in named.items() if value})
