"""The type of a job of the workflow, and functions that the jobs of several rules share."""

import json
import os
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from vsebench.core.modules import modules_by_key
from vsebench.core.sources import sources_of
from vsebench.core.tasks import Case, Task
from vsebench.data.needs import FEATURES, FILE_NEEDS, NEEDS, TRUTH
from vsebench.plan.plan import Plan

RESULTS = Path("results")


@dataclass(frozen=True)
class Job:
    """A job of a rule.

    Attributes
    ----------
    inputs : name -> files; the name `sources` stands for the package's source files that can change the results
    options : the options of the command, quoted for the shell
    content : other data on which the results depend
    """

    inputs: Mapping[str, list[str]]
    options: str = ""
    content: str = ""


@dataclass(frozen=True)
class Wildcards:
    """The wildcards of a job; a wildcard that the job's rule does not have is empty."""

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


def options(*given: str, **values: Any) -> str:
    """Return the options of a command as text: `given`, which is already text, followed by one option per value.

    True becomes an option without a value; None, False, "" and an empty list are left out.

    >>> print(options("--threads 2", variants=["a", "b"], no_refit=True, seed=1, grid={"x": [1]}, features=None))
    --threads 2 --variants a b --no-refit --seed 1 --grid '{"x": [1]}'
    """
    named = (_option(f"--{key.replace('_', '-')}", value) for key, value in values.items())
    return " ".join(filter(None, [*given, *named]))


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
    """Return a value as JSON with sorted keys, so that equal values give the same text."""
    return json.dumps(value, sort_keys=True)


def sources(*modules: str) -> list[str]:
    """Return the source files of modules, such as "vsebench.stages.fit", and of all modules they import."""
    return list(_source_files(Path.cwd(), *modules))


@cache
def _source_files(_folder: Path, *modules: str) -> tuple[str, ...]:
    return tuple(os.path.relpath(path) for path in sources_of(*modules))


def method_modules(plan: Plan, variants: Iterable[str]) -> list[str]:
    modules = modules_by_key("METHODS", "methods")
    return [modules[plan.methods[variant].method] for variant in variants]


def model_file(task: Task, variant: str, seed: int, name: str) -> str:
    """Return the path of a file in a model's folder."""
    return f"{Case(task, variant, seed).folder(RESULTS)}/{name}"


def model_files(
    plan: Plan, *names: str, tasks: Iterable[Task] | None = None, variants: Collection[str] | None = None
) -> list[str]:
    """Return the paths of files of models, for all seeds; None stands for all tasks or all variants."""
    return [
        model_file(task, variant, seed, name)
        for task in (plan.tasks if tasks is None else tasks)
        for seed in plan.task_seeds(task)
        for variant in plan.variants(task)
        if (variants is None or variant in variants) and seed in plan.seeds(task, variant)
        for name in names
    ]


def split_files(task: Task, seeds: Iterable[int], names: Iterable[str]) -> list[str]:
    """Return the paths of files of a task's splits, one per seed and name."""
    folders = [str(Case(task, "", seed).split(RESULTS)) for seed in dict.fromkeys(seeds)]
    return [f"{folder}/{name}" for folder in folders for name in names]


def decisions_made(plan: Plan, tasks: Iterable[Task], name: str = "decisions.parquet") -> list[str]:
    """Return the paths of one file of each model with decisions on the given tasks, by default of the label sets."""
    return [
        model_file(task, variant, seed, name)
        for task in tasks
        for seed in plan.task_seeds(task)
        for variant in dict.fromkeys(entry.variant for entry in plan.decided(task))
        if seed in plan.seeds(task, variant)
    ]


def siblings_files(plan: Plan, datasets: Iterable[str]) -> dict[str, str]:
    """Return the siblings.parquet of each data set that has siblings, by the name of the data set."""
    return {name: f"data/processed/{name}/siblings.parquet" for name in datasets if name in plan.siblings}


def sweep_files(plan: Plan, suffix: str) -> list[str]:
    """Return the paths of files of sweeps, one file for each sweep and seed.

    A file with the suffix ".parquet" describes the models of a sweep. A file with the suffix "-ranks.parquet" contains
    the models' ranks.
    """
    return [
        model_file(task, variant, seed, f"sweep/{parameter}{suffix}")
        for task in plan.tasks
        for seed in plan.task_seeds(task)
        for variant, parameter in plan.sweeps(task)
        if seed in plan.seeds(task, variant)
    ]


def needs_read(plan: Plan, variants: Iterable[str], task: Task) -> set[str]:
    """Return the inputs (keys of `needs.NEEDS`) that jobs of the given variants read on a task.

    An oracle also reads the image features, if the task has any, because the label probabilities can depend on them.
    """
    keys: set[str] = set().union(*(plan.method_class(variant).needs for variant in variants))
    return keys | features_provided(plan, task) if TRUTH.key in keys else keys


def features_provided(plan: Plan, task: Task) -> set[str]:
    return {FEATURES.key} & plan.provides(task)


def need_files(
    plan: Plan, keys: Iterable[str], task: Task, variants: Iterable[str] | None, split: str = ""
) -> list[str]:
    """Return the paths of the files with the inputs named in `keys`.

    Only the sets of features that `variants` use are included, or all sets if `variants` is None. `split` is the folder
    of the split.
    """
    data, read = plan.data_of(task, variants), set(keys)
    return [path for key, need in NEEDS.items() if key in read for path in need.files(data, split)]


def need_options(plan: Plan, keys: Iterable[str], task: Task, variants: Iterable[str]) -> str:
    """Return the options that tell a stage where the inputs named in `keys` are, for the given variants."""
    data, read = plan.data_of(task, variants), set(keys)
    return " ".join(f"{need.option} {need.option_value(data)}" for need in FILE_NEEDS if need.key in read)
