"""What the models of a row are fitted with: settings, epochs, and how both are chosen on the validation labels.

A row is a method with its settings: one file in `config/methods`.
"""

from typing import Any

from vsebench.config.dataset import DatasetConfig
from vsebench.config.method import ChosenSettings, Epochs, Search
from vsebench.core.tasks import Task
from vsebench.core.yaml_files import check
from vsebench.formats.adapters import load_adapter
from vsebench.methods.base import Ensemble, with_factors
from vsebench.plan.files import read_named
from vsebench.plan.plan import Plan
from vsebench.protocols.base import load_protocol


def is_validated(plan: Plan, row: str) -> bool:
    """Return whether something is chosen for a row on validation labels: epochs, settings of a grid, or weights."""
    method = plan.methods[row]
    return bool(method.epochs or method.grid or method.members)


def timed_rows(plan: Plan, task: Task) -> list[str]:
    """Return the rows that are timed: those for which something is chosen."""
    return [row for row in plan.rows(task) if is_validated(plan, row)]


def validation_metric(plan: Plan, task: Task) -> str:
    """Return the metric that settings and epochs are chosen by."""
    return plan.config.validation_metric or load_protocol(task.protocol).validation_metric


def epochs_of(plan: Plan, row: str, dataset: str) -> Epochs | None:
    """Return when a row's training stops on a data set; None if the row is not trained by epochs."""
    return plan.config.datasets[dataset].epochs.get(row) or plan.methods[row].epochs


def settings_of(plan: Plan, row: str, dataset: str) -> dict[str, Any]:
    """Return a row's settings on a data set, before tuning."""
    return settings_on(plan, row, plan.datasets[dataset])


def settings_on(plan: Plan, row: str, dataset: DatasetConfig) -> dict[str, Any]:
    """Return a row's settings, with the data set's normalisation and the run's factors where they name none."""
    method, module = plan.methods[row], plan.method_class(row)
    settings = method.settings | method.family_settings.get(dataset.family, {})
    if "normalise" in module.settings_type.model_fields and settings.get("normalise") is None:
        settings = settings | {"normalise": dataset.normalise}
    return with_factors(module, settings, plan.config.factors)


def compiled_settings(plan: Plan, row: str) -> dict[str, Any]:
    """Return the settings that a row's kernels are compiled with; no family's, as these compile the same."""
    return with_factors(plan.method_class(row), plan.methods[row].settings, plan.config.factors)


def starting_settings(plan: Plan, row: str, task: Task, seed: int) -> dict[str, Any]:
    """Return the settings that a row is fitted with at a task, or that its grid varies where the run tunes.

    Where a search is recorded, they are those that it chose with the seed's split, or with its first one.
    """
    search = recorded_search(plan, row, task)
    if search is None:
        return settings_of(plan, row, task.dataset)
    return search.seeds.get(seed, next(iter(search.seeds.values())))


def recorded_search(plan: Plan, row: str, task: Task) -> Search | None:
    """Return the recorded search for a row's settings at a task; None where the run tunes, or if there is none.

    One of other data, by another metric, or with other settings where its grid has no values, does not count.
    """
    chosen = plan.chosen.get(task.dataset)
    if plan.config.tune or chosen is None or not _is_of_data(chosen, plan.datasets[task.dataset]):
        return None
    at_task = chosen.protocols.get(task.protocol)
    if at_task is None or at_task.validation_metric != validation_metric(plan, task):
        return None
    search, own = at_task.rows.get(row), settings_of(plan, row, task.dataset)
    if search is None or not all(_is_of_grid(settings, own, search.grid) for settings in search.seeds.values()):
        return None
    return search


def _is_of_data(chosen: ChosenSettings, dataset: DatasetConfig) -> bool:
    """Return whether settings were chosen on a data set with the same options and filters."""
    options = check(load_adapter(dataset.adapter, dataset.title).Options, dataset.options, dataset.title)
    return chosen.options == options.model_dump(mode="json") and chosen.vocabulary == dataset.vocabulary


def _is_of_grid(settings: dict[str, Any], own: dict[str, Any], grid: dict[str, list[Any]]) -> bool:
    """Return whether settings are a row's own, with values of its grid."""
    allowed = {key: grid.get(key, [value]) for key, value in own.items()}
    return settings.keys() == allowed.keys() and all(value in allowed[key] for key, value in settings.items())


def not_tuned(plan: Plan) -> dict[str, int]:
    """Return where a run that does not tune has its settings from, for the rows that have a grid.

    The keys are dataset/protocol/row, the values the configurations of the recorded search, or 0 without one.
    """
    if plan.config.tune:
        return {}
    tasks = [(task, row) for task in plan.tasks for row in plan.rows(task) if plan.methods[row].grid]
    searches = {f"{task}/{row}": recorded_search(plan, row, task) for task, row in tasks}
    return {name: 0 if search is None else search.configurations for name, search in searches.items()}


def grid_of(plan: Plan, row: str) -> dict[str, list[Any]]:
    """Return the grid that is tried on the validation labels; it is empty if the run does not tune."""
    return plan.methods[row].grid if plan.config.tune else {}


def beyond_edges(plan: Plan, row: str, sweep: bool = False) -> int:
    """Return how many configurations are tried beyond the edges of a row's grid, or that at a value of a sweep."""
    if plan.methods[row].stays_in_grid:
        return 0
    own = plan.config.sweeps_beyond_edges if sweep else None
    return plan.config.tuning_beyond_edges if own is None else own


def seed_of_settings(plan: Plan, row: str, task: Task, seed: int) -> int:
    """Return the seed that chooses the settings of a row: its own, or the first where all have the same split."""
    first = plan.config.seeds[0]
    return first if grid_of(plan, row) and load_protocol(task.protocol).fixed else seed


def scaled_rows(plan: Plan) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return module and settings of the rows whose growth is measured on the data set of `scaling`.

    The stage sets the number of factors where they are varied. The growth of an epoch's time is measured on labels
    alone, that of the time to score an image on features.
    """
    scaling = plan.config.scaling
    if scaling is None:
        return {}
    dataset = read_named(DatasetConfig, plan.folder / "datasets", scaling.dataset, "scaling")
    is_measured = _is_scored if "terms" in scaling.sizes else _is_trained_on_labels
    return {
        row: (method.method, settings_on(plan, row, dataset))
        for row, method in plan.methods.items()
        if is_measured(plan, row) and (scaling.methods is None or row in scaling.methods)
    }


def _is_trained_on_labels(plan: Plan, row: str) -> bool:
    """Return whether a row has epochs and factors, and needs neither image features nor word vectors."""
    module = plan.method_class(row)
    has_factors = "factors" in module.settings_type.model_fields
    return plan.methods[row].epochs is not None and has_factors and not module.needs & {"features", "words"}


def _is_scored(plan: Plan, row: str) -> bool:
    """Return whether a row scores images by their features alone."""
    module = plan.method_class(row)
    return module.needs == {"features"} and not issubclass(module, Ensemble)
