"""The configuration, checked, and what the rules share."""

import json
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

from vsebench.errors import UserError
from vsebench.sources import sources_of
from vsebench.workflow import Plan

ROOT = Path(workflow.current_basedir).parent.parent

# A run is described by one file: the default one is not mixed into another that the user names.
if not workflow.overwrite_configfiles:

    configfile: f"{ROOT}/config/config.yaml"


try:
    PLAN = Plan.read(
        ROOT / "config", config, [Path(path) for path in workflow.configfiles]
    )
except UserError as error:
    raise WorkflowError(str(error)) from None

VSEBENCH = f"{sys.executable} -m vsebench"
RUN = "results/{dataset}/{protocol}"
MODEL = f"{RUN}/seed{{seed}}/{{row}}"
SPLIT = f"{RUN}/seed{{seed}}/split"
SPLITS = expand(
    "results/{run}/seed{seed}/split/split.json", run=PLAN.splits, seed=PLAN.config.seeds
)


wildcard_constraints:
    dataset="[a-z][a-z0-9-]*",
    protocol="distinct|regions|images",
    seed="[0-9]+",
    row="[a-z][a-z0-9_]*",


def sources(*modules):
    """Name the package's files behind a stage, so that a change of one reruns the stage."""
    return [
        os.path.relpath(path)
        for path in sources_of(*(f"vsebench.{module}" for module in modules))
    ]


def quoted_json(value):
    """Write a value as one word of a shell command."""
    return json.dumps(value, sort_keys=True)


def print_results():
    """Say what there is and where, after a run that made the report."""
    if "results/report.html" not in {str(file) for job in workflow.dag.jobs for file in job.output}:
        return
    print("\nDone. Open results/report.html in a browser: it holds every table and figure.")
    print(f"  {len(PLAN.tables)} tables as csv, md and tex: results/tables/")
    print(f"  {len(PLAN.figures)} figures as pdf, svg and png: figures/")
    print("  numbers: results/metrics.parquet, results/summary.parquet, results/timing.parquet")
