"""Draw the ranks of the methods by several metrics, with one line per method."""

from textwrap import fill
from typing import TYPE_CHECKING

import polars as pl
from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from vsebench.core.errors import UserError
from vsebench.core.tasks import Task
from vsebench.evaluation.metrics.base import load_metric
from vsebench.rendering.kinds import Axes, Figure, FigureKind
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at

if TYPE_CHECKING:
    from vsebench.rendering.style import Look  # this module loads Matplotlib

CHARACTERS = 40  # number of characters across a panel


class RanksByMeasure(FigureKind):
    """A figure of the ranks of methods by several metrics, with one panel per task.

    A panel has the metrics from left to right, and rank 1 on top. Tasks with fewer than two methods are left out.
    """

    needs = ("metrics", "datasets")

    methods: list[str] = Field(min_length=2)
    metrics: list[str] = Field(min_length=2)  # from left to right in a panel

    @field_validator("metrics")
    @classmethod
    def _of_quality(cls, metrics: list[str]) -> list[str]:
        for name in metrics:
            try:
                ranks = load_metric(name).sign != 0
            except UserError as error:
                raise PydanticCustomError("metric", "{error}", {"error": str(error)}) from None
            if not ranks:
                raise PydanticCustomError(
                    "metric",
                    "neither large nor small values of {name} are better, so it cannot rank methods; remove it",
                    {"name": name},
                )
        return metrics

    def applies(self, outline: Outline) -> bool:
        if not set(self.metrics) <= set(outline.metrics):
            return False
        return any(len(set(self.methods) & set(outline.competitors(task))) > 1 for task in outline.tasks)

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        tasks, looks = self.tasks(results), style.looks(results)
        ranks = {task: self.ranks(results, task) for task in tasks}
        shown = [method for method in self.methods if any(method in of_task for of_task in ranks.values())]
        rows = -(-len(shown) // 4)
        figure, axes = drawing.panels(len(tasks), style.DOUBLE, 1.2 + 0.13 * len(shown) + 0.2 * rows, columns=2)
        for axis, (task, of_task) in zip(axes, ranks.items(), strict=True):
            self.draw(axis, of_task, looks)
            axis.set_title(drawing.panel_title(results, task))
        drawing.legend_of_lines(figure, results, shown, tasks)
        return figure

    def draw(self, axis: Axes, ranks: dict[str, list[float]], looks: "dict[str, Look]") -> None:
        """Draw a line for each method of a task."""
        from vsebench.rendering import drawing

        for method, of_method in ranks.items():
            axis.plot(range(len(of_method)), of_method, **drawing.line_style(looks[method]), markersize=5, linewidth=1)
        width = CHARACTERS // len(self.metrics)
        axis.set_xticks(range(len(self.metrics)), [fill(metric_title(metric), width) for metric in self.metrics])
        axis.set_xlim(-0.3, len(self.metrics) - 0.7)
        axis.set_yticks(range(1, len(ranks) + 1))
        axis.set_ylim(len(ranks) + 0.5, 0.5)
        axis.set_ylabel("rank")

    def tasks(self, results: Results) -> list[Task]:
        """Return the tasks on which at least two of the figure's `methods` have results."""
        tasks = results.tasks_of(results.metrics)
        return [task for task in tasks if len(self.ranks(results, task)) > 1]

    def ranks(self, results: Results, task: Task) -> dict[str, list[float]]:
        """Return the ranks of each method on a task, in the order of the figure's `metrics`.

        The methods are ranked by the mean of each metric over seeds. Methods with equal means share their mean rank.
        The methods are in the order of their ranks by the first metric.
        """
        rows = at(results.metrics, task).filter(
            pl.col("method").is_in(self.methods), pl.col("metric").is_in(self.metrics), decision=""
        )
        means = rows.group_by("method", "metric").agg(pl.col("value").mean())
        by_method: dict[str, list[float]] = {}
        for metric in self.metrics:
            ranked = means.filter(metric=metric).with_columns(
                rank=(load_metric(metric).sign * pl.col("value")).rank("average", descending=True)
            )
            for method, rank in ranked.sort("rank", "method").select("method", "rank").iter_rows():
                by_method.setdefault(method, []).append(rank)
        return by_method

    def caption(self, results: Results) -> str:
        names = ", ".join(map(metric_title, self.metrics))
        return (
            f"Ranks of the methods by {names}, from means over seeds; 1 is best, and equal methods share their mean "
            "rank. Where lines cross, the order of the methods depends on the metric."
        )

    def alternative(self, results: Results) -> str:
        orders = []
        for task in self.tasks(results):
            ranks = self.ranks(results, task)
            best = [min(ranks, key=lambda method, i=i: ranks[method][i]) for i in range(len(self.metrics))]  # type: ignore[misc]
            named = (
                f"{results.method_title(method, task)} by {metric_title(metric)}"
                for method, metric in zip(best, self.metrics, strict=True)
            )
            orders.append(f"{results.task_title(task)}: the best are {', '.join(named)}")
        return f"A line for each method: its rank by each metric. {'; '.join(orders)}."
