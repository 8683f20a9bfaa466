"""A job of the workflow: what it reads and the options of its command, and what the jobs of several rules share."""

import json
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vsebench.core.modules import modules_in
from vsebench.core.sources import sources_of
from vsebench.core.tasks import Case, Task
from vsebench.data.needs import FEATURES, FILE_NEEDS, NEEDS, TRUTH
from vsebench.evaluation.metrics.base import module_of_metric
from vsebench.plan.plan import Plan

RESULTS = Path("results")


@dataclass(frozen=True)
class Job:
    """What a job of a rule reads, and the options of its command.

    Attributes
    ----------
    inputs : name -> files; `sources` are those of the package that can change the results
    options : of the command, quoted for the shell
    content : what the results depend on that is neither an input nor an option
    """

    inputs: Mapping[str, list[str]]
    options: str = ""
    content: str = ""


@dataclass(frozen=True)
class Wildcards:
    """The wildcards of a job; those that its rule lacks are empty."""

    dataset: str = ""
    protocol: str = ""
    seed: str = ""
    variant: str = ""
    parameter: str = ""
    kind: str = ""
    name: str = ""
    analysis: str = ""

    @property
    def task(self) -> Task:
        return Task(self.dataset, self.protocol)

    @property
    def case(self) -> Case:
        return Case(self.task, self.variant, int(self.seed))


def options(**values: Any) -> str:
    """Return options of a command; an option without a value is True, and None, "" or an empty list is no option.

    >>> print(options(variants=["a", "b"], no_refit=True, seed=1, grid={"x": [1]}, features=None))
    --variants a b --no-refit --seed 1 --grid '{"x": [1]}'
    """
    named = {f"--{key.replace('_', '-')}": value for key, value in values.items()}
    return joined(*(_option(name, value) for name, value in named.items()))


def _option(name: str, value: Any) -> str:
    match value:
        case None | False | "" | []:
            return ""
        case True:
            return name
        case list():
            return shlex.join([name, *map(str, value)])
        case dict():
            return shlex.join([name, as_json(value)])
    return shlex.join([name, str(value)])


def as_json(value: Any) -> str:
    """Return a value as JSON with sorted keys, the same text for equal values."""
    return json.dumps(value, sort_keys=True)


def joined(*options: str) -> str:
    """Return several options as one text."""
    return " ".join(filter(None, options))


def sources(*modules: str) -> list[str]:
    """Return the source files of modules of the package, such as "stages.fit", and of all that they import."""
    return [os.path.relpath(path) for path in sources_of(*(f"vsebench.{module}" for module in modules))]


def module_of(folder: str, name: str) -> str:
    """Return a module of a folder of the package, or of a folder in it, without the name of the package."""
    return modules_in(folder)[name].removeprefix("vsebench.")


def metric_module(name: str) -> str:
    return module_of_metric(name).removeprefix("vsebench.")


def method_modules(plan: Plan, variants: Iterable[str]) -> list[str]:
    return [module_of("methods", plan.methods[variant].method) for variant in variants]


def model_file(task: Task, variant: str, seed: int, name: str) -> str:
    """Return a file in a model's folder."""
    return f"{Case(task, variant, seed).folder(RESULTS)}/{name}"


def model_files(plan: Plan, *names: str, tasks: Iterable[Task] | None = None) -> list[str]:
    """Return files of the models of all variants and seeds, at all tasks or at some."""
    return [
        model_file(task, variant, seed, name)
        for task in (plan.tasks if tasks is None else tasks)
        for seed in plan.config.seeds
        for variant in plan.variants(task)
        for name in names
    ]


def decisions_made(plan: Plan, tasks: Iterable[Task]) -> list[str]:
    """Return the files of the label sets that the decisions of some tasks have chosen."""
    return [
        model_file(task, variant, seed, "decisions.parquet")
        for task in tasks
        for seed in plan.config.seeds
        for variant in dict.fromkeys(entry.variant for entry in plan.decided(task))
    ]


def siblings_files(plan: Plan, datasets: Iterable[str]) -> dict[str, str]:
    """Return the siblings of those data sets that have some."""
    return {name: f"data/processed/{name}/siblings.parquet" for name in datasets if name in plan.siblings}


def sweep_files(plan: Plan, suffix: str) -> list[str]:
    """Return the files of all sweeps: `.parquet` has their models, `-ranks.parquet` the ranks."""
    return [
        model_file(task, variant, seed, f"sweep/{parameter}{suffix}")
        for task in plan.tasks
        for seed in plan.config.seeds
        for variant, parameter in plan.sweeps(task)
    ]


def needs_read(plan: Plan, variants: Iterable[str], task: Task) -> set[str]:
    """Return the keys of the needs that jobs of some variants read at a task.

    An oracle can need an image's features for the probabilities of its labels, where the task has some.
    """
    keys: set[str] = set().union(*(plan.method_class(variant).needs for variant in variants))
    return keys | features_provided(plan, task) if TRUTH.key in keys else keys


def features_provided(plan: Plan, task: Task) -> set[str]:
    return {FEATURES.key} & plan.provides(task)


def need_files(plan: Plan, keys: Iterable[str], task: Task, split: str = "") -> list[str]:
    """Return the files that a job reads for these needs; `split` is the folder of its split."""
    data, read = plan.data_of(task), set(keys)
    return [path for key, need in NEEDS.items() if key in read for path in need.files(data, split)]


def need_options(plan: Plan, keys: Iterable[str], task: Task) -> str:
    """Return the options that name these files; the first file of a need is the one that its option names."""
    data, read = plan.data_of(task), set(keys)
    return " ".join(f"{need.option} {need.files(data, '')[0]}" for need in FILE_NEEDS if need.key in read)
