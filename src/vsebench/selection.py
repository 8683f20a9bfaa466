"""How settings and epochs are chosen on the validation labels: `select`, the same for every method."""

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
from tqdm import tqdm

from vsebench.core.configuration import Epochs
from vsebench.core.errors import UserError
from vsebench.core.places import Case
from vsebench.data.problem import Problem
from vsebench.evaluation.ranking import score_deviation
from vsebench.methods.base import Ensemble, EnsembleSettings, Fitter, Settings
from vsebench.models import Model
from vsebench.training import Attempt, DivergenceError, Trained, Validation, attempt, no_history, refit

Grid = Mapping[str, list[Any]]  # setting -> values to try; all combinations are tried
NO_GRID: Grid = {}

WEIGHT_STEPS = 10  # of an ensemble's weights between 0 and 1
RATIO_NEXT_TO_ZERO = 2  # of a value beyond the grid to the last one, if the value next to the last is 0


@dataclass(frozen=True)
class Selection:
    """The settings and epochs that were chosen, and the model that was fitted with them.

    Attributes
    ----------
    chosen : the best attempt
    tries : all attempts; none where nothing is validated
    history : the epochs of the best attempt and of the last fit, `schemas.HISTORY`
    model : the model to test
    """

    chosen: Attempt
    tries: list[Attempt]
    history: pl.DataFrame
    model: Model


def select(
    method: type[Fitter],
    settings: Settings,
    validation: Validation | None,
    final: Problem,
    case: Case,
    limits: Epochs | None = None,
    grid: Grid = NO_GRID,
    steps: int = 0,
) -> Selection:
    """Choose settings and epochs on the validation labels, and return the model that is fitted with them.

    Every combination of the grid is tried, and then, while the best is at an edge of the values tried, one step beyond
    it. An attempt trains until the validation metric stops rising, and counts by its best epoch. The best attempt is
    the one with the highest value, the first of equals. With its settings and epochs the method is fitted once more;
    where no more labels are learnt then, the model of the best epoch is kept instead.

    Parameters
    ----------
    method : the class of the method
    settings : of the method; the grid replaces some of them
    validation : what measures an attempt; None: nothing is chosen, and the method is fitted with the given settings
    final : what the model to test is fitted to
    case : for the history and for errors
    limits : when training stops; None for a method without epochs
    grid : values to try
    steps : the largest number of configurations beyond the grid

    Raises
    ------
    DivergenceError
        Training diverged with every setting tried, or in the last fit.
    """
    if validation is None:
        chosen = Attempt(settings, None, None)
        model, refitted = refit(method, chosen, final, case)
        return Selection(chosen, [], refitted, model)
    tries: list[Attempt] = []
    history, kept = no_history(), None
    if issubclass(method, Ensemble):
        attempts: Iterator[Trained] = weigh(method, settings, validation, case)
    else:
        candidates = search(settings, grid, steps, tries, settings_key(case))
        attempts = (attempt(method, candidate, validation, limits, case) for candidate in candidates)
    for tried, epochs, model_of_attempt in tqdm(attempts, desc=str(case), mininterval=5, disable=not grid):
        tries.append(tried)
        if best_of(tries) is tried:
            history, kept = epochs, model_of_attempt
    best = best_of(tries)
    if best is None or kept is None:
        raise DivergenceError(
            f"{case}: training diverged with every setting tried, such as {json.dumps(tries[0].settings.given())}; "
            f"lower learning_rate or raise regularisation in config/methods/{case.row}.yaml"
        )
    if final.training is validation.problem.training:
        return Selection(best, tries, history, kept)
    model, refitted = refit(method, best, final, case)
    return Selection(best, tries, pl.concat([history, refitted]), model)


def settings_key(case: Case) -> str:
    """Name the settings of a method in errors."""
    return f"config/methods/{case.row}.yaml: settings"


def best_of(tries: list[Attempt]) -> Attempt | None:
    """Return the attempt with the highest validation value, the first of equals; None if all diverged."""
    finite = [tried for tried in tries if tried.value is not None]
    return max(finite, key=lambda tried: tried.value or 0.0, default=None)


def search(settings: Settings, grid: Grid, steps: int, tries: list[Attempt], where: str) -> Iterator[Settings]:
    """Yield the settings of a grid, and then at most `steps` beyond its edges.

    The caller appends to `tries` what was tried of the settings yielded before; `where` names them in errors.
    """
    for values in itertools.product(*grid.values()):
        yield settings.changed(dict(zip(grid, values, strict=True)), where) if grid else settings
    for _ in range(steps):
        best = best_of(tries)
        further = None if best is None else beyond(grid, best.settings, [tried.settings for tried in tries])
        if further is None:
            return
        yield further


def beyond(grid: Grid, best: Settings, tried: list[Settings]) -> Settings | None:
    """Return the best settings with one value a step beyond those tried, where the best is on their edge, or None.

    The step is the ratio of the two outermost values, or 2 from a value next to 0. There is none beyond 0, nor to a
    value that the method does not allow.
    """
    for name in on_edges(grid, best, tried):
        values = sorted({getattr(settings, name) for settings in tried})
        last, inner = (values[-1], values[-2]) if getattr(best, name) == values[-1] else (values[0], values[1])
        if last <= 0 or inner < 0:
            continue
        value = float(f"{last * (last / inner if inner else RATIO_NEXT_TO_ZERO):.6g}")
        try:
            further = best.changed({name: round(value) if isinstance(last, int) else value}, name)
        except UserError:
            continue
        if further not in tried:
            return further
    return None


def on_edges(grid: Grid, best: Settings, tried: list[Settings]) -> list[str]:
    """Return the numbers of a grid whose best value is the smallest or largest that was tried, of two or more."""
    names = [name for name in grid if is_number(getattr(best, name))]
    values = {name: {getattr(settings, name) for settings in tried} for name in names}
    edges = {name: (min(values[name]), max(values[name])) for name in names if len(values[name]) > 1}
    return [name for name in edges if getattr(best, name) in edges[name]]


def is_number(value: object) -> bool:
    """Return whether a setting is a number that can be larger or smaller."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def weigh(method: type[Ensemble], settings: Settings, validation: Validation, case: Case) -> Iterator[Trained]:
    """Yield an ensemble with all weights, by members that have not been trained on the validation images.

    The weights add up to 1, in steps of 1 / `WEIGHT_STEPS`; those that give more to the first member are first.
    """
    assert isinstance(settings, EnsembleSettings)
    models = method(validation.problem, settings).models()
    problem, held_out = validation.problem, validation.held_out
    deviations = [score_deviation(model, held_out, problem.features) for model in models]
    for member, model, deviation in zip(settings.members, models, deviations, strict=True):
        if not model.has_finite_scores() or not deviation > 0:
            raise UserError(f"{case}: the scores of {member.row} are all the same or not finite; take another member")
    for weights in weights_on_simplex(len(models)):
        weighted = settings.weighted(weights, deviations)
        model = method.combined(models, weighted.scales)
        yield Attempt(weighted, None, validation.value(model)), no_history(), model


def weights_on_simplex(n: int) -> list[tuple[float, ...]]:
    """Return all `n` weights that are multiples of 1 / `WEIGHT_STEPS` and add up to 1, large first weights first."""
    parts = itertools.product(range(WEIGHT_STEPS, -1, -1), repeat=n)
    return [tuple(part / WEIGHT_STEPS for part in whole) for whole in parts if sum(whole) == WEIGHT_STEPS]
