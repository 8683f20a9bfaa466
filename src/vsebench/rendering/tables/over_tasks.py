"""Compare methods on all tasks: the best method on each task, or one metric of every method on every task."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from vsebench.core.tasks import Task
from vsebench.rendering.accuracy import accuracy_cells, remarks_on_outside
from vsebench.rendering.choices import count
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.metrics import few_metrics, metric_form, metric_title
from vsebench.rendering.results import RANDOM, Results, beats_random, best_of, near_best, pick
from vsebench.rendering.table import Cell, Column, Row, Table

HEADING = 14  # characters per line of a heading


class Best(TableKind):
    """A table of the best method on each task, with the method's values in a few metrics.

    The method is the best in the headline metric. The task's oracles follow in rows of their own.
    """

    needs = ("summary", "datasets")
    made_for = "run"
    section = "overview"

    def table(self, results: Results) -> Table:
        metrics = few_metrics(results.outline.metrics, results.outline.tasks)
        headline, tasks = metric_title(metrics[0]), results.tasks_of(results.summary)
        columns = (
            Column("title", "Data set", shown=False),
            Column("protocol", "Protocol", shown=False),
            Column("method", "Method", width=0.2),
            *(value_column(metric) for metric in metrics),
            Column("n_equal", "Not significantly\ndifferent", width=0.15),
            Column("equal", "Names", shown=False),  # these can be many, so they are only in the CSV file
        )
        several = len({task.protocol for task in tasks}) > 1
        headings = [results.task_title(task) if several else results.dataset_title(task.dataset) for task in tasks]
        headed = zip(tasks, headings, strict=True)
        rows = [row for task, heading in headed for row in rows_of_best(results, task, metrics, heading)]
        notes = [
            f"Means over seeds with 95 % intervals over {results.units}. Bold: this method is also the best in this "
            "metric; †: it is not significantly different from the best in this metric (p ≥ 0.05).",
            f"Not significantly different: how many other methods are not significantly different in {headline}; the "
            "CSV file names them.",
        ]
        if results.oracles_of(results.summary):
            notes.append("An oracle uses test information and is shown only for reference.")
        leaders = (leaders_of(results, task, metrics[0]) for task in tasks)
        named = {method for best, near in leaders for method in (best, *near)}
        remarks = remarks_on_outside(results, [name for name in results.outline.variants if name in named])
        caption = f"The method with the highest {headline} on each data set"
        return Table(columns, rows, caption, [*notes, *remarks], fold=4)


def value_column(metric: str) -> Column:
    """Return the column of a metric's values."""
    title = metric_title(metric).replace(" ", "\n", 1)  # "Per-class precision@5" is wider than its numbers
    return Column(metric.replace("@", "_"), title, metric_form(metric), interval=True)


def leaders_of(results: Results, task: Task, metric: str) -> tuple[str | None, list[str]]:
    """Return the best method of a task, and the methods that are not significantly different from it.

    The best method is None if all methods have the same value, or if none is marked as the best.
    """
    accuracy = results.accuracy(task)
    numbers_of = {method: pick(accuracy, metric, method) for method in results.competitors_of(accuracy)}
    near = [method for method, numbers in numbers_of.items() if numbers and near_best(numbers)]
    return best_of(accuracy, metric, list(numbers_of)), near


def rows_of_best(results: Results, task: Task, metrics: list[str], heading: str) -> Iterator[Row]:
    """Yield the row of the best method of one task, and a row for each of the task's oracles."""
    accuracy, title = results.accuracy(task), results.dataset_title(task.dataset)
    best, near = leaders_of(results, task, metrics[0])
    beaten = len(results.competitors_of(accuracy)) == 1 or beats_random(accuracy, metrics[0])
    name = results.method_title(best, task) if best else None
    number = count(len(near), "method") if near else "none"
    yield Row.of(
        title,
        task.protocol,
        name if beaten or best is None else f"none significantly better than {results.method_title(RANDOM)}",
        *values_of(results, task, metrics, best if beaten else None),
        number if best else "all are the same",
        ", ".join(results.method_title(method, task) for method in near) or None,
        group=heading,
    )
    for oracle in results.oracles_of(accuracy):
        cells = values_of(results, task, metrics, oracle)
        name = results.method_title(oracle, task)
        yield Row.of(title, task.protocol, name, *cells, None, None, group=heading, apart=True)


def values_of(results: Results, task: Task, metrics: list[str], method: str | None) -> list[Cell]:
    """Return a method's cell for each metric on one task; if `method` is None, the cells are empty."""
    accuracy = results.accuracy(task)
    return [accuracy_cells(results, pick(accuracy, metric, method) if method else None)[0] for metric in metrics]


class MethodsByTasks(TableKind):
    """A table of the headline metric, with one row per method and one column per task.

    Oracles come last, each below a rule. A task is left out if all methods have the same value on it.
    """

    needs = ("summary", "datasets")
    made_for = "run"
    section = "result"

    def table(self, results: Results) -> Table:
        metric = few_metrics(results.outline.metrics)[0]
        tasks = [task for task in results.tasks_of(results.summary) if _differs(results, task, metric)]
        columns = [Column("method", "Name", shown=False), Column("title", "Method")]
        for task in tasks:
            key = f"{task.dataset}_{task.protocol}"
            columns.append(Column(key, _heading(results, task), metric_form(metric), interval=True, narrow=True))
        rows = []
        for method in [*results.competitors_of(results.summary), *results.oracles_of(results.summary)]:
            by_task = {task: pick(results.accuracy(task), metric, method) for task in tasks}
            if any(by_task.values()):
                cells = (marked_cell(results, method, *entry) for entry in by_task.items())
                rows.append(Row.of(method, results.method_title(method), *cells, apart=results.is_oracle(method)))
        several = len(results.outline.seeds) > 1
        seeds = f"Mean over {results.outline.number_of_seeds} seeds" if several else "One seed"
        notes = [
            f"{seeds}, with 95 % intervals over {results.units}.",
            "Bold: best; †: not significantly different from the best (p ≥ 0.05). The test is paired: it compares a "
            "method with the best one on the same images. Therefore, a method can have a † although its mean is lower "
            "than that of a method without a †.",
            "For the other metrics, and for how settings were chosen, see the tables of single data sets.",
            *remarks_on_outside(results, [str(row.cells[0].value) for row in rows]),
        ]
        caption = f"{metric_title(metric)} of every method on every data set"
        return Table(columns, rows, caption, notes, fold=6)


def marked_cell(results: Results, method: str, task: Task, numbers: dict[str, Any] | None) -> Cell:
    """Return a method's cell for one task, with the marks that the method has on this task."""
    cell = accuracy_cells(results, numbers)[0]
    return cell if numbers is None else replace(cell, marks=results.marks(method, task))


def _differs(results: Results, task: Task, metric: str) -> bool:
    """Return whether a task has only one method, or methods with different values of a metric.

    For example, the recall@10 of all methods is 1 if there are only ten labels.
    """
    values = results.accuracy(task).filter(metric=metric)
    return len(values) == 1 or values["value"].n_unique() > 1


def _heading(results: Results, task: Task) -> str:
    """Return a task's title, divided into short lines so that six columns fit on a page."""
    lines = [""]
    for word in [*results.short_title(task.dataset).split(), f"({task.protocol})"]:
        joined = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], joined] if len(joined) <= HEADING or not lines[-1] else [*lines, word]
    return "\n".join(lines)
