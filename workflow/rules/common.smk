"""Read and check the configuration, and define what the rules share."""

import json
import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.shell import shell

from vsebench.core.errors import UserError
from vsebench.core.places import Place
from vsebench.core.sources import PACKAGE, sources_of
from vsebench.plan import DATASET_NAME, ROW_NAME, Plan
from vsebench.protocols.base import known_protocols, load_protocol
from vsebench.rendering import kinds
from vsebench.splits import FILES as SPLIT_NAMES
from vsebench.splits import FIT_FILES

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

if workflow.is_main_process:
    for line in PLAN.left_out_lines():
        print(line, file=sys.stderr)

# Commands find the Python that runs Snakemake, with or without an activated environment.
BIN = shlex.quote(str(Path(sys.executable).parent))
shell.prefix(f"BIN={BIN}; . {shlex.quote(str(ROOT / 'workflow' / 'job.sh'))}; ")

RAW = "data/raw/{dataset}"
PROCESSED = "data/processed/{dataset}"
PARENTS = "data/siblings/{source}"
PLACE = "results/{dataset}/{protocol}"
MODEL = f"{PLACE}/seed{{seed}}/{{row}}"
SPLIT = f"{PLACE}/seed{{seed}}/split"
SPLITS = expand(
    "results/{place}/seed{seed}/split/split.json",
    place=PLAN.places,
    seed=PLAN.config.seeds,
)
NEW_IMAGES = [
    name for name in known_protocols() if load_protocol(name).new_images
]  # protocols whose test images are never trained on
KNOWN_IMAGES = [name for name in known_protocols() if name not in NEW_IMAGES]


wildcard_constraints:
    dataset=DATASET_NAME,
    source=DATASET_NAME,
    protocol="|".join(known_protocols()),
    seed="[0-9]+",
    row=ROW_NAME,
    parameter="[a-z0-9_]+",


def place_of(wildcards):
    return Place(wildcards.dataset, wildcards.protocol)


def sources(*modules):
    """Name the source files that a stage depends on, so that a change in one of them reruns the stage."""
    return [
        os.path.relpath(path)
        for path in sources_of(*(f"vsebench.{module}" for module in modules))
    ]


def as_json(value):
    """Return a value as JSON with sorted keys, the same text for equal values; rules quote it with `:q`."""
    return json.dumps(value, sort_keys=True)


def method_sources(*stages):
    return lambda wildcards: sources(
        *stages, f"methods.{PLAN.methods[wildcards.row].method}"
    )


def fit_sources(stage):
    """Name the sources of a fit: the stage, the method, and the metric that settings are chosen by."""

    def find(wildcards):
        modules = [stage, f"methods.{PLAN.methods[wildcards.row].method}"]
        if PLAN.is_validated(wildcards.row):
            modules.append(metric_module(PLAN.validation_metric(place_of(wildcards))))
        return sources(*modules)

    return find


def metric_module(name):
    return f"evaluation.metrics.{name.partition('@')[0]}"


def metric_sources(wildcards):
    return sources(*map(metric_module, PLAN.config.metrics))


def method_module(wildcards):
    return PLAN.methods[wildcards.row].method


def row_settings(wildcards):
    return as_json(PLAN.settings(wildcards.row, wildcards.dataset))


def compiled_kernels(wildcards):
    """Name a row's record of compiled kernels; a row without epochs has no training kernels to compile."""
    return "results/kernels/{row}.json" if PLAN.methods[wildcards.row].epochs else []


def features(wildcards):
    """Name a data set's features and the table that says which images have some; nothing if it has no features."""
    name = PLAN.datasets[wildcards.dataset].features_name
    files = [f"{PROCESSED}/{name}", f"{PROCESSED}/images.parquet"] if name else []
    return [file.format(dataset=wildcards.dataset) for file in files]


def features_option(files):
    """The first file holds the features."""
    return f"--features {files[0]}" if files else ""


def model_features(wildcards):
    """Name the features that a row's model reads; an oracle can need them for the probabilities of an image."""
    needs = PLAN.method_class(wildcards.row).needs
    return features(wildcards) if needs & {"features", "truth"} else []


def model_features_option(wildcards):
    return features_option(model_features(wildcards))


def timed_features(wildcards):
    """Name the features that one of the timed rows of a place reads."""
    rows = PLAN.timed_rows(place_of(wildcards))
    needed = any("features" in PLAN.method_class(row).needs for row in rows)
    return features(wildcards) if needed else []


def timed_features_option(wildcards):
    return features_option(timed_features(wildcards))


def truth(wildcards):
    """Name the truth that a row's method reads."""
    needs = PLAN.method_class(wildcards.row).needs
    return [f"data/processed/{wildcards.dataset}/truth.npz"] if "truth" in needs else []


def members(wildcards):
    """Name the records of an ensemble's members: what they were fitted with."""
    return expand(
        f"{MODEL}/run.json",
        dataset=wildcards.dataset,
        protocol=wildcards.protocol,
        seed=wildcards.seed,
        row=PLAN.methods[wildcards.row].members,
    )


def extra_inputs(wildcards):
    """Name what a method reads beside the split."""
    return [*model_features(wildcards), *truth(wildcards), *members(wildcards)]


def settings_chosen(wildcards):
    """Name the record of the seed that the settings were chosen with; nothing if it is this seed."""
    seed = int(wildcards.seed)
    first = PLAN.seed_of_settings(wildcards.row, place_of(wildcards), seed)
    return [] if first == seed else f"{MODEL}/run.json".replace("{seed}", str(first))


def grid_options(wildcards, input):
    """Return the settings to try on the validation labels, or where the chosen ones are."""
    if input.chosen:
        return f"--chosen {input.chosen}"
    return f"--grid {shlex.quote(as_json(PLAN.grid(wildcards.row)))}"


def refit_option(wildcards):
    """Say where the tested models do not learn the validation labels."""
    return "" if PLAN.config.datasets[wildcards.dataset].refit else "--no-refit"


def input_options(wildcards):
    """Say what a method reads beside the split, and whether it learns the validation labels at last."""
    named = {"--truth": truth(wildcards), "--members": members(wildcards)}
    files = [f"{option} {' '.join(names)}" for option, names in named.items() if names]
    options = [model_features_option(wildcards), *files, refit_option(wildcards)]
    return " ".join(filter(None, options))


def validation_options(wildcards):
    """Return the options that say how settings and epochs are chosen; empty if a row has nothing to choose."""
    if not PLAN.is_validated(wildcards.row):
        return ""
    metric = PLAN.validation_metric(place_of(wildcards))
    chosen = f"--metric {metric} --images {PLAN.config.validation_images}"
    epochs = PLAN.epochs(wildcards.row, wildcards.dataset)
    limits = f"--epochs {shlex.quote(as_json(epochs.model_dump()))}" if epochs else ""
    return f"{chosen} {limits}".strip()


def split_folder(wildcards, input):
    return str(Path(input.split[0]).parent)


def all_cases(pattern):
    """Return a pattern's paths for every place, seed and row of the run."""
    return [
        path
        for place in PLAN.places
        for path in expand(
            pattern,
            dataset=place.dataset,
            protocol=place.protocol,
            seed=PLAN.config.seeds,
            row=PLAN.rows(place),
        )
    ]


def ranked(wildcards):
    """Name the files that the stage `rank` writes for all rows and seeds of a place."""
    place = place_of(wildcards)
    names = ["ranks", "lists"]
    if place.protocol in NEW_IMAGES:
        names.append("label_ranks")
    return expand(
        f"{MODEL}/{{name}}.parquet",
        dataset=place.dataset,
        protocol=place.protocol,
        seed=PLAN.config.seeds,
        row=PLAN.rows(place),
        name=names,
    )


def siblings(wildcards):
    """Name a data set's siblings where a metric of the run reads them."""
    read = PLAN.list_metrics and wildcards.dataset in PLAN.siblings
    return (
        [f"{PROCESSED}/siblings.parquet".format(dataset=wildcards.dataset)]
        if read
        else []
    )


def siblings_option(wildcards):
    return " ".join(f"--siblings {path}" for path in siblings(wildcards))


def siblings_files(datasets):
    """Name the siblings of those data sets that have some."""
    return [
        f"{PROCESSED}/siblings.parquet".format(dataset=name)
        for name in datasets
        if name in PLAN.siblings
    ]


def rows_read(name, *files):
    """Name files of every fitted model that a file of `outline.ON_REQUEST` is made of."""
    return [
        f"results/{place}/seed{seed}/{row}/{file}"
        for place, _, row in (case.rpartition("/") for case in PLAN.rows_read(name))
        for seed in PLAN.config.seeds
        for file in files
    ]


def datasets_read(name):
    """Name the data sets of the rows that a file of `outline.ON_REQUEST` is made of."""
    return list(dict.fromkeys(case.split("/")[0] for case in PLAN.rows_read(name)))


def labels_read(name, *files):
    """Name files of the data sets that a file of `outline.ON_REQUEST` is made of, and their siblings."""
    datasets = datasets_read(name)
    found = [
        f"data/processed/{dataset}/{file}" for dataset in datasets for file in files
    ]
    return [*found, *siblings_files(datasets)]


def cases_read(name):
    """Return the options that name the rows of a file of `outline.ON_REQUEST`."""
    with_siblings = [one for one in datasets_read(name) if one in PLAN.siblings]
    seeds = " ".join(map(str, PLAN.config.seeds))
    options = f"--rows {' '.join(PLAN.rows_read(name))} --seeds {seeds}"
    return options + (
        f" --with-siblings {' '.join(with_siblings)}" if with_siblings else ""
    )


def own_files(wildcards):
    """Name the user's own files of a data set, which are not downloaded."""
    return list(PLAN.datasets[wildcards.dataset].own_files.values())


def downloaded_parents(name):
    """Return the definition of a file in config/siblings, for its download."""
    return next(
        PLAN.siblings[dataset].definition("options")
        for dataset, config in PLAN.datasets.items()
        if config.siblings == name
    )


def parents_of_labels(wildcards):
    """Name the file behind a data set's siblings: the record of what was downloaded, or the user's own table."""
    source = PLAN.datasets[wildcards.dataset].siblings
    if not PLAN.siblings[wildcards.dataset].files:
        return PLAN.siblings[wildcards.dataset].options.get("parents", [])
    return f"{PARENTS}/provenance.json".format(source=source)


def gathered(base, instances):
    """Return the input function of a table or figure: what its kind reads, its sources and its paper's numbers."""

    def inputs(wildcards):
        instance = instances[wildcards.name]
        found = [
            f"results/{name}" for name in kinds.inputs(base, instance, PLAN.outline)
        ]
        return [
            *found,
            *map(os.path.relpath, sources_of(*kinds.modules(base, instance))),
            *kinds.printed_numbers(instance),
        ]

    return inputs


def kind_sources(base, instances):
    """Name the source files behind all tables or figures."""
    found = [sources_of(*kinds.modules(base, one)) for one in instances.values()]
    return sorted({os.path.relpath(path) for paths in found for path in paths})


def kind_of(instances):
    return lambda wildcards: instances[wildcards.name].kind


def parameters_of(instances):
    return lambda wildcards: as_json(instances[wildcards.name].parameters)


def facts_of(instances):
    """Return a parameter that reruns a paper's table when the keys of the YAML file that it reads have changed."""
    facts = {paper.name: paper.facts for paper in PLAN.papers}
    return lambda wildcards: facts.get(instances[wildcards.name].paper, "")


def tables_of(*kinds_of_tables):
    """Name the files of all tables of some kinds."""
    names = [
        name for name, table in PLAN.tables.items() if table.kind in kinds_of_tables
    ]
    return expand(
        "results/tables/{name}.{suffix}", name=names, suffix=["csv", "md", "tex"]
    )


def discard_leftovers():
    """Delete the temporary files of a run that was killed; their names contain the id of its process."""
    for folder in ("data", "results", "figures"):
        for path in Path(folder).rglob(".*.tmp.*"):
            process = path.name.rpartition(".tmp")[0].rpartition(".")[2]
            # Another run may be active in this folder: Snakemake allows it if the two make different files.
            if not is_running(process):
                path.unlink(missing_ok=True)


def is_running(process):
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True  # a process of another user
    return True


def discard_stale_kernels():
    """Delete compiled kernels that are older than a source file behind them.

    numba compares a kernel with its own file alone, and not with those of the functions that are compiled into it. It
    also writes the index of its cache before the code, so where it is killed in between, or another process reads at
    that moment, the old code would pass for that of the edited source.
    """
    for compiled in PACKAGE.rglob("__pycache__/*.nbc"):
        source = compiled.parent.parent / f"{compiled.name.partition('.')[0]}.py"
        name = ".".join(source.relative_to(PACKAGE.parent).with_suffix("").parts)
        # Another run may do the same at this moment, and the source may be gone.
        with suppress(FileNotFoundError):
            newest = max(path.stat().st_mtime for path in sources_of(name))
            if compiled.stat().st_mtime < newest:
                compiled.unlink()


def lift_default_rate():
    """Drop Snakemake's default limit of 100 jobs a second; any other limit stays.

    To obey a limit, Snakemake 9.27 starts a timer each time it has looked for jobs to start. When the timer ends it looks
    again, and so on, beside the look after each job. So after a hundred jobs it looks a hundred times a second, at every
    input of every job that waits, which keeps a core busy.
    """
    limiter = workflow.scheduler.job_rate_limiter
    if limiter and (limiter.max_jobs, limiter.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None


def print_failures():
    """List the failed jobs and their logs again at the end, below the messages of later jobs."""
    failed = getattr(workflow.scheduler, "failed", [])
    # On a cluster several jobs can form a group.
    jobs = [job for group in failed for job in getattr(group, "jobs", [group])]
    if jobs:
        print(
            "\nFailed. The other jobs' results are kept; run the same command again to continue:",
            file=sys.stderr,
        )
    for job in sorted(jobs, key=str):
        where = ", ".join(f"{key} {value}" for key, value in job.wildcards_dict.items())
        print(f"  {job.rule.name}: {where}", file=sys.stderr)
        for path in job.log:
            print(f"    {path}: {last_line(Path(path))}", file=sys.stderr)


def last_line(path):
    """Return the last line of a log, which in a traceback says what happened."""
    text = path.read_text(errors="replace").strip() if path.is_file() else ""
    return text.splitlines()[-1] if text else "(empty)"


def print_results():
    """Say where the results are, after a run that made the report."""
    if "results/report.html" not in {
        str(file) for job in workflow.dag.jobs for file in job.output
    }:
        return
    print(
        "\nDone. Open results/report.html in a browser: it shows every table and figure."
    )
    print(f"  {len(TABLES) // 3} tables as csv, md and tex: results/tables/")
    print(f"  {len(FIGURES) // 3} figures as pdf, svg and png: figures/")
    print(
        "  numbers: results/metrics.parquet, results/summary.parquet, results/timing.parquet"
    )
