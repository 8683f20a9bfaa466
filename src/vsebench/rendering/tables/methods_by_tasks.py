"""All methods on all tasks in one metric, for a paper that has space for one table only."""

from vsebench.core.tasks import Task
from vsebench.rendering.accuracy import accuracy_cells
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.results import Results, pick
from vsebench.rendering.table import Column, Row, Table

HEADING = 14  # characters per line of a heading


class MethodsByTasks(TableKind):
    """Methods by tasks in the headline metric; oracles follow in rows set apart."""

    needs = ("summary", "datasets")
    made_for = "run"
    section = "result"

    def table(self, results: Results) -> Table:
        metric = few_metrics(results.outline.metrics)[0]
        tasks = [task for task in results.tasks_of(results.summary) if _differs(results, task, metric)]
        columns = [Column("method", "Name", shown=False), Column("title", "Method")]
        for task in tasks:
            key = f"{task.dataset}_{task.protocol}"
            columns.append(Column(key, _heading(results, task), "score", interval=True, narrow=True))
        rows = []
        for method in [*results.competitors_of(results.summary), *results.oracles_of(results.summary)]:
            by_task = [pick(results.accuracy(task), metric, method) for task in tasks]
            if any(by_task):
                cells = (accuracy_cells(results, numbers)[0] for numbers in by_task)
                rows.append(Row.of(method, results.method_title(method), *cells, apart=results.is_oracle(method)))
        several = len(results.outline.seeds) > 1
        notes = (
            f"Mean over {len(results.outline.seeds)} seeds." if several else "One seed.",
            "Bold: best; †: not significantly different from the best (p ≥ 0.05). For the other metrics, see the "
            "tables of the single data sets. These and the CSV file contain the 95 % intervals.",
        )
        caption = f"{metric_title(metric)} of every method on every data set"
        return Table(columns, rows, caption, notes, fold=6)


def _differs(results: Results, task: Task, metric: str) -> bool:
    """Return whether a metric differs between methods on a task; with ten labels, recall@10 is 1 for all methods."""
    values = results.accuracy(task).filter(metric=metric)
    return len(values) == 1 or values["value"].n_unique() > 1


def _heading(results: Results, task: Task) -> str:
    """Return a task's title in short lines, so that six columns fit."""
    lines = [""]
    for word in [*results.short_title(task.dataset).split(), f"({task.protocol})"]:
        joined = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], joined] if len(joined) <= HEADING or not lines[-1] else [*lines, word]
    return "\n".join(lines)
