"""Choosing settings and epochs on the validation labels, and fitting with them; the same for every method."""

import copy
import itertools
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from vsebench.config.method import Epochs
from vsebench.core.errors import UserError
from vsebench.core.places import Case
from vsebench.core.schemas import HISTORY
from vsebench.core.workers import Workers, workers
from vsebench.data.problem import HeldOut, LabelMatrix, Problem, Split, Training, Words
from vsebench.data.streams import VALIDATION_SAMPLE, generator
from vsebench.evaluation.metrics import mean_metric
from vsebench.evaluation.ranking import rank, score_deviation
from vsebench.methods.base import Control, Ensemble, EnsembleSettings, Fitter, Member, Method, read_settings
from vsebench.models import Model

if TYPE_CHECKING:  # features need SciPy, which most fits do without
    from vsebench.data.features import Features

Record = dict[str, Any]  # of an epoch in the history

WEIGHT_STEPS = 10  # of an ensemble's weights between 0 and 1
BESIDE_ZERO = 2  # the ratio by which a search goes on beyond a value beside 0


class DivergenceError(Exception):
    """Training diverged: the loss or a score is not a finite number."""


@dataclass(frozen=True)
class Validation:
    """What is fitted while settings are chosen, and the labels and metric that measure the fit."""

    problem: Problem
    held_out: HeldOut
    metric: str

    def value(self, model: Model) -> float:
        """Return the validation metric of a model."""
        ranks = rank(model, self.held_out, self.problem.features, self.problem.workers, "validation")
        return mean_metric(ranks, self.metric)


@dataclass(frozen=True)
class Attempt:
    """One set of settings tried: the best epoch (None for a row without epochs) and the metric there.

    `value` is None where training diverged, and where nothing was validated.
    """

    settings: dict[str, Any]
    epochs: int | None
    value: float | None


def problems(
    split: Split,
    seed: int,
    pool: Workers,
    features: "Features | None" = None,
    words: Words | None = None,
    extras: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Problem, Problem]:
    """Return what is fitted while settings are chosen, and what the tested model is fitted to."""
    first = Problem(split.first, seed, pool, features, words, extras)
    return first, replace(first, training=split.final)


def open_validation(first: Problem, split: Split, metric: str, size: int) -> Validation:
    """Return the validation on at most `size` images. Cold images, of which nothing is learnt, choose no settings."""
    known = split.valid.take(np.flatnonzero(~split.valid.is_cold).astype(np.int32))
    held_out = known.sample(size, generator(first.seed, VALIDATION_SAMPLE))
    if held_out.right.n_pairs == 0:
        raise UserError(
            f"none of the {len(held_out.images)} validation images carries a label; raise validation_images"
        )
    return Validation(first, held_out, metric)


def configurations(settings: dict[str, Any], grid: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return the settings with every combination of the grid's values."""
    return [settings | dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def on_edges(grid: dict[str, list[Any]], best: dict[str, Any], tried: list[dict[str, Any]]) -> list[str]:
    """Return the numbers of a grid whose best value is the smallest or largest that was tried, of two or more."""
    edges = {name: sorted({settings[name] for settings in tried}) for name in grid if is_number(best[name])}
    return [name for name, values in edges.items() if len(values) > 1 and best[name] in (values[0], values[-1])]


def beyond(
    method: type[Fitter], grid: dict[str, list[Any]], best: dict[str, Any], tried: list[dict[str, Any]]
) -> dict[str, Any] | None:
    """Return the best settings with one value a step beyond those tried, where the best is on their edge, or None.

    The step is the ratio of the two outermost values, or 2 from a value beside 0. There is none beyond 0, nor to a
    value that the method does not allow.
    """
    for name in on_edges(grid, best, tried):
        values = sorted({settings[name] for settings in tried})
        last, inner = (values[-1], values[-2]) if best[name] == values[-1] else (values[0], values[1])
        if last <= 0 or inner < 0:
            continue
        value = float(f"{last * (last / inner if inner else BESIDE_ZERO):.6g}")
        further = best | {name: round(value) if isinstance(last, int) else value}
        if further not in tried and is_allowed(method, further):
            return further
    return None


def search(
    method: type[Fitter],
    grid: dict[str, list[Any]],
    base: dict[str, Any],
    further: int,
    tries: list[Attempt],
    case: Case,
) -> Iterator[dict[str, Any]]:
    """Yield the settings of a grid, and then at most `further` beyond its edges.

    Parameters
    ----------
    method : the row's method
    grid : setting -> values to try
    base : the other settings
    further : the largest number of configurations beyond the grid
    tries : what was tried of those yielded before; the caller appends to it
    case : for errors
    """
    yield from configurations(base, grid)
    for _ in range(further if any(tried.value is not None for tried in tries) else 0):
        best = tries[best_attempt(tries, case)].settings
        settings = beyond(method, grid, best, [tried.settings for tried in tries])
        if settings is None:
            return
        yield settings


def is_number(value: object) -> bool:
    """Return whether a setting is a number that can be larger or smaller."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_allowed(method: type[Fitter], settings: dict[str, Any]) -> bool:
    """Return whether a method takes these settings."""
    try:
        read_settings(method, settings, "settings")
    except UserError:
        return False
    return True


def attempt(
    method: type[Fitter], values: dict[str, Any], validation: Validation, limits: Epochs | None, case: Case
) -> tuple[Attempt, pl.DataFrame, Model | None]:
    """Fit with one set of settings, until the validation metric stops rising.

    Returns
    -------
    What was tried, its history, and the model of the best epoch; None where training diverged.
    """
    settings = read_settings(method, values, where_of(case))
    if issubclass(method, Control):
        model = method(validation.problem, settings).model()
        value = validation.value(model) if model.has_finite_scores() else None
        return Attempt(values, None, value), history([], case, "selection"), None if value is None else model
    assert issubclass(method, Method)
    assert limits is not None
    warm_up(method, settings)
    fitter = method(validation.problem, settings)
    best, best_epoch, kept = -1.0, 0, None
    records: list[Record] = []
    try:
        for epoch in range(1, limits.maximum + 1):
            record = timed_epoch(fitter, epoch)
            model = fitter.model()
            record["validation"] = validation.value(model)
            records.append(record)
            if record["validation"] > best:
                best, best_epoch = record["validation"], epoch
                kept = copy.deepcopy(model)  # its arrays may be trained on
            elif epoch - best_epoch >= limits.patience:
                break
    except DivergenceError:
        return Attempt(values, None, None), history(records, case, "selection"), None
    return Attempt(values, best_epoch, best), history(records, case, "selection"), kept


def weigh(
    method: type[Ensemble], members: list[Member], validation: Validation, case: Case
) -> tuple[list[Member], list[Attempt]]:
    """Choose the weights of an ensemble's members by models that have not been trained on the validation images.

    The weights add up to 1, in steps of 1 / `WEIGHT_STEPS`; of equally good ones the first are taken, which give more
    to the first member.

    Returns
    -------
    The members with their deviations and weights, and what was tried: weights by row.
    """
    models = method(validation.problem, EnsembleSettings(members=members)).models()
    problem, held_out = validation.problem, validation.held_out
    deviations = [score_deviation(model, held_out, problem.features) for model in models]
    for member, model, deviation in zip(members, models, deviations, strict=True):
        if not model.has_finite_scores() or not deviation > 0:
            raise UserError(f"{case}: the scores of {member.row} are all the same or not finite; take another member")
    tries = []
    for weights in weights_on_simplex(len(members)):
        scales = [weight / deviation for weight, deviation in zip(weights, deviations, strict=True)]
        value = validation.value(method.combined(models, scales))
        tries.append(Attempt(dict(zip((member.row for member in members), weights, strict=True)), None, value))
    best = tries[best_attempt(tries, case)].settings
    chosen = [
        member.model_copy(update={"weight": best[member.row], "deviation": deviation})
        for member, deviation in zip(members, deviations, strict=True)
    ]
    return chosen, tries


def weights_on_simplex(n: int) -> list[tuple[float, ...]]:
    """Return all `n` weights that are multiples of 1 / `WEIGHT_STEPS` and add up to 1, large first weights first."""
    parts = itertools.product(range(WEIGHT_STEPS, -1, -1), repeat=n)
    return [tuple(part / WEIGHT_STEPS for part in whole) for whole in parts if sum(whole) == WEIGHT_STEPS]


def best_attempt(tries: list[Attempt], case: Case) -> int:
    """Return the index of the attempt with the highest validation value, the first of equals."""
    finite = [place for place, tried in enumerate(tries) if tried.value is not None]
    if not finite:
        raise UserError(
            f"{case}: training diverged with every setting tried, such as {json.dumps(tries[0].settings)}; "
            f"lower learning_rate or raise regularisation in config/methods/{case.row}.yaml"
        )
    return max(finite, key=lambda place: tries[place].value or 0.0)


def refit(method: type[Fitter], chosen: Attempt, problem: Problem, case: Case) -> tuple[Model, pl.DataFrame]:
    """Fit with the chosen settings and epochs; returns the model and its history.

    Raises
    ------
    DivergenceError
        The loss or a score is not a finite number.
    """
    settings = read_settings(method, chosen.settings, where_of(case))
    if not issubclass(method, Method):
        return method(problem, settings).model(), history([], case, "refit")
    assert chosen.epochs is not None
    warm_up(method, settings)
    fitter = method(problem, settings)
    records = [timed_epoch(fitter, epoch) for epoch in range(1, chosen.epochs + 1)]
    return fitter.model(), history(records, case, "refit")


def finish(
    method: type[Fitter], chosen: Attempt, kept: Model | None, first: Problem, final: Problem, case: Case
) -> tuple[Model, pl.DataFrame]:
    """Return the model to test, and the history of fitting it to training and validation labels.

    Where it may not learn the validation labels, that is the one which was kept when its settings were chosen.

    Raises
    ------
    DivergenceError
        The loss or a score is not a finite number.
    """
    if kept is not None and final.training is first.training:
        return kept, history([], case, "refit")
    return refit(method, chosen, final, case)


def timed_epoch(fitter: Method, epoch: int) -> Record:
    """Train one epoch and return its line of the history; raise `DivergenceError` if a number is no longer finite."""
    start = time.perf_counter()
    progress = fitter.epoch()
    seconds = time.perf_counter() - start
    finite = progress.loss is None or np.isfinite(progress.loss)
    if not (finite and fitter.model().has_finite_scores()):
        raise DivergenceError
    return {
        "epoch": epoch,
        "seconds": seconds,
        "loss": progress.loss,
        "trials_per_step": progress.trials,
        "validation": None,
    }


def history(records: list[Record], case: Case, phase: str) -> pl.DataFrame:
    """Return the history of a training as a table, `schemas.HISTORY`: one line per epoch."""
    keys = case.keys | {"phase": phase}
    return pl.DataFrame([keys | record for record in records], schema=HISTORY)


def where_of(case: Case) -> str:
    """Name the settings of a row in errors."""
    return f"config/methods/{case.row}.yaml: settings"


def warm_up(method: type[Method], settings: Any) -> None:
    """Train for an epoch on a tiny problem, so that no timed epoch compiles or loads a kernel."""
    with workers(1) as pool:
        problem = Problem(Training.all_of(tiny_matrix()), 1, pool)
        if "features" in method.needs:
            from vsebench.data.features import Features

            values = np.eye(problem.training.labels.n_rows, 3, dtype=np.float32)
            problem = replace(problem, features=Features(values, np.ones(len(values), dtype=np.bool_)))
        if "words" in method.needs:
            n_labels = problem.training.labels.n_labels
            problem = replace(
                problem, words=Words(np.eye(n_labels, dtype=np.float32), np.ones(n_labels, dtype=np.bool_))
            )
        method(problem, settings).epoch()


def tiny_matrix() -> LabelMatrix:
    """Return four images with two of six labels each: enough to compile a method's kernels, or to load them."""
    labels = np.array([0, 1, 1, 2, 2, 3, 0, 4], dtype=np.int32)
    return LabelMatrix(6, np.arange(0, 9, 2, dtype=np.int64), labels, np.ones(8, dtype=np.int32))
