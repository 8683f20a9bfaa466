"""Jobs that run users' commands, which train on an exported split and write scores."""

import os
import platform
import shlex
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from vsebench.core.errors import LONGEST, last_line
from vsebench.core.tasks import Task
from vsebench.data.needs import FEATURES, WORD_VECTORS
from vsebench.formats.exported_split import FILES
from vsebench.methods.outside.commands import SCORES, fill
from vsebench.plan.jobs.base import RESULTS, Job, Wildcards, need_files, options, sources
from vsebench.plan.plan import Plan

ENVIRONMENTS = "data/environments"
# What `failed_elsewhere` returned at the end of the run; `vsebench run`, in the same process, reads this.
FAILED_ELSEWHERE: dict[str, str] = {}


def export_split(plan: Plan, at: Wildcards) -> Job:
    """Export a split, so that commands can train on it."""
    folder = plan.processed(at.task)
    inputs = {
        "processed": [f"{folder}/images.parquet", f"{folder}/labels.parquet"],
        "needs": exported_needs(plan, at.task),
        "sources": sources("vsebench.stages.export_split"),
    }
    return Job(inputs, options(processed=folder))


def exported_needs(plan: Plan, task: Task) -> list[str]:
    """Return the files to which an exported split has links, including all sets of features."""
    return need_files(plan, {FEATURES.key, WORD_VECTORS.key} & plan.provides(task), task, None)


def environment(plan: Plan, at: Wildcards) -> Job:
    """Make a virtual environment.

    The name of the environment's folder depends on the requirements, so the job has no inputs.
    """
    variant = next(variant for variant in plan.commands if environment_name(plan, variant) == at.name)
    named = plan.root / (plan.methods[variant].environment or "")
    return Job({}, options(requirements=os.path.relpath(named)))


def environment_name(plan: Plan, variant: str) -> str | None:
    """Return the hash of a variant's requirements and of the version of Python; None without requirements."""
    named = plan.methods[variant].environment
    if named is None:
        return None
    return sha256((plan.root / named).read_bytes() + platform.python_version().encode()).hexdigest()[:16]


def command(plan: Plan, at: Wildcards) -> Job:
    """Run a command.

    The files that are named in the command are inputs, so the command runs again after one of them is edited. The
    source files of this package are not inputs, because they do not change what a command does.
    """
    method, name = plan.methods[at.variant], environment_name(plan, at.variant)
    ran = f"{at.case.folder(RESULTS)}/container" if method.container else None
    inputs = command_inputs(plan, at) | {
        "environment": [f"{ENVIRONMENTS}/{name}/environment.json"] if name else [],
        "ran": [ran, f"{ran}.tsv"] if ran else [],
    }
    named = options(
        command=method.command,
        folder=os.path.relpath(plan.root),
        problem=exported(at),
        environment=f"{ENVIRONMENTS}/{name}" if name else None,
        conda=method.conda,
        ran=ran,
    )
    return Job(inputs, named)


def run_in_container(plan: Plan, at: Wildcards) -> Job:
    """Run a command in a container.

    The container does not contain this package, so the job of the rule `command` checks the scores. Paths in the
    command are relative to the folder of the project.
    """
    method, here = plan.methods[at.variant], os.path.relpath(Path.cwd(), plan.root)
    problem, scores = (
        os.path.normpath(f"{here}/{path}") for path in (exported(at), f"{at.case.folder(RESULTS)}/container/{SCORES}")
    )
    values = {"dataset": at.dataset, "protocol": at.protocol, "seed": at.seed, "threads": method.threads}
    return Job(command_inputs(plan, at), content=fill(method.command or "", problem, scores, **values))


def exported(at: Wildcards) -> str:
    """Return the folder of an exported split."""
    return f"{at.case.split(RESULTS)}/exported"


def command_inputs(plan: Plan, at: Wildcards) -> dict[str, list[str]]:
    """Return the files that a command reads."""
    return {
        "problem": [f"{exported(at)}/{file}" for file in FILES],
        "needs": exported_needs(plan, at.task),
        "named": files_named(plan, at.variant),
    }


def files_named(plan: Plan, variant: str) -> list[str]:
    """Return the files in the project's folder that are named in a command, or that describe its environment."""
    method = plan.methods[variant]
    try:
        words = shlex.split(method.command or "", comments=True)
    except ValueError:  # a quotation mark is not closed, for example in a comment of awk
        words = (method.command or "").split()
    words += [word for word in (method.environment, method.conda) if word]
    root = Path(os.path.abspath(plan.root))  # noqa: PTH100 (links are not resolved)
    files = [Path(os.path.normpath(root / word)) for word in dict.fromkeys(words)]
    return [os.path.relpath(path) for path in files if path.is_relative_to(root) and is_file(path)]


def is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # this part of the command is too long for the name of a file
        return False


def failed_elsewhere(plan: Plan, jobs: Iterable[Any]) -> dict[str, str]:
    """Return the models trained elsewhere whose jobs failed, each with the reason for leaving it out.

    The keys have the form <data set>/<protocol>/<method>. The result is empty if a job of another kind failed.

    Parameters
    ----------
    jobs : Snakemake's objects of the failed jobs
    """
    reasons: dict[str, str] = {}
    for job in jobs:
        at = job.wildcards_dict
        names = []
        if job.rule.name == "environment":
            of_task = [(task, name) for task in plan.tasks for name in plan.variants(task) if name in plan.commands]
            names = [f"{task}/{name}" for task, name in of_task if environment_name(plan, name) == at["name"]]
        elif {"dataset", "protocol", "variant"} <= at.keys() and plan.methods[at["variant"]].role == "external":
            names = ["{dataset}/{protocol}/{variant}".format_map(at)]
        if not names:
            return {}
        for name in names:
            reasons.setdefault(name, f"its job failed: {last_line(Path(next(iter(job.log))))}"[:LONGEST])
    return reasons


def conda_of(plan: Plan, variant: str) -> str | None:
    """Return a variant's conda environment: its name, or the full path of the file that describes it."""
    named = plan.methods[variant].conda
    return str((plan.root / named).resolve()) if named and named.endswith((".yaml", ".yml")) else named
