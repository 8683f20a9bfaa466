"""Jobs that fit models, rank labels by their scores, and choose label sets."""

from vsebench.data.needs import FEATURES, TRUTH
from vsebench.evaluation.decisions.base import load_decision
from vsebench.plan.jobs.base import (
    RESULTS,
    Job,
    Wildcards,
    as_json,
    features_provided,
    joined,
    method_modules,
    metric_module,
    model_file,
    need_files,
    need_options,
    needs_read,
    options,
    sources,
)
from vsebench.plan.plan import Plan
from vsebench.plan.settings import (
    beyond_edges,
    compiled_settings,
    epochs_of,
    grid_of,
    is_validated,
    seed_of_settings,
    starting_settings,
    validation_metric,
)
from vsebench.protocols.base import load_protocol


def compile_kernels(plan: Plan, at: Wildcards) -> Job:
    """The kernels that the models of a variant are trained with."""
    settings = as_json(compiled_settings(plan, at.variant))
    modules = sources(*method_modules(plan, [at.variant]))
    return Job({"sources": modules}, options(module=plan.methods[at.variant].method, settings=settings))


def fit(plan: Plan, at: Wildcards) -> Job:
    """A model: settings are chosen on the validation labels, or taken over from the seed that has chosen them."""
    seed = seed_of_settings(plan, at.variant, at.task, at.case.seed)
    chosen = [] if seed == at.case.seed else [model_file(at.task, at.variant, seed, "run.json")]
    grid = grid_of(plan, at.variant)
    tried = {"grid": grid, "beyond": beyond_edges(plan, at.variant) if grid else None}
    named = options(chosen=chosen) if chosen else options(**tried)
    return Job(fit_inputs(plan, at, "fit") | {"chosen": chosen}, joined(fit_options(plan, at), named))


def sweep(plan: Plan, at: Wildcards) -> Job:
    """Models of a variant with one setting varied; the others of its grid are tuned at each value."""
    values = plan.config.sweeps[at.variant][at.parameter]
    beyond = beyond_edges(plan, at.variant, sweep=True)
    named = options(parameter=at.parameter, values=as_json(values), grid=grid_of(plan, at.variant), beyond=beyond)
    return Job(fit_inputs(plan, at, "sweep"), joined(fit_options(plan, at), named))


def fit_inputs(plan: Plan, at: Wildcards, stage: str) -> dict[str, list[str]]:
    """Return what a fit reads besides the split: sources, the record of compiled kernels, what the method needs.

    The sources are those of the stage, of the method, and of the metric that settings are chosen by.
    """
    chosen_by = [metric_module(validation_metric(plan, at.task))] if is_validated(plan, at.variant) else []
    needs = needs_read(plan, [at.variant], at.task)
    return {
        "kernels": [f"results/kernels/{at.variant}.json"] if plan.methods[at.variant].epochs else [],
        "needs": need_files(plan, needs, at.task, str(at.case.split(RESULTS))),
        "members": members(plan, at),
        "sources": sources(f"stages.{stage}", *method_modules(plan, [at.variant]), *chosen_by),
    }


def fit_options(plan: Plan, at: Wildcards) -> str:
    """Return the options of a fit: what the method reads, its settings, and how settings and epochs are chosen."""
    epochs = epochs_of(plan, at.variant, at.dataset)
    own = options(
        members=members(plan, at),
        no_refit=not plan.config.datasets[at.dataset].refit,
        module=plan.methods[at.variant].method,
        settings=starting_settings(plan, at.variant, at.task, at.case.seed),
    )
    chosen_by = options(
        metric=validation_metric(plan, at.task),
        images=plan.config.validation_images,
        epochs=epochs and epochs.model_dump(),
    )
    needs = need_options(plan, needs_read(plan, [at.variant], at.task), at.task)
    return joined(needs, own, chosen_by if is_validated(plan, at.variant) else "")


def members(plan: Plan, at: Wildcards) -> list[str]:
    """Return the records of an ensemble's members: what they were fitted with."""
    return [model_file(at.task, variant, at.case.seed, "run.json") for variant in plan.methods[at.variant].members]


def rank(plan: Plan, at: Wildcards) -> Job:
    """The ranks of the held-out labels by a model; label ranks as well where test images are new.

    Images without a training label are ranked by frequency, if the variant's method knows images by labels alone.
    """
    needs, protocol = features_read(plan, at), load_protocol(at.protocol)
    own = options(
        cold_by_frequency=plan.method_class(at.variant).knows_labels_alone() and protocol.leaves_cold,
        no_refit=not plan.config.datasets[at.dataset].refit,
    )
    inputs = {
        "sources": sources("stages.rank", *method_modules(plan, [at.variant])),
        "features": need_files(plan, needs, at.task),
    }
    return Job(inputs, joined(need_options(plan, needs, at.task), "" if protocol.new_images else own))


def features_read(plan: Plan, at: Wildcards) -> set[str]:
    """Return the need of features if a variant's model reads them."""
    return {FEATURES.key} & needs_read(plan, [at.variant], at.task)


def decide(plan: Plan, at: Wildcards) -> Job:
    """The label sets that all decisions of a variant choose; with the label distribution they read the truth."""
    decisions = {name: plan.decisions[name] for name in plan.decisions_of(at.variant, at.task)}
    modules = [decision.decision for decision in decisions.values()]
    reads_distribution = any("label_distribution" in load_decision(module).needs for module in modules)
    needs = {TRUTH.key} | features_provided(plan, at.task) if reads_distribution else features_read(plan, at)
    inputs = {
        "sources": sources(
            "stages.decide",
            *method_modules(plan, [at.variant]),
            *(f"evaluation.decisions.{module}" for module in modules),
            *(metric_module(decision.tuned_for) for decision in decisions.values() if decision.tuned_for),
        ),
        "needs": need_files(plan, needs, at.task),
    }
    keys = {"decision", "settings", "tuned_for"}
    described = {name: decision.model_dump(include=keys) for name, decision in decisions.items()}
    return Job(inputs, joined(need_options(plan, needs, at.task), options(decisions=described)))
