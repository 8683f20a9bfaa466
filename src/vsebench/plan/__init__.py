"""The plan of a run: its configuration, data sets and methods, read and checked before the first job starts.

`files` reads the configuration files, `plan` describes the run, `settings` derives the settings of models, `jobs` gives
the inputs of jobs and the options of their commands, and `checks` rejects mistakes.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from vsebench.config.dataset import SET_NAME
from vsebench.config.method import DecisionConfig
from vsebench.config.run import RunConfig
from vsebench.core.yaml_files import check
from vsebench.plan.checks import check_config, check_metrics, check_plan
from vsebench.plan.files import (
    DATASET_NAME,
    VARIANT_NAME,
    check_keys,
    read_chosen,
    read_dataset,
    read_method,
    read_named,
    read_papers_of,
    read_siblings,
    read_word_vectors,
    typed,
    with_metrics,
)
from vsebench.plan.packs import read_packs
from vsebench.plan.paths import base_of, with_paths_of_run
from vsebench.plan.plan import Plan

__all__ = ["DATASET_NAME", "SET_NAME", "VARIANT_NAME", "Plan", "read_plan"]


def read_plan(folder: Path, values: dict[str, Any], files: list[Path], overridden: Collection[str] = ()) -> Plan:
    """Check a run's configuration and read the files that it names.

    Parameters
    ----------
    folder : the folder `config`, with subfolders such as `datasets`, `methods` and `papers`
    values : the configuration, as merged by Snakemake
    files : the files from which the configuration was read, for error messages
    overridden : the keys that are set on the command line
    """
    for file in files:
        check_keys(file)
    where = " + ".join([*map(str, files), *(["--config"] if overridden else [])]) or "the command line"
    config = check(RunConfig, values | {key: typed(values[key]) for key in overridden}, where)
    check_config(config, where)
    config = with_metrics(with_paths_of_run(config, files, folder))
    datasets = {
        name: read_dataset(name, entry, folder, where, base_of(files, folder, "datasets", name))
        for name, entry in config.datasets.items()
    }
    methods = {name: read_method(name, config, folder, where) for name in config.methods}
    check_metrics(config, where)
    plan = Plan(
        folder=folder,
        name=" + ".join(file.name for file in files),
        config=config,
        datasets=datasets,
        methods=methods,
        siblings=read_siblings(datasets, config, folder, where),
        word_vectors=read_word_vectors(datasets, config, folder, where),
        decisions={name: read_named(DecisionConfig, folder / "decisions", name, where) for name in config.decisions},
        papers=read_papers_of(config, folder, where),
        chosen=read_chosen(datasets, folder),
        packs=read_packs(config.with_packs, where),
    )
    check_plan(plan, where)
    return plan
