"""Choose settings and epochs of any method on the validation labels; the main function is `select`."""

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from tqdm import tqdm

from vsebench.config.method import Epochs
from vsebench.core.errors import UserError
from vsebench.core.tasks import Case
from vsebench.data.problem import Problem, Split
from vsebench.evaluation.ranking import score_deviation
from vsebench.evaluation.spread import METRICS as SPREAD_METRICS
from vsebench.evaluation.spread import spread_of_choice
from vsebench.methods.base import Ensemble, EnsembleSettings, Fitter, Settings
from vsebench.models import Model
from vsebench.training import Attempt, DivergenceError, Trained, Validation, attempt, history, open_validation, refit

WEIGHT_STEPS = 10  # number of steps from 0 to 1 in an ensemble's weights
# Size of the step, relative to a value (absolute if it is 0), that tests whether a method allows values beyond it.
SMALL_STEP = 1e-6
RATIO_NEXT_TO_ZERO = 2  # ratio of a value beyond the grid to the outermost value, if the next inner value is 0
HALVINGS = 3  # maximum number of times that a step beyond the grid is halved to reach a value that is allowed


@dataclass(frozen=True)
class Search:
    """A search for settings and epochs: what to try, and how to measure an attempt.

    Attributes
    ----------
    metric : validation metric
    images : maximum number of validation images
    limits : the limits on epochs; None for a method without epochs
    grid : the values to try for each setting; all combinations are tried
    beyond : maximum number of further attempts, with values beyond the grid or with more epochs than the limit
    more_seeds : further seeds; the value of an attempt is the mean over the problem's seed and these seeds
    with_spread : whether to estimate how much metrics vary due to the choice of settings (see `evaluation.spread`)
    siblings : the table `schemas.SIBLINGS`, to estimate this for sibling precisions, too
    """

    metric: str
    images: int
    limits: Epochs | None = None
    grid: dict[str, list[Any]] = field(default_factory=dict)
    beyond: int = 0
    more_seeds: tuple[int, ...] = ()
    with_spread: bool = False
    siblings: pl.DataFrame | None = None


@dataclass(frozen=True)
class Selection:
    """The chosen settings and epochs, and the model that was fitted with them.

    Attributes
    ----------
    chosen : the best attempt
    tries : the best attempt with each set of settings tried (an attempt can be repeated with more epochs); empty
        without a search
    history : one row for each epoch of the best attempt and of the final fit, with the columns of `schemas.HISTORY`
    model : the model to test
    spread : the relative standard deviation of each metric due to the choice of settings (None: not known); empty if
        not estimated
    """

    chosen: Attempt
    tries: list[Attempt]
    history: pl.DataFrame
    model: Model
    spread: dict[str, float | None] = field(default_factory=dict)


def select(
    method: type[Fitter], settings: Settings, problem: Problem, split: Split, search: Search | None, case: Case
) -> Selection:
    """Choose settings and epochs on the validation labels, and fit the model to test.

    First, all combinations of the grid are tried. They are followed by at most `search.beyond` further attempts. Values
    beyond the grid are tried as long as the best value of a setting is the smallest or the largest value tried. Then
    the best attempt is repeated with more epochs as long as it stopped at its limit on epochs.

    An attempt trains until the validation metric stops increasing or the limit on epochs is reached. Its value is the
    metric after its best epoch. The best attempt is the first one with the highest value. Finally, the method is fitted
    to the training and validation labels with the settings and epochs of the best attempt. If the model to test must
    not learn the validation labels, there is no final fit, and the model of the best epoch is kept.

    Parameters
    ----------
    settings : settings of the method; values of the grid replace some of them
    problem : seed, features and other inputs of the method; labels are taken from the split
    search : if None, nothing is chosen, and the method is fitted with `settings`
    case : the case to name in the history and in messages

    Raises a `DivergenceError` if training diverged in every attempt, or in the final fit.
    """
    first, final = replace(problem, training=split.first), replace(problem, training=split.final)
    if search is None:
        chosen = Attempt(settings, None, None)
        chosen, refitted, model = refit(method, chosen, final, case)
        return Selection(chosen, [], refitted, model)
    validation = open_validation(first, split.valid, search.metric, search.images)
    if search.with_spread:
        further = tuple(name for name in SPREAD_METRICS if name != search.metric)
        validation = replace(validation, further=further, siblings=search.siblings)
    tries: list[Attempt] = []
    if issubclass(method, Ensemble):
        attempts: Iterator[Trained] = weigh(method, settings, validation, case)
    else:
        attempts = attempts_of(method, settings, validation, search, tries, case)
    kept, selected = None, history([], case, "selection")
    for tried, epochs, model_of_attempt in tqdm(attempts, desc=str(case), mininterval=5, disable=not search.grid):
        keep(tried, tries)
        if best_of(tries) is tried:
            kept, selected = model_of_attempt, epochs
    best = best_of(tries)
    if best is None or kept is None:
        raise DivergenceError(
            f"{case}: training diverged with all settings tried, such as {json.dumps(tries[0].settings.given())}; "
            "lower learning_rate or increase regularisation in the method's settings"
        )
    spread = spread_of_tries(tries, best, validation)
    if split.final is split.first:
        return Selection(best, tries, selected, kept, spread)
    del kept, model_of_attempt  # the final fit may need their memory
    best, refitted, model = refit(method, best, final, case)
    return Selection(best, tries, pl.concat([selected, refitted]), model, spread)


def keep(tried: Attempt, tries: list[Attempt]) -> None:
    """Add an attempt to `tries`.

    If an earlier attempt has the same settings, only the better one of the two is kept, or the new one if their values
    are equal.
    """
    for n, earlier in enumerate(tries):
        if earlier.settings == tried.settings:
            if tried.value is not None and (earlier.value is None or tried.value >= earlier.value):
                tries[n] = tried
            return
    tries.append(tried)


def best_of(tries: list[Attempt]) -> Attempt | None:
    """Return the first attempt with the highest validation value; None if all diverged."""
    finite = [tried for tried in tries if tried.value is not None]
    return max(finite, key=lambda tried: tried.value or 0.0, default=None)


def spread_of_tries(tries: list[Attempt], best: Attempt, validation: Validation) -> dict[str, float | None]:
    """Return the spread of each metric that is due to the choice among the attempts (see `evaluation.spread`).

    The result is empty if the metrics of the attempts were not measured for each image.
    """
    measured = [(tried.by_image, tried is best) for tried in tries if tried.by_image is not None]
    if not measured:
        return {}
    configurations, are_best = zip(*measured, strict=True)
    return spread_of_choice(configurations, validation.metrics_by_image, are_best.index(True))


def attempts_of(
    method: type[Fitter], settings: Settings, validation: Validation, search: Search, tries: list[Attempt], case: Case
) -> Iterator[Trained]:
    """Yield attempts with the settings of the grid, and then with settings beyond its edges.

    After these, the best attempt is repeated with twice its limit on epochs, as long as it stopped at this limit. The
    caller must add each attempt to `tries` with `keep`, because the next attempt depends on the earlier ones.
    """
    for candidate in settings_to_try(settings, search, tries, case):
        yield attempt_of_seeds(method, candidate, validation, search.limits, search.more_seeds, case)
    limits, n_of_grid = search.limits, math.prod(map(len, search.grid.values()))
    for _ in range(n_of_grid + search.beyond - len(tries)):
        best = best_of(tries)
        if best is None or limits is None or not best.at_limit or best.limit != limits.maximum:
            return
        limits = Epochs(maximum=2 * limits.maximum, patience=limits.patience)
        yield attempt_of_seeds(method, best.settings, validation, limits, search.more_seeds, case)


def attempt_of_seeds(
    method: type[Fitter],
    settings: Settings,
    validation: Validation,
    limits: Epochs | None,
    more_seeds: Iterable[int],
    case: Case,
) -> Trained:
    """Fit with the problem's seed and with each of `more_seeds`, and return these fits as one attempt.

    The value of the attempt is the mean over the seeds, or None if a fit diverged. The history and the model are those
    of the problem's seed.
    """
    tried, epochs, model = attempt(method, settings, validation, limits, case)
    seeds = [tried]
    for seed in more_seeds:
        of_seed = replace(validation, problem=replace(validation.problem, seed=seed))
        again, _, _ = attempt(method, settings, of_seed, limits, case)
        seeds.append(again)
    finite = [each.value for each in seeds if each.value is not None]
    value = sum(finite) / len(finite) if len(finite) == len(seeds) else None
    by_seed = tuple(each.epochs for each in seeds) if len(seeds) > 1 and limits is not None else ()
    at_limit = any(each.at_limit for each in seeds)
    measured = [each.by_image for each in seeds if each.by_image is not None]
    by_image = np.concatenate(measured) if len(measured) == len(seeds) else None
    tried = replace(tried, value=value, at_limit=at_limit, epochs_by_seed=by_seed, by_image=by_image)
    return tried, epochs, model


def settings_to_try(settings: Settings, search: Search, tries: list[Attempt], case: Case) -> Iterator[Settings]:
    """Yield the settings of the grid, and then settings beyond its edges.

    The caller must add each attempt to `tries`, because the settings beyond the edges depend on the best attempt.
    """
    for values in itertools.product(*search.grid.values()):
        changes = dict(zip(search.grid, values, strict=True))
        yield settings.changed(changes, settings_key(case)) if changes else settings
    for _ in range(search.beyond):
        best = best_of(tries)
        further = None if best is None else beyond(search.grid, best.settings, [tried.settings for tried in tries])
        if further is None:
            return
        yield further


def settings_key(case: Case) -> str:
    """Return the file and key of a method's settings, for error messages."""
    return f"config/methods/{case.variant}.yaml: settings"


def beyond(names: Iterable[str], best: Settings, tried: list[Settings]) -> Settings | None:
    """Return the best settings, with one setting moved a step beyond the values tried.

    The setting is the first one that `on_edges` returns and for which a step is possible. The step multiplies its
    outermost value by the ratio of this value to the next one, or by 2 if the next one is 0. If the method does not
    allow the new value, the step is halved, at most `HALVINGS` times: a dropout of 0.5 becomes 0.75 instead of 1. No
    step crosses 0. Return None if no step is possible.
    """
    for name in on_edges(names, best, tried):
        done = sorted({getattr(settings, name) for settings in tried})
        last, inner = (done[-1], done[-2]) if getattr(best, name) == done[-1] else (done[0], done[1])
        if last <= 0 or inner < 0:
            continue
        whole = last * (last / inner if inner else RATIO_NEXT_TO_ZERO) - last
        values = [float(f"{last + whole / 2**halving:.6g}") for halving in range(HALVINGS + 1)]
        further = with_first_allowed(best, name, values)
        if further is not None and further not in tried:
            return further
    return None


def on_edges(names: Iterable[str], best: Settings, tried: list[Settings]) -> list[str]:
    """Return the names of numeric settings whose best value is the smallest or largest of at least two values tried.

    A setting is left out if the method allows no value beyond its best value. An example is a dropout of 0.
    """
    numbers = [name for name in names if is_number(getattr(best, name))]
    values = {name: {getattr(settings, name) for settings in tried} for name in numbers}
    several = [name for name in numbers if len(values[name]) > 1]
    return [name for name in several if is_outermost(name, best, values[name])]


def is_outermost(name: str, best: Settings, values: set[Any]) -> bool:
    """Return whether the best value is the smallest or largest of `values`, and the method allows values beyond it."""
    value = getattr(best, name)
    step = 1 if isinstance(value, int) else SMALL_STEP * (abs(value) or 1.0)
    sides = [(min(values), value - step), (max(values), value + step)]
    return any(value == outermost and is_allowed(name, best, further) for outermost, further in sides)


def is_allowed(name: str, settings: Settings, value: float) -> bool:
    """Return whether the method allows this value of a setting."""
    return with_first_allowed(settings, name, [value]) is not None


def with_first_allowed(settings: Settings, name: str, values: Iterable[float]) -> Settings | None:
    """Return the settings with `name` set to the first of `values` that the method allows, or None if there is none.

    If the setting is a whole number, the values are rounded.
    """
    for value in values:
        rounded = round(value) if isinstance(getattr(settings, name), int) else value
        try:
            return settings.changed({name: rounded}, name)
        except UserError:
            continue
    return None


def union(grids: Iterable[Mapping[str, list[Any]]]) -> dict[str, list[Any]]:
    """Return, for each setting, the values that occur in any of the grids.

    If all values of a setting are numbers, they are sorted.
    """
    values: dict[str, list[Any]] = {}
    for name, given in (item for grid in grids for item in grid.items()):
        known = values.setdefault(name, [])
        known += [value for value in given if value not in known]
    return {name: sorted(known) if all(map(is_number, known)) else known for name, known in values.items()}


def is_number(value: object) -> bool:
    """Return whether the value of a setting is a number, and not true or false."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def weigh(method: type[Ensemble], settings: Settings, validation: Validation, case: Case) -> Iterator[Trained]:
    """Train the members without the validation images, and yield their ensemble with each combination of weights.

    The weights add up to 1, in steps of 1 / `WEIGHT_STEPS`. Combinations with a larger first weight come first.
    """
    assert isinstance(settings, EnsembleSettings)
    models = method(validation.problem, settings).models()
    problem, held_out = validation.problem, validation.held_out
    deviations = [score_deviation(model, held_out, problem.features) for model in models]
    for member, model, deviation in zip(settings.members, models, deviations, strict=True):
        if not model.has_finite_scores() or not deviation > 0:
            what = f"the scores of {member.variant} are all equal or not finite"
            raise UserError(f"{case}: {what}; name another variant under `members`")
    for weights in weights_on_simplex(len(models)):
        members = [
            member.model_copy(update={"weight": weight, "deviation": deviation})
            for member, weight, deviation in zip(settings.members, weights, deviations, strict=True)
        ]
        model = method.combined(models, [member.weight / member.deviation for member in members])
        tried = Attempt(EnsembleSettings(members=members), None, validation.value(model))
        yield tried, history([], case, "selection"), model


def weights_on_simplex(n: int) -> list[tuple[float, ...]]:
    """Return all tuples of `n` multiples of 1 / `WEIGHT_STEPS` that add up to 1, in descending order."""
    parts = itertools.product(range(WEIGHT_STEPS, -1, -1), repeat=n)
    return [tuple(part / WEIGHT_STEPS for part in whole) for whole in parts if sum(whole) == WEIGHT_STEPS]
