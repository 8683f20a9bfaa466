"""Read the files that a run's configuration names: data sets, methods, papers, word vectors and recorded searches."""

import os
import re
from pathlib import Path
from typing import Any

import yaml

from vsebench.config.dataset import DatasetConfig, SiblingsConfig, Vocabulary, WordVectorsConfig
from vsebench.config.method import ChosenSettings, MethodConfig, read_method_config
from vsebench.config.run import RunConfig, RunDataset, default_metrics
from vsebench.core.errors import UserError, did_you_mean, instead, no_file
from vsebench.core.yaml_files import check, keys_of, read_config, read_yaml
from vsebench.formats.adapters import load_adapter
from vsebench.formats.parents import parent_table
from vsebench.formats.readers import table
from vsebench.papers.base import Paper
from vsebench.plan.paths import INCLUDED, moved, with_own_files
from vsebench.protocols.base import load_protocol

# Patterns of the names of data sets and variants, and a name that is not allowed: names become folders, which the
# workflow must be able to tell from other folders.
DATASET_NAME = "[a-z][a-z0-9-]*"
VARIANT_NAME = "[a-z][a-z0-9_]*"
RESERVED = "split"
# Those keys of `data` (the description of a user's own table) that are not options of the reader of tables.
OF_DATASET = {
    "title", "short", "features", "normalise", "partition", "siblings", "word_vectors", "pictures", "propensity",
}  # fmt: skip


def typed(value: Any) -> Any:
    """Parse values from the command line as YAML, because Snakemake leaves `true` and the numbers in lists as text."""
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


def with_metrics(config: RunConfig) -> RunConfig:
    """Return the configuration of a run, with default metrics for its protocols if it names no metrics."""
    if "metrics" in config.model_fields_set:
        return config
    protocols = [load_protocol(name) for entry in config.datasets.values() for name in entry.protocols]
    new_images = any(protocol.new_images for protocol in protocols)
    seen_and_unseen = any(protocol.seen_and_unseen for protocol in protocols)
    return config.model_copy(update={"metrics": default_metrics(new_images, seen_and_unseen)})


def read_method(variant: str, config: RunConfig, folder: Path, where: str) -> MethodConfig:
    """Read a variant's file, and replace the epochs and the grid by those that the run sets, if any."""
    method: MethodConfig = read_named(MethodConfig, folder / "methods", variant, where)
    default = config.epochs.get("default") if method.epochs else None
    replaced: dict[str, Any] = {"epochs": config.epochs.get(variant, default), "grid": config.grids.get(variant)}
    if method.scores is not None:
        replaced["scores"] = scores = moved(method.scores, folder.parent)
        replaced["settings"] = {"file": scores}
    return method.model_copy(update={key: value for key, value in replaced.items() if value is not None})


def read_papers_of(config: RunConfig, folder: Path, where: str) -> list[Paper]:
    """Read the papers that a run names; `all` names all papers in alphabetical order."""
    files = {path.stem: path for path in sorted((folder / "papers").glob("[a-z]*.yaml"))}
    names = list(files) if config.papers == "all" else config.papers
    for name in names:
        if name not in files:
            raise UserError(
                f"{where}: papers: {name!r} has no file in {folder / 'papers'}; {instead(name, files, 'papers')}"
            )
    # The path is a parameter of rules. It is relative, so that no job is repeated when the project's folder is moved.
    return [Paper.read(Path(os.path.relpath(files[name]))) for name in names]


def read_dataset(name: str, entry: RunDataset, folder: Path, where: str, base: Path) -> DatasetConfig:
    """Return the description of a data set, with the options and filters that the run sets.

    The description is in the run's file if the run names the user's own table in `data`; otherwise, it is in the data
    set's file. Paths in the run's file are relative to the folder `base`.
    """
    check(Vocabulary, entry.vocabulary, f"{where}: datasets.{name}.vocabulary")
    config: DatasetConfig = (
        read_named(DatasetConfig, folder / "datasets", name, where)
        if entry.data is None
        else own_table(name, entry.data, folder, where)
    )
    config = with_own_files(config, folder.parent if entry.data is None else base)
    config = config.model_copy(update={"options": with_included(config.options, folder)})
    replaced = config.replaced(entry.options, entry.vocabulary)
    return replaced if entry.word_vectors is None else replaced.model_copy(update={"word_vectors": entry.word_vectors})


def with_included(options: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the options, in which paths of files that come with the project are relative to the current folder."""
    included = {
        key: os.path.relpath(folder.parent / value)
        for key, value in options.items()
        if isinstance(value, str) and value.startswith(INCLUDED)
    }
    return options | included


def own_table(name: str, data: dict[str, Any], folder: Path, where: str) -> DatasetConfig:
    """Return the description of a user's table.

    `data` contains options of `formats/readers/table.py`, and keys of a data set's file such as `title`.
    """
    check_name(DATASET_NAME, "datasets", name, where)
    if (folder / "datasets" / f"{name}.yaml").is_file():
        raise UserError(f"{where}: datasets.{name}: {folder}/datasets has a data set of this name; choose another name")
    key = f"{where}: datasets.{name}.data"
    others = OF_DATASET & data.keys()
    if "vocabulary" in data:
        raise UserError(f"{key}.vocabulary: this key belongs next to `data`, under datasets.{name}")
    given = {option: value for option, value in data.items() if option not in others}
    options = check(table.Options, given, key, others=sorted(OF_DATASET))
    description = {
        "title": name,
        "family": "other",
        "adapter": "table",
        "options": options.model_dump(exclude_unset=True),
        "licence": "the user's own",
        "citation": Path(options.pairs).name,
    }
    return check(DatasetConfig, description | {option: data[option] for option in others}, key)


def read_siblings(
    datasets: dict[str, DatasetConfig], config: RunConfig, folder: Path, where: str
) -> dict[str, SiblingsConfig]:
    """Map each data set that names a source of its labels' parents to this source."""
    return {
        name: parents(dataset.siblings, folder, key_of("siblings", name, config, folder, where))
        for name, dataset in datasets.items()
        if dataset.siblings is not None
    }


def read_word_vectors(
    datasets: dict[str, DatasetConfig], config: RunConfig, folder: Path, where: str
) -> dict[str, WordVectorsConfig]:
    """Map each data set that names a source of word vectors to this source."""
    sources = {}
    for name, dataset in datasets.items():
        if dataset.word_vectors is None:
            continue
        named_by_run = config.datasets[name].word_vectors is not None
        own_key = f"{where}: datasets.{name}.word_vectors"
        key = own_key if named_by_run else key_of("word_vectors", name, config, folder, where)
        source = read_source(WordVectorsConfig, folder / "word_vectors", dataset.word_vectors, key, "read_vectors")
        own = {option: moved(file, folder.parent) for option, file in source.own_files.items()}
        source = source.model_copy(update={"options": source.options | own})
        for option, file in own.items():
            if not Path(file).is_file():
                path = folder / "word_vectors" / f"{dataset.word_vectors}.yaml"
                raise UserError(f"{path}: options.{option}: there is no file {file} (in {Path.cwd()})")
        sources[name] = source
    return sources


def key_of(option: str, name: str, config: RunConfig, folder: Path, where: str) -> str:
    """Return the file and the key that set an option of a data set, as text for error messages."""
    if config.datasets[name].data is not None:
        return f"{where}: datasets.{name}.data.{option}"
    return f"{folder}/datasets/{name}.yaml: {option}"


def parents(source: str, folder: Path, key: str) -> SiblingsConfig:
    """Return the source that states the parents of each label: a file in config/siblings, or the user's own table."""
    if re.fullmatch(DATASET_NAME, source):
        hint = ", or name a table such as parents.csv"
        config: SiblingsConfig = read_source(SiblingsConfig, folder / "siblings", source, key, "read_parents", hint)
        return config
    options = check(parent_table.Options, {"parents": source}, key)
    if not Path(source).is_file():
        raise UserError(f"{key}: {no_file(source)}")
    about = {"title": Path(source).name, "licence": "the user's own", "citation": Path(source).name}
    described = {"adapter": "parent_table", "options": options.model_dump(exclude_unset=True)}
    return check(SiblingsConfig, about | described, key)


def read_source(model: Any, folder: Path, source: str, key: str, reader: str, hint: str = "") -> Any:
    """Read the file of a source in config/siblings or config/word_vectors.

    The source's adapter must define a function with the name `reader`. If there is no file, the error message ends with
    `hint`.
    """
    path = folder / f"{source}.yaml"
    if not re.fullmatch(DATASET_NAME, source) or not path.is_file():
        raise UserError(f"{key}: {source!r} has no file {path}; {instead(source, names_in(folder), folder.name)}{hint}")
    config = read_config(model, path)
    adapter = load_adapter(config.adapter, str(path), reader)
    check(adapter.Options, config.options, f"{path}: options")
    return config


def read_chosen(datasets: dict[str, DatasetConfig], folder: Path) -> dict[str, ChosenSettings]:
    """Read the recorded searches, for the data sets that have a record."""
    records = {}
    for name in datasets:
        path = folder / "chosen" / f"{name}.yaml"
        if path.is_file():
            record = read_config(ChosenSettings, path)
            records[name] = record.model_copy(update={"options": with_included(record.options, folder)})
    return records


def check_name(pattern: str, key: str, name: str, where: str) -> None:
    """Raise a `UserError` for a name that cannot be the name of a folder."""
    if not re.fullmatch(pattern, name) or name == RESERVED:
        if name == RESERVED:
            raise UserError(f"{where}: {key}: {name!r} is a reserved name; choose another name")
        sign = "-" if pattern == DATASET_NAME else "_"
        form = f"begin with a lower-case letter; then use only lower-case letters, digits and {sign}"
        raise UserError(f"{where}: {key}: {name!r} is not a valid name; {form}")


def read_named(model: Any, folder: Path, name: str, where: str) -> Any:
    check_name(DATASET_NAME if model is DatasetConfig else VARIANT_NAME, folder.name, name, where)
    path = folder / f"{name}.yaml"
    if not path.is_file():
        nearest = instead(name, names_in(folder), folder.name)
        raise UserError(f"{where}: {folder.name}: {name!r} has no file {path}; {nearest}")
    return read_method_config(path) if model is MethodConfig else read_config(model, path)


def names_in(folder: Path) -> list[str]:
    """Return the sorted names, without suffix, of the YAML files in a folder."""
    return sorted(file.stem for file in folder.glob("*.yaml"))


def check_keys(file: Path) -> None:
    """Check the keys of one configuration file, so that messages name this file even if a run has several."""
    values = read_yaml(file) or {}
    if not isinstance(values, dict):
        raise UserError(f"{file}: must be a mapping of keys to values; see docs/configuration.md")
    known = keys_of(RunConfig)
    for key in values:
        if key not in known:
            raise UserError(
                f"{file}: {key}: unknown key; {did_you_mean(str(key), known)}the known keys are {', '.join(known)}"
            )
