"""Read and check the configuration, and define what the rules share."""

import json
import logging
import os
import shlex
import sys
from pathlib import Path

from snakemake.shell import shell

from vsebench import job_server
from vsebench.core.errors import UserError
from vsebench.core.modules import PACKAGE, modules_in
from vsebench.core.places import Place
from vsebench.core.sources import sources_of
from vsebench.core.storage import numbered
from vsebench.evaluation.decisions.base import load_decision
from vsebench.formats.images.image_files import folders_of
from vsebench.plan import DATASET_NAME, FEATURES, ROW_NAME, Plan, jobs
from vsebench.protocols.base import FROM, known_protocols, load_protocol, source_of
from vsebench.rendering import kinds
from vsebench.data.splits import FILES as SPLIT_NAMES
from vsebench.data.splits import FIT_FILES
from vsebench.workflow import TimeLeft

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
    sys.exit(f"vsebench: {error}")  # Snakemake's own error would show this file as well

if workflow.resource_settings.cores == 0:
    sys.exit("vsebench: --cores 0: no job can run; use 1 or more, or all")

if workflow.is_main_process:
    for line in PLAN.left_out_lines():
        print(line, file=sys.stderr)
    if workflow.local_exec and not workflow.dryrun:
        logging.getLogger("snakemake.logging").addHandler(
            TimeLeft(
                workflow.resource_settings.cores,
                {"time_methods", "scale"},
            )
        )

# Commands find the Python that runs Snakemake, with or without an activated environment.
BIN = shlex.quote(str(Path(sys.executable).parent))
shell.prefix(f"BIN={BIN}; . {shlex.quote(str(ROOT / 'workflow' / 'job.sh'))}; ")

RAW = "data/raw/{dataset}"
PROCESSED = "data/processed/{dataset}"
PARENTS = "data/siblings/{source}"
WORDS = "data/words/{source}"
PLACE = "results/{dataset}/{protocol}"
MODEL = f"{PLACE}/seed{{seed}}/{{row}}"
SPLIT = f"{PLACE}/seed{{seed}}/split"
SPLITS = expand(
    "results/{place}/seed{seed}/split/split.json",
    place=PLAN.places,
    seed=PLAN.config.seeds,
)
KNOWN_IMAGES = [
    name for name in known_protocols() if not load_protocol(name).new_images
]
# Protocols whose test images are never trained on.
NEW_IMAGES = [name for name in known_protocols() if name not in KNOWN_IMAGES]
NEW_IMAGES.append(FROM + DATASET_NAME)


wildcard_constraints:
    dataset=DATASET_NAME,
    source=DATASET_NAME,
    protocol="|".join([*KNOWN_IMAGES, *NEW_IMAGES]),
    seed="[0-9]+",
    row=ROW_NAME,
    parameter="[a-z0-9_]+",


def place_of(wildcards):
    return Place(wildcards.dataset, wildcards.protocol)


def processed(wildcards):
    return PLAN.processed(place_of(wildcards))


def split_from(wildcards):
    """Name the tables that a protocol splits."""
    names = ("pairs", "images", "labels")
    return [f"{processed(wildcards)}/{name}.parquet" for name in names]


def protocol_module(wildcards):
    return f"protocols.{'transfer' if source_of(wildcards.protocol) else wildcards.protocol}"


def sources(*modules):
    """Name the source files that a stage depends on, so that a change in one of them reruns the stage."""
    return [
        os.path.relpath(path)
        for path in sources_of(*(f"vsebench.{module}" for module in modules))
    ]


def module_of(folder, name):
    """Name a module of a folder of the package, or of a folder in it, without the name of the package."""
    return modules_in(folder)[name].removeprefix("vsebench.")


def as_json(value):
    """Return a value as JSON with sorted keys, the same text for equal values; rules quote it with `:q`."""
    return json.dumps(value, sort_keys=True)


def literally(text):
    """Return a param with this text. In a text that is not returned by a function, Snakemake replaces {words}."""
    return lambda wildcards: text


def method_sources(*stages):
    return lambda wildcards: sources(
        *stages, module_of("methods", PLAN.methods[wildcards.row].method)
    )


def fit_sources(stage):
    """Name the sources of a fit: the stage, the method, and the metric that settings are chosen by."""

    def find(wildcards):
        modules = [stage, module_of("methods", PLAN.methods[wildcards.row].method)]
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
    place, seed = place_of(wildcards), int(wildcards.seed)
    return as_json(PLAN.starting_settings(wildcards.row, place, seed))


def compiled_kernels(wildcards):
    """Name a row's record of compiled kernels; a row without epochs has no training kernels to compile."""
    return "results/kernels/{row}.json" if PLAN.methods[wildcards.row].epochs else []


def features(wildcards):
    """Name a place's features and the table that says which images have some; nothing if it has no features."""
    place = place_of(wildcards)
    return jobs.need_files(PLAN, {"features"} & PLAN.provides(place), place)


def features_read_by_model(wildcards):
    return {"features"} & jobs.needs_read(PLAN, [wildcards.row], place_of(wildcards))


def model_features(wildcards):
    """Name the features that a row's model reads."""
    return jobs.need_files(PLAN, features_read_by_model(wildcards), place_of(wildcards))


def model_features_option(wildcards):
    return jobs.need_options(
        PLAN, features_read_by_model(wildcards), place_of(wildcards)
    )


def needs_of_timed_rows(wildcards):
    place = place_of(wildcards)
    return jobs.needs_read(PLAN, PLAN.timed_rows(place), place)


def timed_inputs(wildcards):
    """Name what the timed rows of a place read besides their splits."""
    needs = needs_of_timed_rows(wildcards) - {"test_labels"}  # part of the split
    return jobs.need_files(PLAN, needs, place_of(wildcards))


def timed_options(wildcards):
    """Say what the timed rows of a place read, and whether they learn the validation labels at last."""
    named = jobs.need_options(PLAN, needs_of_timed_rows(wildcards), place_of(wildcards))
    return f"{named} {refit_option(wildcards)}".strip()


def cold_option(wildcards):
    """Images without a training label are ranked by frequency, if the row's method knows images by labels alone."""
    alone = PLAN.method_class(wildcards.row).knows_labels_alone()
    leaves = load_protocol(wildcards.protocol).leaves_cold
    return "--cold-by-frequency" if alone and leaves else ""


def words(wildcards):
    """Name the word vectors of a place's labels."""
    return [f"{processed(wildcards)}/words.npz"]


def split_words(wildcards):
    """Name the word vectors where a protocol draws from the labels that have one."""
    return words(wildcards) if load_protocol(wildcards.protocol).unseen else []


def split_words_option(wildcards):
    return " ".join(f"--words {path}" for path in split_words(wildcards))


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
    """Name what a method reads besides the split."""
    place, split = place_of(wildcards), SPLIT.format(**wildcards)
    needs = jobs.needs_read(PLAN, [wildcards.row], place)
    return [*jobs.need_files(PLAN, needs, place, split), *members(wildcards)]


def settings_chosen(wildcards):
    """Name the record of the seed that the settings were chosen with; nothing if it is this seed."""
    seed = int(wildcards.seed)
    first = PLAN.seed_of_settings(wildcards.row, place_of(wildcards), seed)
    return [] if first == seed else f"{MODEL}/run.json".replace("{seed}", str(first))


def grid_options(wildcards):
    """Return the settings to try on the validation labels, or where the chosen ones are.

    It takes no `input`: Snakemake does not notice when a param that does has changed.
    """
    chosen = settings_chosen(wildcards)
    if chosen:
        return f"--chosen {chosen.format(**wildcards)}"
    grid, beyond = PLAN.grid(wildcards.row), PLAN.beyond_edges(wildcards.row)
    return f"--grid {shlex.quote(as_json(grid))}" + (
        f" --beyond {beyond}" if grid else ""
    )


def refit_option(wildcards):
    """Say where the tested models do not learn the validation labels."""
    return "" if PLAN.config.datasets[wildcards.dataset].refit else "--no-refit"


def input_options(wildcards):
    """Say what a method reads besides the split, and whether it learns the validation labels at last."""
    place, records = place_of(wildcards), members(wildcards)
    named = jobs.need_options(
        PLAN, jobs.needs_read(PLAN, [wildcards.row], place), place
    )
    of_members = f"--members {' '.join(records)}" if records else ""
    return " ".join(filter(None, [named, of_members, refit_option(wildcards)]))


def validation_options(wildcards):
    """Return the options that say how settings and epochs are chosen; empty if a row has nothing to choose."""
    if not PLAN.is_validated(wildcards.row):
        return ""
    metric = PLAN.validation_metric(place_of(wildcards))
    chosen = f"--metric {metric} --images {PLAN.config.validation_images}"
    epochs = PLAN.epochs(wildcards.row, wildcards.dataset)
    limits = f"--epochs {shlex.quote(as_json(epochs.model_dump()))}" if epochs else ""
    return f"{chosen} {limits}".strip()


def memory(times):
    """Return the memory in MB that a job asks a cluster for: so many times the size of its input, from 1,000 to 16,000.

    Measured at the size of Open Images (1.4 million images, 11 million pairs, 30 MB as Parquet): an iteration of VSE-fs
    with 128 factors takes 1.4 GiB. A job that is tried again gets more, since it may have been ended for its memory.
    """
    return lambda wildcards, input, attempt: attempt * int(
        min(max(1000, times * input.size_mb), 16000)
    )


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
    if load_protocol(place.protocol).new_images:
        names.append("label_ranks")
    return expand(
        f"{MODEL}/{{name}}.parquet",
        dataset=place.dataset,
        protocol=place.protocol,
        seed=PLAN.config.seeds,
        row=PLAN.rows(place),
        name=names,
    )


def decisions_of(wildcards):
    """Return the decisions that a row gets at a place, by name."""
    names = PLAN.decisions_of(wildcards.row, place_of(wildcards))
    return {name: PLAN.decisions[name] for name in names}


def decisions_of_row(wildcards):
    keys = {"decision", "settings", "tuned_for"}
    return as_json(
        {
            name: decision.model_dump(include=keys)
            for name, decision in decisions_of(wildcards).items()
        }
    )


def decision_sources(wildcards):
    """Name the sources of the model, of the decisions, and of the metrics that these are tuned for."""
    found = decisions_of(wildcards).values()
    modules = [
        "stages.decide",
        module_of("methods", PLAN.methods[wildcards.row].method),
        *(f"evaluation.decisions.{decision.decision}" for decision in found),
        *(
            metric_module(decision.tuned_for)
            for decision in found
            if decision.tuned_for
        ),
    ]
    return sources(*modules)


def needs_of_decisions(wildcards):
    """Return what a row's model and decisions read: with the law of the labels, the truth and any features."""
    place = place_of(wildcards)
    modules = [decision.decision for decision in decisions_of(wildcards).values()]
    if any("law" in load_decision(module).needs for module in modules):
        return {"truth"} | {"features"} & PLAN.provides(place)
    return features_read_by_model(wildcards)


def decision_inputs(wildcards):
    return jobs.need_files(PLAN, needs_of_decisions(wildcards), place_of(wildcards))


def decision_options(wildcards):
    return jobs.need_options(PLAN, needs_of_decisions(wildcards), place_of(wildcards))


def decisions_made(wildcards):
    """Name the label sets that the decisions of a place have chosen."""
    return decisions_at(place_of(wildcards))


def decisions_at(place):
    return expand(
        f"{MODEL}/decisions.parquet",
        dataset=place.dataset,
        protocol=place.protocol,
        seed=PLAN.config.seeds,
        row=list(dict.fromkeys(entry.row for entry in PLAN.decided(place))),
    )


def decided_option(wildcards):
    entries = PLAN.decided(place_of(wildcards))
    return f"--decisions {' '.join(map(str, entries))}" if entries else ""


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


def own_files(wildcards):
    """Name the user's own files of a data set, which are not downloaded."""
    return list(PLAN.datasets[wildcards.dataset].own_files.values())


def network_inputs(wildcards):
    """Name what a network's features are made from: downloads by their record, the user's own files and folders."""
    dataset = PLAN.datasets[wildcards.dataset]
    names = [dataset.network.model, dataset.network.images]
    own = [name for name in names if not dataset.downloads(name)]
    found = [str(path) for name in own for path in folders_of(Path(name)) or [name]]
    if len(own) < len(names):
        found.append(f"{RAW}/provenance.json".format(dataset=wildcards.dataset))
    return found


def network_options(wildcards):
    """Return the options that say which network describes which images, and how."""
    dataset = PLAN.datasets[wildcards.dataset]
    options = dataset.network.model_dump()
    for key in ("model", "images"):
        if dataset.downloads(options[key]):
            options[key] = f"{RAW}/{options[key]}".format(dataset=wildcards.dataset)
    return " ".join(
        f"--{key} {shlex.quote(str(value))}" for key, value in options.items()
    )


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


def downloaded_words(name):
    """Return the definition of a file in config/words, for its download."""
    return next(
        PLAN.words[dataset].download_definition()
        for dataset, config in PLAN.datasets.items()
        if config.words == name
    )


def source_of_words(wildcards):
    """Name the files behind the words of a data set's labels: the record of downloads, and the user's own file."""
    config, name = (
        PLAN.words[wildcards.dataset],
        PLAN.datasets[wildcards.dataset].words,
    )
    own = [config.own_file] if config.own_file else []
    return own + (
        [f"{WORDS}/provenance.json".format(source=name)] if config.files else []
    )


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
