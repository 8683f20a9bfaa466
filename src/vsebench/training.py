"""Fit methods with given settings.

An attempt of a search is fitted on training labels and measured on validation labels. The final fit uses the settings
of the chosen attempt.
"""

import copy
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from vsebench.config.method import Epochs
from vsebench.core.errors import UserError, refusal
from vsebench.core.machine import memory_limit
from vsebench.core.schemas import HISTORY
from vsebench.core.tasks import Case
from vsebench.core.workers import workers
from vsebench.data.needs import examples
from vsebench.data.problem import HeldOut, LabelMatrix, Problem, Training
from vsebench.data.streams import VALIDATION_SAMPLE, generator
from vsebench.evaluation.metrics import list_values, values
from vsebench.evaluation.ranking import count_ranks, list_tops, ranks_table
from vsebench.evaluation.spread import OF_SIBLINGS
from vsebench.evaluation.validation import MeanOfImages, mean_over
from vsebench.methods.base import Control, Fitter, Method, Settings, Size, Solved
from vsebench.models import Model

Record = dict[str, Any]  # a row of the history, for one epoch


WORTH_SAYING = 1 << 30  # bytes; if a fit needs more memory, a message says so before it begins
SINGULAR = "a system of equations is singular in floating point"


class DivergenceError(UserError):
    """Raised if training diverged: the loss or a score is not a finite number, or a system of equations is singular."""


@dataclass(frozen=True)
class Validation:
    """A problem to fit models to, and the held-out labels and metric to validate them with.

    Attributes
    ----------
    further : more metrics of ranks; if there are any, they and `metric` are measured for each image
    siblings : the table `schemas.SIBLINGS`; if it is given, sibling precisions are measured for each image, too
    """

    problem: Problem
    held_out: HeldOut
    metric: str
    further: tuple[str, ...] = ()
    siblings: pl.DataFrame | None = None

    def value(self, model: Model) -> float:
        """Return the validation metric of a model, whose scores have to be finite numbers."""
        return self.mean(count_ranks(model, self.held_out, self.problem.features, self.problem.workers))

    def by_image(self, model: Model) -> NDArray[np.float64]:
        """Return the metrics of each validation image that has a label.

        The result has shape (n_images, n_metrics). Its columns are `metrics_by_image`.
        """
        images = self.held_out, self.problem.features, self.problem.workers
        ranks = ranks_table(self.held_out, count_ranks(model, *images))
        of_ranks = values(ranks, [self.metric, *self.further])
        if self.siblings is None:
            return of_ranks
        return np.hstack([of_ranks, list_values(list_tops(model, *images), ranks, OF_SIBLINGS, self.siblings)])

    @property
    def metrics_by_image(self) -> list[str]:
        """The names of the columns of `by_image`; the first one is the metric by which settings are chosen."""
        return [self.metric, *self.further, *(() if self.siblings is None else OF_SIBLINGS)]

    @cached_property
    def mean(self) -> MeanOfImages:
        return mean_over(self.metric, self.held_out)


@dataclass(frozen=True)
class Attempt:
    """An attempt: the result of a fit with one set of settings, measured on validation labels.

    Attributes
    ----------
    settings : the settings of this attempt
    epochs : the best epoch; None for a method without epochs
    value : the validation metric of the best epoch; None if training diverged or nothing was validated
    at_limit : whether training may have ended too early: it reached the limit on epochs while the metric might still
        have increased, or the iterative solver ended before it converged
    solved : how the method's iterative solver ended; None for a method without an iterative solver
    limit : the limit on epochs; None for a method without epochs
    epochs_by_seed : if `value` is a mean over seeds, the best epoch of each seed; empty for a single seed
    by_image : the metrics from `Validation.by_image` for each seed, with shape (n_seeds, n_images, n_metrics); None if
        they were not measured
    """

    settings: Settings
    epochs: int | None
    value: float | None
    at_limit: bool = False
    solved: Solved | None = None
    limit: int | None = None
    epochs_by_seed: tuple[int | None, ...] = ()
    by_image: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)


Trained = tuple[Attempt, pl.DataFrame, Model | None]  # attempt, history, and model (None if training diverged)


def open_validation(first: Problem, valid: HeldOut, metric: str, size: int) -> Validation:
    """Return a `Validation` on a random sample of at most `size` images of `valid`.

    Cold images, which have no training label, are left out. Raises a `UserError` if no image of the sample has a
    validation label.
    """
    known = valid.take(np.flatnonzero(~valid.is_cold).astype(np.int32))
    held_out = known.sample(size, generator(first.seed, VALIDATION_SAMPLE))
    if held_out.right.n_pairs == 0:
        n_images = len(held_out.images)
        raise UserError(f"none of the {n_images} validation images has a label; increase validation_images")
    return Validation(first, held_out, metric)


@contextmanager
def within_memory(case: Case) -> Iterator[None]:
    """Raise a `UserError` if memory runs out in the `with` block."""
    try:
        yield
    except MemoryError as error:
        raise UserError(f"{case}: {refusal(error)}; lower `factors`, or leave this method out") from None


def attempt(
    method: type[Fitter], settings: Settings, validation: Validation, limits: Epochs | None, case: Case
) -> Trained:
    """Fit a method with one set of settings, and measure the validation metric.

    `limits` says when training stops; it is None for a method without epochs. Returns the attempt, its history and its
    model. The model is that of the best epoch, or that of the last epoch if `limits` has no patience. It is None if
    training diverged.
    """
    check_memory(method, settings, validation.problem, case)
    if issubclass(method, Control):
        control = method(validation.problem, settings)
        try:
            model = control.model()
        except LinAlgError:
            return Attempt(settings, None, None), history([], case, "selection"), None
        value = validation.value(model) if model.has_finite_scores() else None
        tried = Attempt(settings, None, value, stopped_early(control), control.solved)
        return measured(tried, model, validation), history([], case, "selection"), None if value is None else model
    assert issubclass(method, Method)
    assert limits is not None
    warm_up(method, settings)
    fitter = method(validation.problem, settings)
    best, best_epoch, kept = -1.0, 0, None
    records: list[Record] = []
    try:
        for epoch in range(1, limits.maximum + 1):
            record, model = timed_epoch(fitter, epoch)
            record["validation"] = validation.value(model)
            records.append(record)
            if limits.patience is None or record["validation"] > best:
                best, best_epoch = record["validation"], epoch
                kept = None  # frees its memory before a copy is made
                if epoch == limits.maximum:
                    kept = model
                elif limits.patience is not None:
                    kept = copy.deepcopy(model)  # further training may change its arrays
            elif epoch - best_epoch >= limits.patience:
                break
            del model  # so that its arrays are not in memory beside those of the next epoch's model
    except (DivergenceError, LinAlgError):
        return Attempt(settings, None, None), history(records, case, "selection"), None
    at_limit = limits.patience is not None and len(records) - best_epoch < limits.patience
    chosen = Attempt(settings, best_epoch, best, at_limit, limit=limits.maximum)
    return measured(chosen, kept, validation), history(records, case, "selection"), kept


def measured(tried: Attempt, model: Model | None, validation: Validation) -> Attempt:
    """Return the attempt with the metrics of each image, if `validation` has `further` metrics.

    Without further metrics, or if training diverged, the attempt is returned unchanged.
    """
    if tried.value is None or model is None or not validation.further:
        return tried
    return replace(tried, by_image=validation.by_image(model)[np.newaxis])


def check_memory(
    method: type[Fitter], settings: Settings, problem: Problem, case: Case, limit: int | None = None
) -> None:
    """Raise a `UserError` if a fit certainly needs more memory than `limit`.

    limit : memory in bytes; None for all memory that this process can use
    """
    size = size_of(problem)
    needed, limit = method.least_memory(size, settings), memory_limit() if limit is None else limit
    of = f"{size.images:,} images, " + (f"{size.features:,} features and " if size.features else "")
    need = f"{case}: needs at least {needed / 2**30:,.1f} GiB of memory for {of}{size.labels:,} labels"
    if needed > limit:
        smaller = next((f"lower `{name}`, " for name in ("factors", "hidden") if getattr(settings, name, None)), "")
        raise UserError(
            f"{need}, but there are only {limit / 2**30:,.1f} GiB; {smaller}leave this method out for this data set, "
            "or keep fewer labels (`vocabulary: {top_labels: ...}`)"
        )
    if needed > WORTH_SAYING:
        print(need, file=sys.stderr)


def size_of(problem: Problem) -> Size:
    """Return the size of a problem; if it has features, training images without features are not counted."""
    images, n_labels = problem.training.images, problem.training.labels.n_labels
    if problem.features is None:
        return Size(len(images), 0, n_labels)
    return Size(int(problem.features.known[images].sum()), problem.features.dimensions, n_labels)


def stopped_early(fitter: Fitter) -> bool:
    """Return whether the method has an iterative solver that ended before it converged."""
    return fitter.solved is not None and not fitter.solved.converged


def refit(method: type[Fitter], chosen: Attempt, problem: Problem, case: Case) -> tuple[Attempt, pl.DataFrame, Model]:
    """Fit a method with the chosen settings and epochs.

    Returns the attempt, the history and the model of this fit. The attempt is `chosen`, but if the method has an
    iterative solver, the fields `solved` and `at_limit` describe this fit. Raises a `DivergenceError` if the loss or a
    score is not a finite number, or if a system of equations is singular.
    """
    check_memory(method, chosen.settings, problem, case)
    given = json.dumps(chosen.settings.given())
    if not issubclass(method, Method):
        control = method(problem, chosen.settings)
        try:
            model = control.model()
        except LinAlgError:
            raise DivergenceError(f"{case}: {SINGULAR} with {given}; increase regularisation") from None
        if control.solved is not None:
            chosen = replace(chosen, at_limit=stopped_early(control), solved=control.solved)
        return chosen, history([], case, "refit"), model
    assert chosen.epochs is not None
    warm_up(method, chosen.settings)
    fitter = method(problem, chosen.settings)
    records: list[Record] = []
    try:
        for epoch in range(1, chosen.epochs + 1):
            record, model = timed_epoch(fitter, epoch)
            records.append(record)
            if epoch < chosen.epochs:
                del model  # so that its arrays are not in memory beside those of the next epoch's model
    except LinAlgError:
        raise DivergenceError(f"{case}: {SINGULAR} with {given}; increase regularisation") from None
    except DivergenceError:
        raise DivergenceError(
            f"{case}: training diverged in the final fit with {given}; lower learning_rate or increase regularisation"
        ) from None
    return chosen, history(records, case, "refit"), model


def timed_epoch(fitter: Method, epoch: int) -> tuple[Record, Model]:
    """Train for one epoch, and measure how long it takes.

    Returns the epoch's row of the history, and the model after the epoch. Raises a `DivergenceError` if the loss or a
    score is not a finite number.
    """
    start = time.perf_counter()
    progress = fitter.epoch()
    seconds = time.perf_counter() - start
    finite = progress.loss is None or np.isfinite(progress.loss)
    model = fitter.model()
    if not (finite and model.has_finite_scores()):
        raise DivergenceError(f"epoch {epoch}: the loss or a score is not a finite number")
    of_epoch = {"epoch": epoch, "seconds": seconds, "loss": progress.loss}
    return of_epoch | {"trials_per_step": progress.trials, "validation": None}, model


def history(records: list[Record], case: Case, phase: str) -> pl.DataFrame:
    """Return the history of a training run: one row per epoch, with the columns of `schemas.HISTORY`."""
    keys = case.keys | {"phase": phase}
    return pl.DataFrame([keys | record for record in records], schema=HISTORY)


def warm_up(method: type[Method], settings: Settings) -> None:
    """Train for an epoch on a tiny problem, to compile or load the kernels before an epoch is timed.

    If a system of equations of this problem is singular, the error is ignored.
    """
    labels = tiny_matrix()
    inputs = examples(method.needs, labels)
    if inputs is not None:
        with workers(1) as pool, suppress(LinAlgError):
            method(Problem(Training.all_of(labels), 1, pool, **inputs), settings).epoch()


def tiny_matrix() -> LabelMatrix:
    """Return a matrix for compiling a method's kernels, in which each of four images has two of six labels."""
    labels = np.array([0, 1, 1, 2, 2, 3, 0, 4], dtype=np.int32)
    return LabelMatrix(6, np.arange(0, 9, 2, dtype=np.int64), labels, np.ones(8, dtype=np.int32))
