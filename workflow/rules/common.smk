"""The configuration, checked, and what the rules share."""

import json
import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.shell import shell

from vsebench.core.errors import UserError
from vsebench.core.sources import PACKAGE, sources_of
from vsebench.plan import DATASET_NAME, ROW_NAME, Plan

ROOT = Path(workflow.current_basedir).parent.parent

# A run is described by one file: the default one is not mixed into another that the user names.
if not workflow.overwrite_configfiles:

    configfile: f"{ROOT}/config/config.yaml"


try:
    PLAN = Plan.read(
        ROOT / "config",
        config,
        [Path(path) for path in workflow.configfiles],
        overridden=list(workflow.config_settings.config),
    )
except UserError as error:
    raise WorkflowError(str(error)) from None

# Commands find the Python that runs Snakemake, with or without an activated environment.
BIN = shlex.quote(str(Path(sys.executable).parent))
shell.prefix(f"BIN={BIN}; . {shlex.quote(str(ROOT / 'workflow' / 'job.sh'))}; ")

RAW = "data/raw/{dataset}"
PROCESSED = "data/processed/{dataset}"
RUN = "results/{dataset}/{protocol}"
MODEL = f"{RUN}/seed{{seed}}/{{row}}"
SPLIT = f"{RUN}/seed{{seed}}/split"
SPLITS = expand(
    "results/{run}/seed{seed}/split/split.json", run=PLAN.splits, seed=PLAN.config.seeds
)


wildcard_constraints:
    dataset=DATASET_NAME,
    protocol="distinct|regions|images|official",
    seed="[0-9]+",
    row=ROW_NAME,
    parameter="[a-z0-9_]+",


def sources(*modules):
    """Name the package's files behind a stage, so that a change of one reruns the stage."""
    return [
        os.path.relpath(path)
        for path in sources_of(*(f"vsebench.{module}" for module in modules))
    ]


def quoted_json(value):
    """Write a value as one word of a shell command."""
    return json.dumps(value, sort_keys=True)


def method_sources(*stages):
    return lambda wildcards: sources(
        *stages, f"methods.{PLAN.methods[wildcards.row].method}"
    )


def method_module(wildcards):
    return PLAN.methods[wildcards.row].method


def row_settings(wildcards):
    return quoted_json(PLAN.settings(wildcards.row, wildcards.dataset))


def compiled_kernels(wildcards):
    """An untrained method has none of its own."""
    return "results/kernels/{row}.json" if PLAN.methods[wildcards.row].epochs else []


def selection_file(wildcards):
    """An untrained method has nothing to choose."""
    return f"{MODEL}/selection.json" if PLAN.methods[wildcards.row].epochs else []


def selection_option(wildcards, input):
    return (
        f"--selection {Path(input.selection).parent}" if input.get("selection") else ""
    )


def split_folder(wildcards, input):
    return str(Path(input.parts[0]).parent)


def all_runs(pattern):
    """Fill a pattern for every data set, protocol, seed and row of the run."""
    return [
        path
        for run in PLAN.runs
        for path in expand(
            pattern,
            dataset=run.split("/")[0],
            protocol=run.split("/")[1],
            seed=PLAN.config.seeds,
            row=PLAN.rows(run.split("/")[0]),
        )
    ]


def numbers(wildcards):
    """Name what a table or figure is made of; what does not show times does not wait for them."""
    timing = ["results/timing.parquet"] if wildcards.name == "training-time" else []
    return [*ACCURACY_NUMBERS, *timing]


def discard_leftovers():
    """Delete the temporary files of a run that was killed; their names hold the process."""
    for folder in ("data", "results", "figures"):
        for path in Path(folder).rglob(".*.tmp.*"):
            process = path.name.rpartition(".tmp")[0].rpartition(".")[2]
            # Snakemake lets a second run into the folder where it makes other files than the first.
            if not is_running(process):
                path.unlink(missing_ok=True)


def is_running(process):
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True  # somebody else's
    return True


def discard_stale_kernels():
    """Delete compiled kernels that are older than their source.

    numba writes the index of its cache before the code, so where it is killed in between, or another process reads at
    that moment, the old code would pass for that of the edited source.
    """
    for compiled in PACKAGE.rglob("__pycache__/*.nbc"):
        source = compiled.parent.parent / f"{compiled.name.partition('.')[0]}.py"
        # Another run may do the same at this moment.
        with suppress(FileNotFoundError):
            if compiled.stat().st_mtime < source.stat().st_mtime:
                compiled.unlink()


def print_failures():
    """Name the jobs that failed and their logs once more, below what the other jobs said since."""
    failed = getattr(workflow.scheduler, "failed", [])
    # On a cluster several jobs may be a group.
    jobs = [job for group in failed for job in getattr(group, "jobs", [group])]
    if jobs:
        print(
            "\nFailed; the results of the others stay, and the same command goes on from here:",
            file=sys.stderr,
        )
    for job in sorted(jobs, key=str):
        where = ", ".join(f"{key} {value}" for key, value in job.wildcards_dict.items())
        print(f"  {job.rule.name}: {where}", file=sys.stderr)
        for path in job.log:
            print(f"    {path}: {last_line(Path(path))}", file=sys.stderr)


def last_line(path):
    """Return the last line of a log; a traceback ends with what happened."""
    text = path.read_text(errors="replace").strip() if path.is_file() else ""
    return text.splitlines()[-1] if text else "(empty)"


def print_results():
    """Say what there is and where, after a run that made the report."""
    if "results/report.html" not in {
        str(file) for job in workflow.dag.jobs for file in job.output
    }:
        return
    print(
        "\nDone. Open results/report.html in a browser: it holds every table and figure."
    )
    print(f"  {len(TABLES) // 3} tables as csv, md and tex: results/tables/")
    print(f"  {len(FIGURES) // 3} figures as pdf, svg and png: figures/")
    print(
        "  numbers: results/metrics.parquet, results/summary.parquet, results/timing.parquet"
    )
