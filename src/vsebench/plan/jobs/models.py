"""Jobs that fit models, rank labels by the models' scores, and choose label sets."""

from pathlib import Path

from vsebench.data.needs import FEATURES, TRUTH
from vsebench.evaluation.decisions.base import load_decision
from vsebench.evaluation.metrics.base import module_of_metric
from vsebench.evaluation.spread import METRICS, OF_SIBLINGS
from vsebench.formats.scores_file import companions
from vsebench.plan.jobs.base import (
    RESULTS,
    Job,
    Wildcards,
    as_json,
    features_provided,
    method_modules,
    model_file,
    need_files,
    need_options,
    needs_read,
    options,
    siblings_files,
    sources,
)
from vsebench.plan.plan import Plan
from vsebench.plan.settings import (
    beyond_edges,
    compiled_settings,
    epochs_of,
    grid_of,
    more_seeds,
    recorded_spread,
    seed_of_settings,
    starting_settings,
    sweep_grid_of,
    validation_metric,
)
from vsebench.protocols.base import load_protocol


def compile_kernels(plan: Plan, at: Wildcards) -> Job:
    """Compile the kernels that train a variant."""
    settings = as_json(compiled_settings(plan, at.variant))
    modules = sources(*method_modules(plan, [at.variant]))
    return Job({"sources": modules}, options(module=plan.methods[at.variant].method, settings=settings))


def fit(plan: Plan, at: Wildcards) -> Job:
    """Fit a model.

    The settings are given, or this job chooses them on the validation labels, or the fit of another seed chose them.
    """
    seed = seed_of_settings(plan, at.variant, at.task, at.case.seed)
    chosen = [] if seed == at.case.seed else [model_file(at.task, at.variant, seed, "run.json")]
    grid = grid_of(plan, at.variant)
    with_spread = bool(grid) and load_protocol(at.protocol).fixed
    of_siblings = with_spread and not chosen and plan.list_metrics
    siblings = siblings_files(plan, [at.dataset] if of_siblings else [])
    search = {
        "grid": grid,
        "beyond": beyond_edges(plan, at.variant) if grid else None,
        "more_seeds": more_seeds(plan, at.variant, at.task),
        "with_spread": with_spread,
        "siblings": siblings.get(at.dataset),
    }
    given = options(fit_options(plan, at), spread=recorded_spread(plan, at.variant, at.task) or None)
    return Job(
        fit_inputs(plan, at, "fit") | {"chosen": chosen, "siblings": list(siblings.values())},
        options(given, chosen=chosen) if chosen else options(given, **search),
    )


def sweep(plan: Plan, at: Wildcards) -> Job:
    """Fit models of a variant with different values of one setting.

    If the sweep is tuned, the other settings are chosen from a grid at each value.
    """
    named = options(
        fit_options(plan, at),
        parameter=at.parameter,
        values=as_json(plan.config.sweeps[at.variant][at.parameter]),
        grid=sweep_grid_of(plan, at.variant),
        beyond=beyond_edges(plan, at.variant, sweep=True),
    )
    return Job(fit_inputs(plan, at, "sweep"), named)


def fit_inputs(plan: Plan, at: Wildcards, stage: str) -> dict[str, list[str]]:
    """Return the inputs of a fit other than the split.

    The sources include those of the stage, of the method, and of the metrics that a search for settings computes.
    """
    measured = [validation_metric(plan, at.task), *METRICS, *OF_SIBLINGS]
    chosen_by = list(dict.fromkeys(map(module_of_metric, measured))) if plan.is_validated(at.variant) else []
    needs = needs_read(plan, [at.variant], at.task)
    return {
        "kernels": [f"results/kernels/{at.variant}.json"] if plan.methods[at.variant].epochs else [],
        "needs": need_files(plan, needs, at.task, [at.variant], str(at.case.split(RESULTS))),
        "members": members(plan, at),
        "scores": scores_files(plan, at),
        "command": [command_record(at)] if at.variant in plan.commands else [],
        "sources": sources(f"vsebench.stages.{stage}", *method_modules(plan, [at.variant]), *chosen_by),
    }


def fit_options(plan: Plan, at: Wildcards) -> str:
    """Return the options of a fit, which name input files and settings and say how settings and epochs are chosen."""
    epochs = epochs_of(plan, at.variant, at.dataset)
    own = options(
        need_options(plan, needs_read(plan, [at.variant], at.task), at.task, [at.variant]),
        command=command_record(at) if at.variant in plan.commands else None,
        members=members(plan, at),
        no_refit=not plan.config.datasets[at.dataset].refit,
        module=plan.methods[at.variant].method,
        settings=starting_settings(plan, at.variant, at.task, at.case.seed),
    )
    if not plan.is_validated(at.variant):
        return own
    return options(
        own,
        metric=validation_metric(plan, at.task),
        images=plan.config.validation_images,
        epochs=epochs and epochs.model_dump(),
    )


def scores_files(plan: Plan, at: Wildcards) -> list[str]:
    """Return the file of scores of a model that was not trained by this package, and the text files next to it.

    If a command trained the model, only the file of scores is returned, because the job that runs the command writes
    all these files together.
    """
    method = plan.methods[at.variant]
    if method.role != "external":
        return []
    file = plan.scores_file(at.variant, at.task, at.case.seed)
    return [file] if method.command is not None else [file, *map(str, companions(Path(file)))]


def command_record(at: Wildcards) -> str:
    """Return the path of the record of the command that trained a model."""
    return f"{at.case.folder(RESULTS)}/command.json"


def members(plan: Plan, at: Wildcards) -> list[str]:
    """Return the paths of the records (run.json) of an ensemble's members."""
    return [model_file(at.task, variant, at.case.seed, "run.json") for variant in plan.methods[at.variant].members]


def rank(plan: Plan, at: Wildcards) -> Job:
    """Rank the held-out labels by a model's scores.

    If the test images are new, the images are also ranked for each label. If the method uses only labels, the
    candidates of an image without training labels are ranked by their frequency.
    """
    needs, protocol = features_read(plan, at), load_protocol(at.protocol)
    inputs = {
        "sources": sources("vsebench.stages.rank", *method_modules(plan, [at.variant])),
        "features": need_files(plan, needs, at.task, [at.variant]),
    }
    features = need_options(plan, needs, at.task, [at.variant])
    if protocol.new_images:
        return Job(inputs, features)
    named = options(
        features,
        cold_by_frequency=plan.method_class(at.variant).knows_labels_alone() and protocol.leaves_cold,
        no_refit=not plan.config.datasets[at.dataset].refit,
    )
    return Job(inputs, named)


def features_read(plan: Plan, at: Wildcards) -> set[str]:
    """Return a set with the key of image features if the variant's model reads them, otherwise an empty set."""
    return {FEATURES.key} & needs_read(plan, [at.variant], at.task)


def decide(plan: Plan, at: Wildcards) -> Job:
    """Choose label sets by all decisions of a variant; decisions that need the label distribution read truth.npz."""
    decisions = {name: plan.decisions[name] for name in plan.decisions_of(at.variant, at.task)}
    kinds = [load_decision(decision.decision) for decision in decisions.values()]
    reads_distribution = any("label_distribution" in kind.needs for kind in kinds)
    needs = {TRUTH.key} | features_provided(plan, at.task) if reads_distribution else features_read(plan, at)
    inputs = {
        "sources": sources(
            "vsebench.stages.decide",
            *method_modules(plan, [at.variant]),
            *(kind.__module__ for kind in kinds),
            *(module_of_metric(decision.tuned_for) for decision in decisions.values() if decision.tuned_for),
        ),
        "needs": need_files(plan, needs, at.task, [at.variant]),
    }
    keys = {"decision", "settings", "tuned_for"}
    described = {name: decision.model_dump(include=keys) for name, decision in decisions.items()}
    return Job(inputs, options(need_options(plan, needs, at.task, [at.variant]), decisions=described))
