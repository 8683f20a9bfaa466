"""Show the accuracy on one task, with one row per method and one column per metric."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import polars as pl

from vsebench.core.tasks import Task
from vsebench.evaluation.metrics.base import load_metric
from vsebench.rendering.accuracy import accuracy_cells, remark_on_occurrences, remarks_on_outside
from vsebench.rendering.choices import remark_on_other_splits, remarks_on_choices
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.metrics import few_metrics, metric_form, metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import RANDOM, Results, beats_random, pick
from vsebench.rendering.table import Column, Row, Table

FEW = 4  # if a run has more metrics, a second table shows only a few of them, usually at most this many


class Accuracy(TableKind):
    """A table of the metrics of all methods on one task, with one row per method.

    Oracles come last, below a rule. If a run has many metrics, a second table shows only a few of them.
    """

    needs = ("summary", "datasets")

    task: str  # <dataset>/<protocol>
    few: bool = False  # whether the table has only a few metrics

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        tables: dict[str, dict[str, Any]] = {}
        for task in outline.tasks:
            if len(outline.metrics) > FEW:
                tables[f"accuracy-few-{task.name}"] = {"task": str(task), "few": True}
            tables[f"accuracy-{task.name}"] = {"task": str(task)}
        return tables

    def table(self, results: Results) -> Table:
        task = Task.of(self.task)
        accuracy = results.accuracy(task)
        metrics = results.outline.metrics
        if self.few:
            few = few_metrics(metrics, [task])
            chosen = {*few, *metrics[len(metrics) - 1 :]} if len(few) < FEW else few
            metrics = [metric for metric in metrics if metric in chosen][: max(FEW, len(few))]
        columns = [Column("dataset", "Data set", shown=False), Column("protocol", "Protocol", shown=False)]
        columns += [Column("method", "Name", shown=False), Column("title", "Method")]
        for metric in metrics:
            key = metric.replace("@", "_")
            columns.append(Column(key, metric_title(metric), metric_form(metric), interval=True))
            columns.append(Column(f"{key}_p_adjusted", "p", "score", shown=False))
        rows = []
        for method in [*results.competitors_of(accuracy), *results.oracles_of(accuracy)]:
            texts = (task.dataset, task.protocol, method, results.method_title(method, task))
            by_metric = (accuracy_cells(results, pick(accuracy, metric, method)) for metric in metrics)
            rows.append(Row.of(*texts, *chain.from_iterable(by_metric), apart=results.is_oracle(method)))
        caption = f"Accuracy on {results.task_title(task)}" + (", a few metrics" if self.few else "")
        return Table(columns, rows, caption, notes(results, task, accuracy, metrics), fold=5)


def fewer_seeds(results: Results, accuracy: pl.DataFrame, seeds: int) -> str:
    """Return a text in brackets on the methods with fewer than `seeds` seeds, or "" if there are none."""
    by_number: dict[int, list[str]] = {}
    for method, number in accuracy.select("method", "n_seeds").unique(maintain_order=True).iter_rows():
        if number < seeds:
            by_number.setdefault(number, []).append(results.method_title(method))
    fewer = "; ".join(f"{number} for {', '.join(titles)}" for number, titles in by_number.items())
    return fewer and f" ({fewer}; two methods are compared on the seeds that both have)"


def notes(results: Results, task: Task, accuracy: pl.DataFrame, metrics: Sequence[str]) -> list[str]:
    """Return notes on how the values were measured and on what is left out."""
    seeds = max(accuracy["n_seeds"].to_list())
    several = fewer_seeds(results, accuracy, seeds)
    over = "images and seeds" if seeds > 1 else "images"
    sentences = [
        f"Mean over {seeds} seeds{several} with 95 % intervals over images and seeds."
        if seeds > 1
        else "One seed, with 95 % intervals over images; these do not cover the variation between seeds.",
        f"Bold: best; †: not significantly different from the best (paired test over {over}, corrected over all "
        "pairs, p ≥ 0.05).",
        "If a method was trained on a label of an image, this label is not a candidate for the image. Ties count "
        "against the method.",
        "Metrics with @N use the first N labels of the ranking, the others use all labels. In AUC@N, a held-out "
        "label that is not among the first N counts 0.5.",
    ]
    sentences += [
        f"{metric_title(metric)} is computed from a ranking of the test images for each label. A method that gives all "
        "images the same score, such as popularity, is below random (the level of chance), because ties count against "
        "it."
        for metric in results.outline.metrics
        if load_metric(metric).unit == "label"
    ]
    if unbeaten := [metric_title(metric) for metric in metrics if not beats_random(accuracy, metric)]:
        random = results.method_title(RANDOM)
        sentences.append(
            f"No method is significantly better than {random} in {', '.join(unbeaten)}; there, bold marks the maximum."
        )
    if results.is_simulated(task.dataset):
        sentences.insert(0, "The data are simulated.")
    if remark := remark_on_occurrences(results, task):
        sentences.append(f"{remark[0].upper()}{remark[1:]}.")
    sentences += remarks_on_choices(results, task, results.competitors_of(accuracy))
    sentences += remark_on_other_splits(results, task, results.competitors_of(accuracy))
    sentences += remarks_on_outside(results, results.competitors_of(accuracy))
    packs = dict.fromkeys(results.outline.variants[method].pack for method in results.methods_of(accuracy))
    sentences += [f"{pack}, and measured here on the same split." for pack in packs if pack]
    sentences += [
        f"{results.method_title(oracle)} is an oracle (it uses test information), shown only for reference."
        for oracle in results.oracles_of(accuracy)
    ]
    return sentences + results.left_out_of(task)
