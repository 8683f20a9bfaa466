"""Jobs that measure, time and analyse models, gather results, test claims, and make tables and figures."""

from pathlib import Path
from typing import Any

from vsebench.core.tasks import Entry, Task, entry_at_task, pack_folder
from vsebench.data.needs import TEST_LABELS
from vsebench.data.splits import FILES
from vsebench.evaluation.analyses import known_analyses
from vsebench.evaluation.analyses.base import load_analysis
from vsebench.evaluation.metrics.base import RankMetric, load_metric, module_of_metric, needs_frequencies
from vsebench.packs.manifest import MANIFEST
from vsebench.papers.verdicts import claim_modules, claims_read
from vsebench.plan.jobs.base import (
    RESULTS,
    Job,
    Wildcards,
    as_json,
    decisions_made,
    method_modules,
    model_file,
    model_files,
    need_files,
    need_options,
    needs_read,
    options,
    siblings_files,
    sources,
    split_files,
    sweep_files,
)
from vsebench.plan.plan import Plan
from vsebench.plan.settings import data_read, not_tuned, scaled_variants, sweep_grid_of
from vsebench.protocols.base import load_protocol
from vsebench.rendering import kinds
from vsebench.rendering.outline import GATHERED

SPLIT_FILES_MEASURED = ("split.json", "images.parquet", "labels.parquet", "final.parquet")
GATHERED_FOR_CLAIMS = ("timing.parquet", "history.parquet", "metrics.parquet", "datasets.json", "settings.json")


def measure(plan: Plan, at: Wildcards) -> Job:
    """Compute the metrics of all variants and seeds of a task from their ranks and decisions."""
    ranks = ["ranks.parquet", "lists.parquet"]
    ranks += ["label_ranks.parquet"] if load_protocol(at.protocol).new_images else []
    read = siblings_files(plan, [at.dataset] if plan.list_metrics else [])
    packed, seeds = plan.packed(at.task), plan.task_seeds(at.task)
    packs = [f"{RESULTS}/{GATHERED['packs']}"] if packed else []
    own_seeds = {f"{at.task}/{name}": own for name, own in packed.items() if own != seeds}
    inputs = {
        "sources": sources("vsebench.stages.measure", *map(module_of_metric, plan.config.metrics)),
        "ranks": model_files(plan, *ranks, tasks=[at.task]),
        "records": model_files(plan, "run.json", tasks=[at.task]),
        "siblings": list(read.values()),
        "packs": packs,
        "decisions": decisions_made(plan, [at.task]),
        "split": split_files(at.task, plan.task_seeds(at.task), SPLIT_FILES_MEASURED),
    }
    with_frequencies = needs_frequencies(plan.config.metrics)
    named = options(
        variants=[*plan.variants(at.task), *packed],
        decisions=plan.decided(at.task),
        not_compared=not_compared(plan, at.task),
        seeds=seeds,
        own_seeds=plan.own_seeds([at.task], seeds) | own_seeds or None,
        packs=packs,
        metrics=plan.config.metrics,
        siblings=read.get(at.dataset),
        propensity=plan.datasets[at.dataset].propensity.model_dump() if with_frequencies else None,
        bootstrap=plan.config.bootstrap,
    )
    return Job(inputs, named)


def open_pack(plan: Plan, at: Wildcards) -> Job:
    """Unpack a pack of another run."""
    return Job({"sources": sources("vsebench.stages.open_pack"), "pack": [plan.packs[at.name].path]})


def match_packs(plan: Plan, at: Wildcards) -> Job:
    """Find out which methods of packs were fitted on the splits of this run."""
    packed = {f"{task}/{name}": seeds for task in plan.tasks for name, seeds in plan.packed(task).items()}
    splits = {(task, seed): None for task in plan.tasks for seeds in plan.packed(task).values() for seed in seeds}
    inputs = {
        "sources": sources("vsebench.stages.match_packs"),
        "packs": [f"{pack_folder(RESULTS, name)}/{MANIFEST}" for name in plan.packs],
        "split": [path for task, seed in splits for path in split_files(task, [seed], ("split.json", "test.parquet"))],
    }
    return Job(inputs, options(methods=packed))


def not_compared(plan: Plan, task: Task) -> list[Entry]:
    """Return the entries of a task whose method or decision is an oracle; they are not compared with other methods."""
    oracles = plan.oracles(task)
    decided = [
        entry
        for entry in plan.decided(task)
        if entry.variant in oracles or plan.decisions[entry.decision].role == "oracle"
    ]
    return [*map(Entry, oracles), *decided]


def measure_sweeps(plan: Plan, at: Wildcards) -> Job:
    """For all sweeps, compute the metrics that need only the ranks of an image's labels."""
    metrics = [name for name in plan.config.metrics if isinstance(load_metric(name), RankMetric)]
    inputs = {
        "sources": sources("vsebench.stages.measure_sweeps", *map(module_of_metric, plan.config.metrics)),
        "sweeps": sweep_files(plan, ".parquet"),
        "ranks": sweep_files(plan, "-ranks.parquet"),
    }
    return Job(inputs, options(metrics=metrics))


def time_methods(plan: Plan, at: Wildcards) -> Job:
    """Time a task's variants whose settings, epochs or member weights are chosen on validation labels."""
    variants, config, seeds = plan.timed_variants(at.task), plan.config, plan.timed_seeds(at.task)
    needs = needs_read(plan, variants, at.task)
    records = [
        model_file(at.task, variant, seed, name)
        for seed in seeds
        for variant in variants
        for name in ("run.json", "history.parquet")
    ]
    inputs = {
        "sources": sources("vsebench.stages.time", *method_modules(plan, variants)),
        "needs": need_files(plan, needs - {TEST_LABELS.key}, at.task, variants),  # test labels are part of the split
        "records": records,
        "split": split_files(at.task, seeds, FILES),
    }
    named = options(
        need_options(plan, needs, at.task, variants),
        feature_sets=feature_sets(plan, variants, at.task) or None,
        no_refit=not config.datasets[at.dataset].refit,
        seeds=as_json(seeds),
        variants={variant: plan.methods[variant].method for variant in variants},
        epochs=config.timing.epochs,
        to_best_epoch=config.timing.to_best_epoch,
    )
    return Job(inputs, named)


def feature_sets(plan: Plan, variants: list[str], task: Task) -> dict[str, list[str]]:
    """Map variants to the names of the sets of features that they use.

    A variant is left out if it uses no features, or if it uses all sets that the `variants` use together.
    """
    together = plan.sets_seen(variants, task)
    seen = {variant: plan.sets_seen([variant], task) for variant in variants}
    return {variant: list(files) for variant, files in seen.items() if files and files != together}


def scale(plan: Plan, at: Wildcards) -> Job:
    """Measure how time grows with the size of simulated data, for all variants that can be timed on such data."""
    variants, scaling = scaled_variants(plan), plan.config.scaling
    assert scaling is not None
    inputs = {
        "kernels": [f"results/kernels/{variant}.json" for variant in variants if plan.methods[variant].epochs],
        "sources": sources("vsebench.stages.scale", *method_modules(plan, variants)),
    }
    named = options(options=scaling.options, variants=variants, sizes=scaling.sizes, repeats=scaling.repeats)
    return Job(inputs, named)


def analyse(plan: Plan, at: Wildcards) -> Job:
    """Analyse the models that are named in tables, figures or claims of papers.

    `READS` in the module of the analysis lists the inputs.
    """
    reads, variants = load_analysis(at.analysis).READS, plan.variants_read(at.analysis)
    datasets = list(dict.fromkeys(variant.split("/")[0] for variant in variants))
    features = analysed_features(plan, variants) if reads.features else {}
    files = list(dict.fromkeys(file for paths in features.values() for file in paths))
    siblings = siblings_files(plan, datasets if reads.siblings else [])
    module = f"vsebench.evaluation.analyses.{at.analysis}"
    inputs = {
        "sources": sources("vsebench.stages.analyse", module, *map(module_of_metric, reads.metrics)),
        "models": [
            model_file(task, entry.variant, seed, file)
            for task, entry in map(entry_at_task, variants)
            for seed in plan.seeds(task, entry.variant)
            for file in (*reads.model, *(reads.decided if entry.decision else ()))
        ],
        "processed": [f"data/processed/{dataset}/{file}" for dataset in datasets for file in reads.dataset],
        # The table of images states which images have features.
        "features": [*files, *dict.fromkeys(str(Path(file).with_name("images.parquet")) for file in files)],
        "siblings": list(siblings.values()),
    }
    named = options(
        variants=variants,
        seeds=plan.config.seeds,
        own_seeds=plan.own_seeds(plan.tasks, plan.config.seeds) or None,
        with_siblings=list(siblings),
        features=features or None,
    )
    return Job(inputs, named)


def analysed_features(plan: Plan, variants: list[str]) -> dict[str, list[str]]:
    """Return the files with the features that models use, by model.

    The keys have the form data set/protocol/variant. The files are those of the tested data set. Models that use no
    features are left out.
    """
    features: dict[str, list[str]] = {}
    for task, entry in map(entry_at_task, variants):
        folder = f"data/processed/{task.dataset}"
        files = [f"{folder}/{name}" for name in plan.sets_seen([entry.variant], task).values()]
        features |= {f"{task}/{entry.variant}": files} if files else {}
    return features


def gather(plan: Plan, at: Wildcards) -> Job:
    """Combine the files of all data sets, tasks or models.

    The settings are combined with the titles of their variants.
    """
    inputs = {"sources": sources("vsebench.stages.gather"), "parts": parts(plan)[at.name]}
    if at.name == "datasets.json":
        shown = [f"data/processed/{dataset}/about.json" for dataset in plan.datasets]
        return Job(inputs | {"about": shown}, options(about=shown))
    if at.name == "settings.json":
        variants = {
            variant: {"title": method.title, "source": method.source}
            | ({"from_paper": True} if method.from_paper else {})
            for variant, method in plan.methods.items()
        }
        return Job(inputs, options(variants=variants, not_tuned=not_tuned(plan), data_read=data_read(plan) or None))
    return Job(inputs)


def parts(plan: Plan) -> dict[str, list[str]]:
    """Map each file of gathered results to the files that are combined in it; a file without parts is left out."""
    of_tasks = {"metrics": plan.tasks, "summary": plan.tasks, "by_frequency": plan.tasks}
    of_tasks |= {"cold": plan.cold_tasks, "timing": plan.timed_tasks}
    files = {
        f"{name}.parquet": [f"results/{task}/{name}.parquet" for task in tasks] for name, tasks in of_tasks.items()
    }
    if "timing.parquet" in files:
        of_commands = model_files(plan, "timing.parquet", tasks=plan.timed_tasks, variants=plan.commands)
        files["timing.parquet"] += of_commands
    files["history.parquet"] = model_files(plan, "history.parquet")
    files["settings.json"] = model_files(plan, "run.json")
    files["decisions.json"] = decisions_made(plan, plan.tasks, "decisions.json")
    files["datasets.json"] = [f"data/processed/{dataset}/summary.json" for dataset in plan.datasets]
    files["word_vectors.json"] = [f"data/processed/{dataset}/word_vectors.json" for dataset in plan.word_vectors]
    return {name: paths for name, paths in files.items() if paths}


def test_claims(plan: Plan, at: Wildcards) -> Job:
    """Test the papers' claims on the ranks and decisions of all models and on the files that some claims read."""
    read = claims_read(plan.papers)
    swept, scaled = bool(sweep_files(plan, "")), plan.config.scaling is not None
    related = siblings_files(plan, plan.siblings if "lists" in read else [])
    analyses = [f"results/{name}.parquet" for name in known_analyses() if name in read and plan.variants_read(name)]
    decided = ["results/decisions.json"] if "decisions" in plan.outline.files else []
    inputs = {
        "sources": sources("vsebench.stages.claims") + sources(*claim_modules(plan.papers)),
        "gathered": [f"results/{name}" for name in GATHERED_FOR_CLAIMS],
        "ranks": model_files(plan, "ranks.parquet"),
        "lists": model_files(plan, "lists.parquet") if related else [],
        "decisions": [*decisions_made(plan, plan.tasks), *decided],
        "siblings": list(related.values()),
        "sweeps": ["results/sweeps.parquet", *sweep_files(plan, "-ranks.parquet")] if swept else [],
        "scaling": ["results/scaling.parquet"] if scaled else [],
        "analyses": analyses,
    }
    named = options(
        variants=[f"{task}/{name}" for task in plan.tasks for name in [*plan.variants(task), *plan.decided(task)]],
        seeds=plan.config.seeds,
        own_seeds=plan.own_seeds(plan.tasks, plan.config.seeds) or None,
        outside=[name for name, variant in plan.outline.variants.items() if variant.pack or variant.role == "external"],
        decided=decided,
        bootstrap=plan.config.bootstrap,
        sweeps="results/sweeps.parquet" if swept else None,
        tuned_sweeps=[
            variant for variant in plan.config.sweeps if variant in plan.methods and sweep_grid_of(plan, variant)
        ],
        scaling="results/scaling.parquet" if scaled else None,
        analyses=analyses,
        siblings=related,
    )
    return Job(inputs, named, content=as_json([[paper.tested, paper.datasets] for paper in plan.papers]))


def table(plan: Plan, at: Wildcards) -> Job:
    """Make a table from the files that its kind reads and the printed numbers of its paper."""
    return drawn(plan, kinds.TableKind, plan.tables[at.name])


def figure(plan: Plan, at: Wildcards) -> Job:
    """Draw a figure from the files that its kind reads and the printed numbers of its paper."""
    return drawn(plan, kinds.FigureKind, plan.figures[at.name])


def drawn(plan: Plan, base: type[kinds.Kind], instance: kinds.Instance) -> Job:
    """Return the job that makes a table or figure.

    If the table or figure belongs to a paper, the `content` of the job consists of the paper's `facts`.
    """
    inputs = {
        "gathered": [f"results/{name}" for name in kinds.inputs(base, instance, plan.outline)],
        "sources": sources(*kinds.modules(base, instance)),
        "printed": kinds.printed_numbers(instance),
    }
    facts = {paper.name: paper.facts for paper in plan.papers}
    named = options(kind=instance.kind, parameters=dict(instance.parameters))
    return Job(inputs, named, content=as_json(facts.get(instance.paper or "", "")))


def pictures(plan: Plan) -> dict[str, dict[str, Any]]:
    """Map each data set that names a source of its pictures to this source."""
    shown = {name: dataset.shown_pictures for name, dataset in plan.datasets.items()}
    return {name: source.model_dump() for name, source in shown.items() if source is not None}
