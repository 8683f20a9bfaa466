"""The files that a run's configuration names: data sets, methods, papers, word vectors and recorded searches."""

import os
import re
from pathlib import Path
from typing import Any

import yaml

from vsebench.config.dataset import DatasetConfig, SiblingsConfig, Vocabulary, WordVectorsConfig
from vsebench.config.method import ChosenSettings, MethodConfig, read_method_config
from vsebench.config.run import RunConfig, RunDataset
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import check, read_config, read_yaml
from vsebench.formats.adapters import load_adapter
from vsebench.formats.parents import parent_table
from vsebench.formats.readers import table
from vsebench.papers.base import Paper

# These are names of folders, so the workflow must be able to distinguish them from others.
DATASET_NAME = "[a-z][a-z0-9-]*"
VARIANT_NAME = "[a-z][a-z0-9_]*"
RESERVED = "split"
INCLUDED = "data/included/"  # files that come with the project, wherever a run is started


def typed(value: Any) -> Any:
    """Parse values from the command line as in a YAML file; Snakemake leaves `true` and numbers in lists as text."""
    match value:
        case dict():
            return {key: typed(inner) for key, inner in value.items()}
        case list():
            return [typed(inner) for inner in value]
        case str():
            try:
                return yaml.safe_load(value)
            except yaml.YAMLError:
                return value
    return value


def read_method(variant: str, config: RunConfig, folder: Path, where: str) -> MethodConfig:
    """Read a variant, with the epochs and the grid that the run gives it."""
    method: MethodConfig = read_named(MethodConfig, folder / "methods", variant, where)
    default = config.epochs.get("default") if method.epochs else None
    replaced = {"epochs": config.epochs.get(variant, default), "grid": config.grids.get(variant)}
    return method.model_copy(update={key: value for key, value in replaced.items() if value is not None})


def read_papers_of(config: RunConfig, folder: Path, where: str) -> list[Paper]:
    """Read the papers that a run names or, if it names none, all papers in alphabetical order."""
    files = {path.stem: path for path in sorted((folder / "papers").glob("[a-z]*.yaml"))}
    names = list(files) if config.papers is None else config.papers
    for name in names:
        if name not in files:
            raise UserError(
                f"{where}: papers: {name!r} has no file in {folder / 'papers'}; there are {', '.join(files)}"
            )
    # Relative, since the path is a parameter of rules: a moved folder reruns nothing.
    return [Paper.read(Path(os.path.relpath(files[name]))) for name in names]


def read_dataset(name: str, entry: RunDataset, folder: Path, where: str) -> DatasetConfig:
    """Return a data set's description: the named file's, or the run's own where it has a table in `data`."""
    check(Vocabulary, entry.vocabulary, f"{where}: datasets.{name}.vocabulary")
    config: DatasetConfig = (
        read_named(DatasetConfig, folder / "datasets", name, where)
        if entry.data is None
        else own_table(name, entry.data, folder, where)
    )
    config = config.model_copy(update={"options": with_included(config.options, folder)})
    replaced = config.replaced(entry.options, entry.vocabulary)
    return replaced if entry.word_vectors is None else replaced.model_copy(update={"word_vectors": entry.word_vectors})


def with_included(options: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return options in which files that come with the project are named as seen from the current folder."""
    included = {
        key: os.path.relpath(folder.parent / value)
        for key, value in options.items()
        if isinstance(value, str) and value.startswith(INCLUDED)
    }
    return options | included


def own_table(name: str, data: dict[str, Any], folder: Path, where: str) -> DatasetConfig:
    """Return the description of a user's own table: options of `formats/readers/table.py`, and `beside` them."""
    check_name(DATASET_NAME, "datasets", name, where)
    if (folder / "datasets" / f"{name}.yaml").is_file():
        raise UserError(f"{where}: datasets.{name}: {folder}/datasets has a data set of this name; take another one")
    key = f"{where}: datasets.{name}.data"
    beside = {name for name in ("features", "normalise", "siblings", "word_vectors", "pictures") if name in data}
    options = check(table.Options, {option: value for option, value in data.items() if option not in beside}, key)
    description = {
        "title": name,
        "family": "other",
        "adapter": "table",
        "options": options.model_dump(exclude_unset=True),
        "licence": "the user's own",
        "citation": options.pairs,
    }
    return check(DatasetConfig, description | {option: data[option] for option in beside}, key)


def read_siblings(
    datasets: dict[str, DatasetConfig], config: RunConfig, folder: Path, where: str
) -> dict[str, SiblingsConfig]:
    """Return where the parents of labels are from, of the data sets that say so."""
    found = {}
    for name, dataset in datasets.items():
        own = config.datasets[name].data is not None
        key = f"{where}: datasets.{name}.data.siblings" if own else f"{folder}/datasets/{name}.yaml: siblings"
        if dataset.siblings is not None:
            found[name] = parents(dataset.siblings, folder, key)
    return found


def parents(source: str, folder: Path, key: str) -> SiblingsConfig:
    """Return a source of parents: a file of config/siblings by its name, or the user's own table by its path."""
    if not re.fullmatch(DATASET_NAME, source):
        options = check(parent_table.Options, {"parents": source}, key)
        if not Path(source).is_file():
            raise UserError(f"{key}: there is no file {source} (seen from {Path.cwd()})")
        about = {"title": source, "licence": "the user's own", "citation": source}
        described = {"adapter": "parent_table", "options": options.model_dump(exclude_unset=True)}
        return check(SiblingsConfig, about | described, key)
    path = folder / "siblings" / f"{source}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml")))
        raise UserError(f"{key}: {source!r} has no file {path}; there are {known}, or name a table such as parents.csv")
    config: SiblingsConfig = read_config(SiblingsConfig, path)
    adapter = load_adapter(config.adapter, str(path), "read_parents")
    check(adapter.Options, config.options, f"{path}: options")
    return config


def read_word_vectors(
    datasets: dict[str, DatasetConfig], config: RunConfig, folder: Path, where: str
) -> dict[str, WordVectorsConfig]:
    """Return where word vectors are from, for the data sets that have a source of them."""
    found = {}
    for name, dataset in datasets.items():
        entry = config.datasets[name]
        key = f"{folder}/datasets/{name}.yaml: word_vectors"
        if entry.word_vectors is not None or entry.data is not None:
            key = (
                f"{where}: datasets.{name}{'.word_vectors' if entry.word_vectors is not None else '.data.word_vectors'}"
            )
        if dataset.word_vectors is not None:
            found[name] = word_vectors_config(dataset.word_vectors, folder, key)
    return found


def word_vectors_config(source: str, folder: Path, key: str) -> WordVectorsConfig:
    """Return a file of config/word_vectors by its name."""
    path = folder / "word_vectors" / f"{source}.yaml"
    if not re.fullmatch(DATASET_NAME, source) or not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml")))
        raise UserError(f"{key}: {source!r} has no file {path}; there are {known}")
    config: WordVectorsConfig = read_config(WordVectorsConfig, path)
    adapter = load_adapter(config.adapter, str(path), "read_vectors")
    check(adapter.Options, config.options, f"{path}: options")
    if config.own_file is not None and not Path(config.own_file).is_file():
        raise UserError(f"{path}: options.file: there is no file {config.own_file} (seen from {Path.cwd()})")
    return config


def read_chosen(datasets: dict[str, DatasetConfig], folder: Path) -> dict[str, ChosenSettings]:
    """Read the recorded searches of the data sets that have some."""
    files = {name: folder / "chosen" / f"{name}.yaml" for name in datasets}
    found = {name: read_config(ChosenSettings, path) for name, path in files.items() if path.is_file()}
    return {
        name: chosen.model_copy(update={"options": with_included(chosen.options, folder)})
        for name, chosen in found.items()
    }


def check_name(pattern: str, key: str, name: str, where: str) -> None:
    """Raise a `UserError` for a name that cannot be the name of a folder."""
    if not re.fullmatch(pattern, name) or name == RESERVED:
        raise UserError(f"{where}: {key}: {name!r} cannot be a name; use {pattern}, but not {RESERVED!r}")


def read_named(model: Any, folder: Path, name: str, where: str) -> Any:
    check_name(DATASET_NAME if model is DatasetConfig else VARIANT_NAME, folder.name, name, where)
    path = folder / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.yaml")))
        raise UserError(f"{where}: {folder.name}: {name!r} has no file {path}; there are {known}")
    return read_method_config(path) if model is MethodConfig else read_config(model, path)


def check_keys(file: Path) -> None:
    """Check the keys of one file, so that an error names the file that contains the key."""
    values = read_yaml(file) or {}
    if not isinstance(values, dict):
        raise UserError(f"{file}: the whole file: should be a list of keys and values")
    for key in values:
        if key not in RunConfig.model_fields:
            raise UserError(f"{file}: {key}: unknown key; known are {', '.join(RunConfig.model_fields)}")
