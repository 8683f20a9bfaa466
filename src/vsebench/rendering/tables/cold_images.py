"""Compare metrics over cold images, which have no training label, with metrics over the other images of a task."""

from typing import Any

import polars as pl

from vsebench.core.tasks import Task
from vsebench.protocols.base import load_protocol
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Column, Row, Table

GROUPS = {"all": "all", "others": "with a\ntraining label", "cold": "cold"}
SHOWN = 2  # number of metrics in Markdown and LaTeX; the CSV file contains all metrics
NOTES = (
    "A cold image has no training label, because its only label is held out for the test. Methods that learn from "
    "labels alone rank the candidates for such an image by training frequency. Settings are chosen without cold "
    "images.",
)


class ColdImages(TableKind):
    """A table with one row per method: metrics over all, cold and other images of a task, as means over seeds."""

    needs = ("cold", "datasets")

    task: str  # <dataset>/<protocol>

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        tasks = [task for task in outline.tasks if load_protocol(task.protocol).leaves_cold]
        return {f"cold-images-{task.name}": {"task": str(task)} for task in tasks}

    def table(self, results: Results) -> Table:
        task = Task.of(self.task)
        cold = at(results.cold, task)
        metrics = [metric for metric in results.outline.metrics if metric in set(cold["metric"])]
        columns = [Column("dataset", "Data set", shown=False), Column("protocol", "Protocol", shown=False)]
        columns += [Column("method", "Name", shown=False), Column("title", "Method")]
        columns.append(Column("cold_images", "Cold images", "count"))
        for number, metric in enumerate(metrics):
            for group, title in GROUPS.items():
                heading = f"{metric_title(metric)},\n{title}"
                columns.append(Column(f"{metric}_{group}", heading, "score", shown=number < SHOWN))
        rows = []
        for method in [*results.competitors_of(cold), *results.oracles_of(cold)]:
            of_method = cold.filter(method=method)
            texts = (task.dataset, task.protocol, method, results.method_title(method, task))
            n_cold = mean_over_seeds(of_method, metrics[0], "cold", "n")
            means = (mean_over_seeds(of_method, metric, group) for metric in metrics for group in GROUPS)
            rows.append(Row.of(*texts, n_cold, *means, apart=results.is_oracle(method)))
        notes = NOTES if rows else ("Every test image has a training label.",)
        return Table(columns, rows, f"Images without a training label: {results.task_title(task)}", notes, fold=5)


def mean_over_seeds(of_method: pl.DataFrame, metric: str, group: str, column: str = "value") -> float | None:
    """Return the mean over seeds of a metric on a group of images, or None if there are no such images.

    If `column` is "n", return the mean number of images in the group instead.
    """
    value = of_method.filter(metric=metric, images=group)[column].mean()
    return None if value is None else float(value)  # type: ignore[arg-type]
