"""The data of the page's interactive chart: every metric of every method on every task, and training times."""

from typing import Any

import polars as pl

from vsebench.evaluation.metrics.base import load_metric
from vsebench.rendering.marks import split
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.results import Results, at, leading_metric, near_best
from vsebench.rendering.timing import training_seconds


def numbers(results: Results) -> dict[str, Any]:
    """Return the data of the page's interactive chart, in a form that can be written as JSON.

    Returns
    -------
    dict
        - `tasks`: the name and title of each task, and the index of its leading metric
        - `metrics`: the title of each metric
        - `signs`: for each metric, 1 if large values are better, -1 if small values are better, and 0 if neither
        - `methods`: the name, title, role, colour and marker of each method
        - `values`: lists of task, metric, method, value, both ends of the 95 % interval, and a rating. The rating is
          2 for the best method, 1 for a method that is not significantly different from the best, and 0 otherwise
        - `seconds`: lists of task, method and training seconds. Controls have no such list
        - `marks`: lists of task, method, the marks of fits that ended at a limit, and their meaning in words

        In these lists, tasks, metrics and methods are given by their indices.
    """
    from matplotlib.colors import to_hex

    from vsebench.rendering.style import looks  # imported here because it loads Matplotlib

    look, metrics = looks(results), results.outline.metrics
    tasks, methods = results.tasks_of(results.summary), list(results.outline.variants)
    values, seconds, marked = [], [], []
    for number, task in enumerate(tasks):
        accuracy = results.accuracy(task)
        timing, history = at(results.timing, task), at(results.history, task)
        for entry in accuracy.filter(pl.col("metric").is_in(metrics), decision="").iter_rows(named=True):
            ends = [None if entry[key] is None else round(entry[key], 5) for key in ("value", "ci_low", "ci_high")]
            mark = 2 if entry["best"] else int(near_best(entry))
            values.append([number, metrics.index(entry["metric"]), methods.index(entry["method"]), *ends, mark])
        marks = {method: results.marks(method, task) for method in results.methods_of(accuracy)}
        marked += [[number, methods.index(method), signs, split(signs)[1]] for method, signs in marks.items() if signs]
        for method in results.methods_of(timing):
            trained = training_seconds(timing.filter(method=method), history.filter(method=method))
            if trained is not None and results.outline.variants[method].role != "control":
                seconds.append([number, methods.index(method), float(f"{trained:.3g}")])
    return {
        "tasks": [
            {
                "id": task.name,
                "title": results.short_task_title(task),
                "metric": metrics.index(leading_metric(results, task)),
            }
            for task in tasks
        ],
        "metrics": [metric_title(metric) for metric in metrics],
        "signs": [load_metric(metric).sign for metric in metrics],
        "methods": [
            {
                "id": method,
                "title": results.method_title(method, short=True),
                "role": results.outline.variants[method].role,
                "colour": to_hex(look[method].colour),
                "marker": look[method].marker,
            }
            for method in methods
        ],
        "values": values,
        "seconds": seconds,
        "marks": marked,
    }
