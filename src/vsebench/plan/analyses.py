"""What the job of an analysis reads, and the options that name it, both from the READS of its module."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

from vsebench.core.places import Case, entry_at_place
from vsebench.evaluation.analyses.base import load_analysis
from vsebench.plan.plan import Plan


def analysis_inputs(plan: Plan, name: str) -> list[str]:
    """Return the files that an analysis reads."""
    reads = load_analysis(name).READS
    models = [
        f"{folder}/{file}"
        for folder, decision in model_folders(plan, name)
        for file in (*reads.model, *(reads.decided if decision else ()))
    ]
    processed = [f"data/processed/{dataset}/{file}" for dataset in datasets_of(plan, name) for file in reads.dataset]
    features = features_of(plan, name)
    images = [f"data/processed/{dataset}/images.parquet" for dataset in features]  # which have features
    siblings = [f"data/processed/{dataset}/siblings.parquet" for dataset in siblings_of(plan, name)]
    return list(dict.fromkeys([*models, *processed, *features.values(), *images, *siblings]))


def analysis_options(plan: Plan, name: str) -> str:
    """Return the options that name the methods of an analysis and what their data sets have."""
    options = ["--rows", *plan.rows_read(name), "--seeds", *map(str, plan.config.seeds)]
    if siblings := siblings_of(plan, name):
        options += ["--with-siblings", *siblings]
    if features := features_of(plan, name):
        options += ["--features", shlex.quote(json.dumps(features, sort_keys=True))]
    return " ".join(options)


def model_folders(plan: Plan, name: str) -> Iterator[tuple[str, str]]:
    """Yield the folder of each fitted model that an analysis reads, and the decision, which is empty for none."""
    for row in plan.rows_read(name):
        place, entry = entry_at_place(row)
        for seed in plan.config.seeds:
            yield str(Case(place, entry.row, seed).folder(Path("results"))), entry.decision


def datasets_of(plan: Plan, name: str) -> list[str]:
    """Return the data sets that an analysis reads."""
    return list(dict.fromkeys(row.split("/")[0] for row in plan.rows_read(name)))


def features_of(plan: Plan, name: str) -> dict[str, str]:
    """Return the files of features that an analysis reads, by data set."""
    if not load_analysis(name).READS.features:
        return {}
    files = {dataset: plan.datasets[dataset].features_name for dataset in datasets_of(plan, name)}
    return {dataset: f"data/processed/{dataset}/{file}" for dataset, file in files.items() if file}


def siblings_of(plan: Plan, name: str) -> list[str]:
    """Return the data sets whose siblings an analysis reads."""
    reads = load_analysis(name).READS.siblings
    return [dataset for dataset in datasets_of(plan, name) if reads and dataset in plan.siblings]
