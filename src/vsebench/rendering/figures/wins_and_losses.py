"""Draw how often one method is better than another, over tasks and seeds."""

from typing import Any

import numpy as np
import polars as pl

from vsebench.evaluation.metrics.base import load_metric
from vsebench.rendering.accuracy import remarks_on_outside
from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at, leading_metric

WRITTEN = 20  # with more methods, squares are too small, so no numbers are written in them


class WinsAndLosses(FigureKind):
    """A figure of the share of comparisons in which one method (a row) wins over another (a column)."""

    needs = ("metrics", "summary", "datasets")
    made_for = "run"
    section = "overview"
    position = 4

    def applies(self, outline: Outline) -> bool:
        return any(len(outline.competitors(task)) > 1 for task in outline.tasks)

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        methods, wins, comparisons = count_wins(results)
        tasks = results.tasks_of(results.metrics)
        titles = [results.method_title(method, *tasks, short=True) for method in methods]
        # Room for the names and for at least six squares, because the label of the axis is as long as six squares.
        size = min(style.DOUBLE, 0.6 + max(1.3, 0.048 * max(map(len, titles))) + 0.21 * max(6, len(methods)))
        figure, (axis,) = drawing.panels(1, size, size - 0.4)
        with np.errstate(invalid="ignore"):
            share = wins / comparisons
        # With aspect="equal", the layout would leave no space for the title.
        image = axis.imshow(np.ma.masked_invalid(share), cmap="PuOr", vmin=-0.1, vmax=1.1, aspect="auto")
        if len(methods) > WRITTEN:
            figure.colorbar(
                image, ax=axis, boundaries=np.linspace(0, 1, 50), ticks=[0, 0.5, 1], shrink=0.3, label="share"
            )
        axis.set_xticks(range(len(methods)), titles, rotation=90, fontsize=6)
        axis.set_yticks(
            range(len(methods)),
            [title + number_of_tasks(results, method) for title, method in zip(titles, methods, strict=True)],
            fontsize=6,
        )
        axis.tick_params(length=0)
        axis.grid(visible=False)
        axis.spines[:].set_visible(False)
        axis.set_title("Wins" + drawing.simulated_share(results, set(results.metrics["dataset"])))
        axis.set_xlabel("over this method")
        axis.set_ylabel("wins of this method")
        for line, column in zip(*np.nonzero(comparisons if len(methods) <= WRITTEN else []), strict=True):
            dark = not 0.2 < share[line, column] < 0.8
            text = f"{wins[line, column]:g}/{comparisons[line, column]:g}"
            axis.text(column, line, text, ha="center", va="center", fontsize=4.2, color="white" if dark else "black")
        return figure

    def caption(self, results: Results) -> str:
        metric = metric_title(few_metrics(results.outline.metrics)[0])
        suffixes = (number_of_tasks(results, method) for method in results.competitors_of(results.metrics))
        example = next(filter(None, suffixes), "").strip(" ()")
        explained = f"({example}) after a name: run on {example} tasks (data set and protocol). " if example else ""
        remarks = "".join(f" {text}" for text in remarks_on_outside(results, results.competitors_of(results.metrics)))
        return (
            f"How often the method of a row has a higher {metric} than the method of a column, over the data sets, "
            f"protocols and seeds on which both methods were run; a tie counts as half a win. If {metric} is the same "
            "for all methods on a data set, the next metric that differs between the methods is compared. The methods "
            "are ordered by wins minus losses; by the share of wins, a method that was compared on a single data set "
            f"could be first. {explained}These are counts; for significance, see the tables.{remarks}"
        )

    def alternative(self, results: Results) -> str:
        methods, wins, comparisons = count_wins(results)
        won, compared = wins[0].sum(), comparisons[0].sum()
        best = results.method_title(methods[0])
        return f"How often each method beats every other method. {best} wins {won:g} of {compared:g} comparisons."


def number_of_tasks(results: Results, method: str) -> str:
    """Return a suffix for the name of a method that was not run on all tasks, or "" for other methods.

    For example, the suffix is " (2 of 3)" if the method was run on two of three tasks.
    """
    tasks, ran = (results.tasks_of(frame) for frame in (results.metrics, results.metrics.filter(method=method)))
    return f" ({len(ran)} of {len(tasks)})" if len(ran) < len(tasks) else ""


def count_wins(results: Results) -> tuple[list[str], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Count how often each method is better than each other method, on all tasks and with all seeds.

    Methods are compared by the leading metric of a task (see `results.leading_metric`). A tie counts as half a win.

    Returns
    -------
    methods : methods that were compared with another one, except oracles, sorted by wins minus losses, the best first
    wins : (n_methods, n_methods) float64, the number of wins of the row's method over the column's method
    comparisons : (n_methods, n_methods) float64, how often the row's method was compared with the column's method
    """
    competitors = results.competitors_of(results.metrics)
    wins, comparisons = np.zeros((2, len(competitors), len(competitors)))
    for task in results.tasks_of(results.metrics):
        metric = leading_metric(results, task)
        of_task = at(results.metrics, task).filter(metric=metric, decision="")
        for _, of_seed in of_task.group_by("seed"):
            values = dict(of_seed.select("method", load_metric(metric).sign * pl.col("value")).iter_rows())
            has_value = np.array([method in values for method in competitors])
            value = np.array([values.get(method, 0.0) for method in competitors])
            both = has_value[:, None] & has_value & ~np.eye(len(competitors), dtype=bool)
            comparisons += both
            wins += both * ((value[:, None] > value) + 0.5 * (value[:, None] == value))
    compared = np.flatnonzero(comparisons.sum(axis=1))
    # By the share of wins, a method that was run on only one of many tasks, and won there, would be first.
    lead = 2 * wins.sum(axis=1) - comparisons.sum(axis=1)
    order = compared[np.argsort(-lead[compared], kind="stable")]
    return [competitors[number] for number in order], wins[np.ix_(order, order)], comparisons[np.ix_(order, order)]
