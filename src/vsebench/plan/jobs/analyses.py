"""The job of an analysis: what it reads, and the options that name it, both from the READS of its module."""

from collections.abc import Iterator

from vsebench.core.tasks import entry_at_task
from vsebench.evaluation.analyses.base import load_analysis
from vsebench.plan.jobs.base import Job, Wildcards, metric_module, model_file, options, siblings_files, sources
from vsebench.plan.plan import Plan


def analyse(plan: Plan, at: Wildcards) -> Job:
    """An analysis of the models that tables, figures or claims of papers name."""
    name = at.analysis
    reads = load_analysis(name).READS
    datasets = datasets_of(plan, name)
    features = features_of(plan, name) if reads.features else {}
    siblings = siblings_files(plan, datasets if reads.siblings else [])
    inputs = {
        "sources": sources("stages.analyse", f"evaluation.analyses.{name}", *map(metric_module, reads.metrics)),
        "models": list(model_inputs(plan, name)),
        "processed": [f"data/processed/{dataset}/{file}" for dataset in datasets for file in reads.dataset],
        "features": [
            *features.values(),
            *(f"data/processed/{dataset}/images.parquet" for dataset in features),  # which images have some
        ],
        "siblings": list(siblings.values()),
    }
    named = options(
        variants=plan.variants_read(name),
        seeds=plan.config.seeds,
        with_siblings=list(siblings),
        features=features or None,
    )
    return Job(inputs, named)


def model_inputs(plan: Plan, name: str) -> Iterator[str]:
    """Yield the files of fitted models that an analysis reads; with a decision, also those of decisions."""
    reads = load_analysis(name).READS
    for variant in plan.variants_read(name):
        task, entry = entry_at_task(variant)
        for seed in plan.config.seeds:
            for file in (*reads.model, *(reads.decided if entry.decision else ())):
                yield model_file(task, entry.variant, seed, file)


def datasets_of(plan: Plan, name: str) -> list[str]:
    """Return the data sets that an analysis reads."""
    return list(dict.fromkeys(variant.split("/")[0] for variant in plan.variants_read(name)))


def features_of(plan: Plan, name: str) -> dict[str, str]:
    """Return the files of features of the data sets that an analysis reads, by data set."""
    files = {dataset: plan.datasets[dataset].features_name for dataset in datasets_of(plan, name)}
    return {dataset: f"data/processed/{dataset}/{file}" for dataset, file in files.items() if file}
