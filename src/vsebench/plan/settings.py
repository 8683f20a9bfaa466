"""The settings and epochs of variants, and how they are chosen on the validation labels.

A variant is a method with its settings: one file in `config/methods`.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from vsebench.config.dataset import DatasetConfig
from vsebench.config.method import ChosenSettings, Epochs, RecordedSearch
from vsebench.core.tasks import Task
from vsebench.core.yaml_files import check
from vsebench.data.needs import FEATURES, TRUTH, WORD_VECTORS
from vsebench.formats.adapters import load_adapter
from vsebench.methods.base import Ensemble, with_factors
from vsebench.plan.files import read_named
from vsebench.plan.plan import Plan
from vsebench.protocols.base import load_protocol


def validation_metric(plan: Plan, task: Task) -> str:
    """Return the metric by which settings and epochs are chosen."""
    return plan.config.validation_metric or load_protocol(task.protocol).validation_metric


def epochs_of(plan: Plan, variant: str, dataset: str) -> Epochs | None:
    """Return the limits on a variant's epochs on a data set; None if the variant is not trained in epochs."""
    own, on_dataset = plan.methods[variant].epochs, plan.config.datasets[dataset].epochs
    return own and on_dataset.get(variant, on_dataset.get("default", own))


def settings_of(plan: Plan, variant: str, dataset: str) -> dict[str, Any]:
    """Return a variant's settings on a data set, before tuning."""
    config = plan.datasets[dataset]
    named = plan.sets_named(variant, dataset)
    return settings_on(plan, variant, config, [name for name in config.sets if named is None or name in named])


def settings_on(plan: Plan, variant: str, dataset: DatasetConfig, sets: list[str]) -> dict[str, Any]:
    """Return a variant's settings on a data set, before tuning.

    If the variant does not set `normalise`, the steps that the data set has for its sets of features `sets` are used.
    If the variant does not set `factors`, the number in the run's file is used.
    """
    method, module = plan.methods[variant], plan.method_class(variant)
    settings = method.settings | method.family_settings.get(dataset.family, {})
    if "normalise" in module.settings_type.model_fields:
        settings = settings | {"normalise": dataset.steps(sets, settings.get("normalise"))}
    return with_factors(module, settings, plan.config.factors)


def compiled_settings(plan: Plan, variant: str) -> dict[str, Any]:
    """Return the settings for compiling kernels, without family_settings, which do not affect kernels."""
    return with_factors(plan.method_class(variant), plan.methods[variant].settings, plan.config.factors)


def starting_settings(plan: Plan, variant: str, task: Task, seed: int) -> dict[str, Any]:
    """Return a variant's settings on a task before tuning; a run that does not tune uses them unchanged.

    If a search is recorded, these are the settings that it chose for this seed or, if the record lacks this seed, for
    the first seed of the record.
    """
    if plan.methods[variant].role == "external":
        return {"file": plan.scores_file(variant, task, seed)}
    search = recorded_search(plan, variant, task)
    if search is None:
        return settings_of(plan, variant, task.dataset)
    return search.seeds[search.source_of(seed)]


def recorded_search(plan: Plan, variant: str, task: Task) -> RecordedSearch | None:
    """Return the recorded search for a variant's settings on a task; None if there is none that the run can use.

    A run that tunes the variant uses no record. A record is also ignored if its data or validation metric differ from
    those of the run (see `data_checksum`), or if a setting outside its grid now has another value than in the record.
    """
    chosen = plan.chosen.get(task.dataset)
    if plan.config.tunes(variant) or chosen is None or not _is_of_data(chosen, plan.datasets[task.dataset]):
        return None
    at_task = chosen.protocols.get(task.protocol)
    if at_task is None or at_task.validation_metric != validation_metric(plan, task):
        return None
    search, own = at_task.variants.get(variant), settings_of(plan, variant, task.dataset)
    if search is None or not all(_is_of_grid(settings, own, search.grid) for settings in search.seeds.values()):
        return None
    return search if search.data == data_checksum(plan, variant, task) else None


def data_checksum(plan: Plan, variant: str, task: Task) -> str:
    """Return a checksum of how the data that a variant reads on a task are configured.

    It covers the features that the variant reads, the word vectors that the variant or the split reads, the partition
    and the list of unseen labels if the split reads them, and the data set on which the variant is trained if it is not
    the tested one. Files count by their names. The options and the vocabulary of the tested data set are not covered,
    because a record states them. The checksum is "" if nothing else is configured.
    """
    tested, needs, rules = plan.datasets[task.dataset], plan.method_class(variant).needs, load_protocol(task.protocol)
    parts: dict[str, Any] = {}
    if needs & {FEATURES.key, TRUTH.key}:
        parts["features"] = _features_configured(plan, variant, task, tested)
    if (WORD_VECTORS.key in needs or rules.unseen) and task.dataset in plan.word_vectors:
        source = plan.word_vectors[task.dataset]
        parts["word_vectors"] = source.definition() | {"files": [file.name for file in source.files]}
    named = plan.config.datasets[task.dataset].unseen_labels
    if named is not None and task.protocol in plan.drawing_unseen(task.dataset):
        parts["unseen_labels"] = sha256(Path(named).read_bytes()).hexdigest()
    if tested.partition is not None and (rules.fixed or rules.unseen or tested.vocabulary.only_parts):
        parts["partition"] = tested.partition.files
    for other in plan.sources(task)[1:]:
        kind = load_adapter(other.adapter, other.title).Options
        parts["trained_on"] = {
            "options": check(kind, other.options, other.title).model_dump(mode="json", exclude_defaults=True),
            "vocabulary": other.vocabulary.model_dump(mode="json", exclude_defaults=True),
            "features": _features_configured(plan, variant, task, other) if "features" in parts else {},
        }
    configured = {name: part for name, part in parts.items() if part}
    return sha256(json.dumps(configured, sort_keys=True).encode()).hexdigest()[:16] if configured else ""


def _features_configured(plan: Plan, variant: str, task: Task, dataset: DatasetConfig) -> dict[str, Any]:
    """Return the keys of the sets of features that a variant reads on a task, for one of the task's data sets.

    The result is empty if the adapter reads the features: the options of the data set state which.
    """
    names = plan.sets_seen([variant], task) if dataset.features is not None else {}
    sets = {name: dataset.sets[name].model_dump(mode="json", exclude_defaults=True) for name in names}
    return {name: keys for name, keys in sets.items() if keys}


def _is_of_data(chosen: ChosenSettings, dataset: DatasetConfig) -> bool:
    """Return whether settings were chosen on data with the options and filters of this data set.

    An option that is missing in the record counts as set to its default.
    """
    kind = load_adapter(dataset.adapter, dataset.title).Options
    recorded, own = (check(kind, options, dataset.title) for options in (chosen.options, dataset.options))
    return bool(recorded == own) and chosen.vocabulary == dataset.vocabulary


def _is_of_grid(settings: dict[str, Any], own: dict[str, Any], grid: dict[str, list[Any]]) -> bool:
    """Return whether a search of `grid` could choose these settings.

    A setting that is in `grid` must have one of the values there. Any other setting must have its value in `own`, which
    contains the settings of the variant before tuning.
    """
    allowed = {key: grid.get(key, [value]) for key, value in own.items()}
    return settings.keys() == allowed.keys() and all(value in allowed[key] for key, value in settings.items())


def more_seeds(plan: Plan, variant: str, task: Task) -> list[int]:
    """Return the seeds, besides the first one, on which a variant's settings are chosen.

    The chosen settings have the best mean validation value over the first seed and these seeds. The list is empty
    unless the run tunes the variant, its model depends on the seed, and all seeds have the same split.
    """
    depends_on_seed = plan.methods[variant].epochs or plan.method_class(variant).is_random
    if not grid_of(plan, variant) or not load_protocol(task.protocol).fixed or not depends_on_seed:
        return []
    return plan.seeds(task, variant)[1 : plan.config.tuning_seeds]


def recorded_spread(plan: Plan, variant: str, task: Task) -> dict[str, float | None]:
    """Map metrics to their relative standard deviations due to the recorded choice of a variant's settings.

    The result is empty without a recorded search, or if the seeds of the task have different splits.
    """
    search = recorded_search(plan, variant, task)
    return {} if search is None or not load_protocol(task.protocol).fixed else search.spread


def not_tuned(plan: Plan) -> dict[str, dict[str, Any]]:
    """Describe the recorded searches for variants that have a grid but are not tuned by the run.

    The result maps dataset/protocol/variant to a mapping with the keys `configurations` (the number of configurations
    that were tried), `seeds` and `grid`. Without a record, this number is 0, and the seeds and the grid are empty. If
    seeds of the run have settings at the edge of the range that their search tried, `on_edges` maps these seeds to the
    names of the settings. If the record contains the configurations that were tried, `tries` lists them.
    """
    untuned = {variant for variant, method in plan.methods.items() if method.grid and not plan.config.tunes(variant)}
    tasks = [(task, variant) for task in plan.tasks for variant in plan.variants(task) if variant in untuned]
    searches = {f"{task}/{variant}": recorded_search(plan, variant, task) for task, variant in tasks}
    nothing: dict[str, Any] = {"configurations": 0, "seeds": [], "grid": {}}
    return {
        name: nothing
        if search is None
        else {
            "configurations": search.configurations,
            "seeds": search.searched_seeds,
            "grid": search.grid,
        }
        | _edges(search, plan.seeds(task, variant))
        | _tries(search)
        for (name, search), (task, variant) in zip(searches.items(), tasks, strict=True)
    }


def _edges(search: RecordedSearch, seeds: Sequence[int]) -> dict[str, Any]:
    found = {seed: search.on_edges.get(search.source_of(seed), []) for seed in seeds}
    edges = {str(seed): names for seed, names in found.items() if names}  # as JSON, whose keys are texts
    return {"on_edges": edges} if edges else {}


def _tries(search: RecordedSearch) -> dict[str, Any]:
    """Return the configurations that a search tried, each with all its settings, as in a run.json."""
    chosen = next(iter(search.seeds.values()))
    tries = [
        {"settings": chosen | tried.settings, "epochs_by_seed": tried.epochs, "at_limit": tried.at_limit}
        for tried in search.tries
    ]
    return {"tries": tries} if tries else {}


def data_read(plan: Plan) -> dict[str, str]:
    """Map dataset/protocol/variant to `data_checksum`, for variants that the run tunes."""
    tasks = [(task, variant) for task in plan.tasks for variant in plan.variants(task) if grid_of(plan, variant)]
    checksums = {f"{task}/{variant}": data_checksum(plan, variant, task) for task, variant in tasks}
    return {name: checksum for name, checksum in checksums.items() if checksum}


def grid_of(plan: Plan, variant: str) -> dict[str, list[Any]]:
    """Return a variant's grid; empty if the run does not tune the variant."""
    return plan.methods[variant].grid if plan.config.tunes(variant) else {}


def sweep_grid_of(plan: Plan, variant: str) -> dict[str, list[Any]]:
    """Return the grid that is searched at each value of a variant's sweeps; empty if its sweeps are not tuned."""
    return plan.config.sweep_grids.get(variant) or grid_of(plan, variant)


def beyond_edges(plan: Plan, variant: str, sweep: bool = False) -> int:
    """Return the maximum number of configurations to try beyond the edges of a variant's grid.

    With sweep=True, this is the number for each value of a sweep.
    """
    if plan.methods[variant].stays_in_grid:
        return 0
    own = plan.config.sweeps_beyond_edges if sweep else None
    return plan.config.tuning_beyond_edges if own is None else own


def seed_of_settings(plan: Plan, variant: str, task: Task, seed: int) -> int:
    """Return the seed whose fit chooses a variant's settings.

    This is the first seed if the variant is tuned and all seeds have the same split, otherwise `seed`.
    """
    first = plan.seeds(task, variant)[0]
    return first if grid_of(plan, variant) and load_protocol(task.protocol).fixed else seed


def scaled_variants(plan: Plan) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the name of the method and the settings of each variant that is timed on the data set of `scaling`.

    On data of the adapter `simulator`, the time of an epoch is measured, for methods that need only labels. On data of
    `simulated_tree`, the time to score an image is measured, for methods that need only features. If the run varies the
    number of factors, the stage `scale` sets this number.
    """
    scaling = plan.config.scaling
    if scaling is None:
        return {}
    dataset = read_named(DatasetConfig, plan.folder / "datasets", scaling.dataset, "scaling")
    is_measured = _is_scored if "terms" in scaling.sizes else _is_trained_on_labels
    return {
        variant: (method.method, settings_on(plan, variant, dataset, list(dataset.sets)))
        for variant, method in plan.methods.items()
        if is_measured(plan, variant) and (scaling.methods is None or variant in scaling.methods)
    }


def _is_trained_on_labels(plan: Plan, variant: str) -> bool:
    """Return whether a variant has epochs and factors, but needs neither image features nor word vectors."""
    module = plan.method_class(variant)
    has_factors = "factors" in module.settings_type.model_fields
    return plan.methods[variant].epochs is not None and has_factors and not module.needs & {"features", "word_vectors"}


def _is_scored(plan: Plan, variant: str) -> bool:
    """Return whether a variant scores images by their features alone."""
    module = plan.method_class(variant)
    return module.needs == {"features"} and not issubclass(module, Ensemble)
