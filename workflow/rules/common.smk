"""Read and check the configuration, and define functions that the rules share."""

import json
import logging
import os
import re
import shlex
import sys
from functools import cache
from pathlib import Path

from snakemake.settings.enums import Quietness
from snakemake.shell import shell

from vsebench import job_server
from vsebench.core.errors import UserError, seen_from_start
from vsebench.core.modules import PACKAGE
from vsebench.core.storage import as_sealed_json
from vsebench.data.splits import FILES as SPLIT_NAMES
from vsebench.data.splits import FIT_FILES
from vsebench.formats.exported_split import FILES as EXPORTED
from vsebench.plan import DATASET_NAME, SET_NAME, VARIANT_NAME, jobs, read_plan
from vsebench.plan.checks import check_software, few_seeds, left_out_lines
from vsebench.plan.sharing import share_data
from vsebench.plan.source_records import record_of
from vsebench.plan.jobs.data import (
    MADE_FEATURES,
    joined_files,
    joined_tasks,
    processed_files,
)
from vsebench.plan.jobs.commands import (
    FAILED_ELSEWHERE,
    conda_of,
    failed_elsewhere,
)
from vsebench.plan.jobs.base import as_json, sources, split_files
from vsebench.plan.jobs.results import parts, pictures
from vsebench.protocols.base import FROM, known_protocols, load_protocol
from vsebench.rendering import kinds
from vsebench.workflow import OnlyProgress, Progress

ROOT = Path(workflow.current_basedir).parent.parent

# One file describes a run: the default configuration is not merged with a file that the user names.
if not workflow.overwrite_configfiles:

    configfile: f"{ROOT}/config/config.yaml"


try:
    PLAN = read_plan(
        ROOT / "config",
        config,
        [Path(path) for path in workflow.configfiles],
        overridden=list(workflow.config_settings.config),
    )
except UserError as error:
    sys.exit(f"vsebench: {error}")  # Snakemake's own message would also show this file

if workflow.is_main_process:
    share_data(PLAN, ROOT)

if workflow.resource_settings.cores == 0:
    sys.exit("vsebench: --cores 0: no job can run; use 1 or more, or all")

if workflow.is_main_process:
    try:
        check_software(
            PLAN,
            {str(method) for method in workflow.deployment_settings.deployment_method},
        )
    except UserError as error:
        sys.exit(f"vsebench: {error}")
    for line in [*few_seeds(PLAN), *left_out_lines(PLAN)]:
        print(seen_from_start(line, Path.cwd()), file=sys.stderr)
    # No traceback if the disk is too full for Snakemake's log.
    logging.raiseExceptions = False
    if workflow.local_exec and not workflow.dryrun:
        progress = Progress(workflow.resource_settings.cores, {"time_methods", "scale"})
        if Quietness.RULES in (workflow.output_settings.quiet or ()):
            logging.getLogger("snakemake.logging").addFilter(OnlyProgress(progress))
        else:
            logging.getLogger("snakemake.logging").addHandler(progress)

# Jobs use the Python that runs Snakemake, whether or not its environment is activated.
BIN = shlex.quote(str(Path(sys.executable).parent))
JOB = shlex.quote(str(ROOT / "workflow" / "job.sh"))
# Snakemake would replace names in braces, but braces in these paths are parts of the names of folders.
shell.prefix(f"BIN={BIN}; . {JOB}; ".replace("{", "{{").replace("}", "}}"))

PROCESSED = "data/processed/{dataset}"
TASK = "results/{dataset}/{protocol}"
MODEL = f"{TASK}/seed{{seed}}/{{variant}}"
SPLIT = f"{TASK}/seed{{seed}}/split"
SPLITS = [
    path
    for task in PLAN.tasks
    for path in split_files(task, PLAN.task_seeds(task), ["split.json"])
]
KNOWN_IMAGES = [
    name for name in known_protocols() if not load_protocol(name).new_images
]
# Protocols under which models are never trained on test images.
NEW_IMAGES = [name for name in known_protocols() if name not in KNOWN_IMAGES]
NEW_IMAGES.append(FROM + DATASET_NAME)


wildcard_constraints:
    dataset="|".join(PLAN.datasets),
    protocol="|".join([*KNOWN_IMAGES, *NEW_IMAGES]),
    seed="[0-9]+",
    variant=VARIANT_NAME,
    parameter="[a-z0-9_]+",


@cache
def job(rule, **wildcards):
    """Return the inputs of a rule's job and the options of its command (src/vsebench/plan/jobs)."""
    return jobs.job(PLAN, rule, jobs.Wildcards(**wildcards))


def job_inputs(rule):
    """Return the input function of a rule, for `unpack`; one record stands for all source files of a job."""

    def inputs(wildcards):
        named = job(rule, **wildcards).inputs
        return {
            name: record_of(files) if name == "sources" else files
            for name, files in named.items()
        }

    return inputs


def job_options(rule):
    """Return the param of a rule with the options of its command.

    If the function took `input`, Snakemake would not notice that the param has changed.
    """
    return lambda wildcards: job(rule, **wildcards).options


def job_content(rule):
    """Return the param of a rule with other data on which the rule's results depend."""
    return lambda wildcards: job(rule, **wildcards).content


def literally(text):
    """Return a param with this text; if it were not returned by a function, Snakemake would replace {words} in it."""
    return lambda wildcards: text


def split_folder(wildcards):
    """Return the folder of a split; this is a function because Snakemake's lint rejects the text itself as a param."""
    return SPLIT.format(**wildcards)


def memory(times):
    """Return the memory in MB to request from a cluster: the input's size times `times`, from 1,000 to 16,000.

    At the size of Open Images (1.4 million images, 11 million pairs, 30 MB as Parquet), an iteration of VSE-fs with
    128 factors takes 1.4 GiB. A job that is tried again gets more, since it may have been killed for lack of memory.
    """
    return lambda wildcards, input, attempt: attempt * int(
        min(max(1000, times * input.size_mb), 16000)
    )


def kind_sources(base, instances):
    """Return the source files that all tables or figures depend on."""
    modules = [kinds.modules(base, instance) for instance in instances.values()]
    return sorted({path for names in modules for path in sources(*names)})


def category(shown, instance):
    """Return the heading of a table or figure in Snakemake's own report."""
    return f"{shown} of the papers" if instance.paper else shown


def table_files(names):
    return expand(
        "results/tables/{name}.{suffix}", name=names, suffix=["csv", "md", "tex"]
    )


def figure_files(names):
    return expand("figures/{name}.{suffix}", name=names, suffix=["pdf", "svg", "png"])


def tables_of(*kinds_of_tables):
    """Return the files of all tables of some kinds."""
    return table_files(
        name for name, table in PLAN.tables.items() if table.kind in kinds_of_tables
    )
