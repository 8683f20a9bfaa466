"""Access to the results of a run, in display order, for tables, figures and the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

from vsebench.core.csv_files import read_csv
from vsebench.core.errors import UserError
from vsebench.core.modules import modules_in
from vsebench.core.schemas import CLAIMS, COMPARISON, OF_RESULTS, Schema
from vsebench.core.storage import read_json, read_table
from vsebench.core.tasks import Entry, Task
from vsebench.papers.verdict import SIGNIFICANT
from vsebench.rendering.marks import EPOCHS, marks_of
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.outline import GATHERED, LeftOut, Outline, read_outline

RANDOM = "random"  # the name of the control that every other method should beat


@dataclass(frozen=True)
class Results:
    """The results of a run, which are read from the files in `folder`.

    Each file is read when it is first used. The tables have the columns of `core.schemas`. `scaling` and `sweeps` are
    None if the run does not produce them.
    """

    folder: Path

    @cached_property
    def outline(self) -> Outline:
        """The outline of the run, after the stage `match_packs` has left out methods of packs.

        If a method of a pack is left out of a task, it is listed in `left_out` and missing from the `entries` of this
        task.
        """
        outline = read_outline(self.folder / "outline.json")
        if "packs" not in outline.files:
            return outline
        return outline.without([LeftOut(**left) for left in self.packs["left_out"]])

    @cached_property
    def packs(self) -> dict[str, list[dict[str, Any]]]:
        """The content of packs.json, the file that the stage `match_packs` writes.

        `left_out` lists the methods of packs that are left out of a task. `settings` lists the entries of the other
        methods, which come from the settings.json of their packs.
        """
        packs: dict[str, list[dict[str, Any]]] = read_json(self.folder / GATHERED["packs"])
        return packs

    @cached_property
    def summary(self) -> pl.DataFrame:
        return self._table("summary")

    @cached_property
    def metrics(self) -> pl.DataFrame:
        return self._table("metrics")

    @cached_property
    def timing(self) -> pl.DataFrame:
        """The table of seconds and memory of each timed method; empty if the run times no method."""
        return self._read("timing")

    @cached_property
    def history(self) -> pl.DataFrame:
        """The table with a row for each epoch of each fit; empty if no method of the run is trained in epochs."""
        return self._read("history")

    @cached_property
    def cold(self) -> pl.DataFrame:
        """The table of metrics on images with and without training labels; empty if all images have training labels."""
        return self._read("cold")

    @cached_property
    def by_frequency(self) -> pl.DataFrame:
        """The table of the recall of frequent and of rare labels; empty if no label has a training image."""
        return self._read("by_frequency")

    @cached_property
    def scaling(self) -> pl.DataFrame | None:
        return self._table("scaling") if "scaling" in self.outline.files else None

    @cached_property
    def sweeps(self) -> pl.DataFrame | None:
        return self._table("sweeps") if "sweeps" in self.outline.files else None

    @cached_property
    def claims(self) -> pl.DataFrame:
        return self._csv("claims", CLAIMS)

    @cached_property
    def comparison(self) -> pl.DataFrame:
        return self._csv("comparison", COMPARISON)

    @cached_property
    def settings(self) -> list[dict[str, Any]]:
        """The entries of settings.json, one for each fitted model, followed by the entries of models from packs."""
        of_packs = self.packs["settings"] if "packs" in self.outline.files else []
        return self._list("settings") + of_packs

    @cached_property
    def datasets(self) -> dict[str, dict[str, Any]]:
        """The content of `summary.json` of each data set, by the name of the data set."""
        return {entry["name"]: entry for entry in self._list("datasets")}

    @cached_property
    def word_vectors(self) -> list[dict[str, Any]]:
        """The content of `word_vectors.json` of each data set whose labels have word vectors."""
        return self._list("word_vectors")

    @cached_property
    def machine(self) -> dict[str, Any]:
        path = self.folder / GATHERED["machine"]
        value = read_json(path)
        if not isinstance(value, dict) or not value:
            raise UserError(f"{path}: must be a JSON object with entries; delete it and run again")
        return value

    def analysis(self, name: str) -> pl.DataFrame:
        """Return the table of an analysis; it is empty if the run does not make this analysis."""
        # `load_analysis` is not imported: its module imports the models, on which no table depends.
        schema: Schema = import_module(modules_in("evaluation/analyses")[name]).SCHEMA
        if name in self.outline.files:
            return read_table(self.folder / GATHERED[name], schema)
        return pl.DataFrame(schema=schema)

    def tasks_of(self, frame: pl.DataFrame) -> list[Task]:
        """Return the tasks that occur in a table, in display order."""
        pairs = set(frame.select("dataset", "protocol").unique().iter_rows())
        return [task for task in self.outline.tasks if (task.dataset, task.protocol) in pairs]

    def methods_of(self, frame: pl.DataFrame) -> list[str]:
        """Return the names in a table's column `method`, in display order."""
        names = set(frame["method"].unique())
        return [method for method in self.outline.variants if method in names]

    def competitors_of(self, frame: pl.DataFrame) -> list[str]:
        """Return the methods in a table except the oracles, in display order."""
        return [method for method in self.methods_of(frame) if not self.is_oracle(method)]

    def oracles_of(self, frame: pl.DataFrame) -> list[str]:
        """Return the oracles in a table, in display order."""
        return [method for method in self.methods_of(frame) if self.is_oracle(method)]

    @property
    def units(self) -> str:
        """The units over which intervals and tests are computed, in words: "images and seeds" or "images"."""
        return "images and seeds" if len(self.outline.seeds) > 1 else "images"

    def is_oracle(self, method: str) -> bool:
        """Return whether a method is an oracle, which uses test information and is an upper bound, not a competitor."""
        return self.outline.variants[method].role == "oracle"

    def method_title(self, method: str, *tasks: Task, short: bool = False) -> str:
        """Return the title of a method, with the marks of its fits on the given tasks.

        With `short`, the short title is used if the method has one. An oracle is marked as a ceiling, unless its title
        ends with "(oracle)".
        """
        title = self.outline.variants[method].shown(short)
        title += " (ceiling)" if self.is_oracle(method) and not title.endswith("(oracle)") else ""
        return title + self.marks(method, *tasks)

    def entry_title(self, name: str, *tasks: Task, short: bool = False) -> str:
        """Return the title of a method, or of a method with a decision.

        `name` has the form "method" or "method/decision". The title contains the marks of the fits on the given
        tasks. With `short`, short titles are used.
        """
        entry = Entry.of(name)
        decision = self.decision_title(entry.decision, short) + self.decision_marks(name, *tasks)
        return ", ".join([self.method_title(entry.variant, *tasks, short=short), *filter(None, [decision])])

    def marks(self, method: str, *tasks: Task) -> str:
        """Return the marks of a method's fits on the given tasks.

        The result is empty if no fit has a mark. See `rendering/marks.py` for the meanings of the marks.
        """
        return marks_of(fit for task in tasks for fit in self.fits.get((task, method), ()))

    @cached_property
    def fits(self) -> dict[tuple[Task, str], list[dict[str, Any]]]:
        """The records of fits (entries of `settings`), grouped by task and method."""
        fits: dict[tuple[Task, str], list[dict[str, Any]]] = {}
        for entry in self.settings:
            fits.setdefault((Task(entry["dataset"], entry["protocol"]), entry["method"]), []).append(entry)
        return fits

    def decision_title(self, name: str, short: bool = False) -> str:
        """Return the title of a decision, or "" if there is no such decision; an oracle is marked as a ceiling."""
        decision = self.outline.decisions.get(name)
        return decision.shown(short) + (" (ceiling)" if decision.role == "oracle" else "") if decision else ""

    def decision_marks(self, name: str, *tasks: Task) -> str:
        """Return the mark of a decision, named "method/decision", whose training its limit stopped on one of the tasks.

        The result is empty if no training was stopped.
        """
        return EPOCHS if any((task, name) in self.stopped_decisions for task in tasks) else ""

    @cached_property
    def stopped_decisions(self) -> dict[tuple[Task, str], list[int]]:
        """The seeds with which the limit on epochs stopped the training of a decision.

        The keys contain the task and "method/decision".
        """
        seeds: dict[tuple[Task, str], list[int]] = {}
        for entry in self._list("decisions") if "decisions" in self.outline.files else []:
            task = Task(entry["dataset"], entry["protocol"])
            for name, record in entry["decisions"].items():
                if record.get("at_limit"):
                    seeds.setdefault((task, f"{entry['method']}/{name}"), []).append(entry["seed"])
        return seeds

    @property
    def short_titles(self) -> dict[str, str]:
        """The short titles of methods and decisions, by their titles; a title without a short title stays as it is."""
        described = [*self.outline.variants.values(), *self.outline.decisions.values()]
        return {entry.title: entry.shown(short=True) for entry in described}

    def decided_of(self, frame: pl.DataFrame) -> list[Entry]:
        """Return the pairs of a method and a decision in a table, in display order of methods and then of decisions."""
        pairs = set(frame.select("method", "decision").unique().iter_rows())
        return [Entry(*pair) for pair in product(self.outline.variants, self.outline.decisions) if pair in pairs]

    def is_simulated(self, dataset: str) -> bool:
        return bool(self.datasets.get(dataset, {}).get("simulated", False))

    def dataset_title(self, dataset: str) -> str:
        """Return the title of a data set, with the addition "(simulated)" if the data are simulated."""
        return self._marked(dataset, str(self.datasets.get(dataset, {}).get("title", dataset)))

    def _marked(self, dataset: str, title: str) -> str:
        """Return a title of a data set with a capital first letter, and marked if the data are simulated."""
        if self.is_simulated(dataset) and "simulated" not in title.lower():
            title += " (simulated)"
        return title[:1].upper() + title[1:]

    def short_title(self, dataset: str) -> str:
        """Return a data set's short title.

        If the data set has no short title, the part of its title in parentheses is left out, except for "(simulated)".
        If another data set would then have the same title, the full title is returned.
        """
        own = self.datasets.get(dataset, {}).get("short")
        if own is not None:
            return self._marked(dataset, own)
        title = self.dataset_title(dataset)
        short = title.partition(" (")[0] + (" (simulated)" if title.endswith(" (simulated)") else "")
        others = (self.dataset_title(name).partition(" (")[0] for name in self.datasets if name != dataset)
        return title if short.partition(" (")[0] in others else short

    def left_out_of(self, task: Task) -> list[str]:
        """Return one sentence for each reason why methods or metrics are left out of a task."""
        outline = self.outline
        titles: dict[str, list[str]] = {}
        for left in outline.left_out:
            if Task(left.dataset, left.protocol) == task:
                titles.setdefault(left.reason, []).append(self.method_title(left.method))
        for missing in outline.metrics_left_out:
            if Task(missing.dataset, missing.protocol) == task:
                titles.setdefault(missing.reason, []).append(metric_title(missing.metric))
        return [f"Left out: {', '.join(names)} ({reason.rstrip('.')})." for reason, names in titles.items()]

    def task_title(self, task: Task) -> str:
        return f"{self.dataset_title(task.dataset)}, protocol {task.protocol}"

    def short_task_title(self, task: Task) -> str:
        """Return the title of a task for a menu or a legend, with the short title of the data set if there is one."""
        own = self.datasets.get(task.dataset, {}).get("short") is not None
        return f"{self.short_title(task.dataset)}, protocol {task.protocol}" if own else self.task_title(task)

    def accuracy(self, task: Task) -> pl.DataFrame:
        """Return the rows of `summary` for one task."""
        rows = at(self.summary, task)
        if rows.is_empty():
            path = self.folder / GATHERED["summary"]
            raise UserError(f"{path}: no results for {task.dataset} with protocol {task.protocol}; run again")
        return rows

    def _read(self, name: str) -> pl.DataFrame:
        return read_table(self.folder / GATHERED[name], OF_RESULTS[name])

    def _table(self, name: str) -> pl.DataFrame:
        frame = self._read(name)
        if frame.is_empty():
            raise UserError(f"{self.folder / GATHERED[name]}: has no rows; delete it and run again")
        return frame

    def _csv(self, name: str, schema: Schema) -> pl.DataFrame:
        path = self.folder / GATHERED[name]
        try:
            return pl.read_csv(read_csv(path), schema=schema)
        except pl.exceptions.PolarsError as error:
            reason = " ".join(str(error).split())
            raise UserError(f"{path}: not a readable list of {name} ({reason}); delete it and run again") from None

    def _list(self, name: str) -> list[dict[str, Any]]:
        path = self.folder / GATHERED[name]
        value = read_json(path)
        if not isinstance(value, list) or not value:
            raise UserError(f"{path}: must be a JSON list with entries; delete it and run again")
        return value


def at(frame: pl.DataFrame, task: Task) -> pl.DataFrame:
    """Return the rows of a table for one task."""
    return frame.filter(dataset=task.dataset, protocol=task.protocol)


def pick(accuracy: pl.DataFrame, metric: str, name: str) -> dict[str, Any] | None:
    """Return the row of `summary` for one metric and one method, or None if there is no such row.

    `accuracy` contains the rows of `summary` for one task. `name` has the form "method" or "method/decision".
    """
    entry = Entry.of(name)
    entries = accuracy.filter(method=entry.variant, decision=entry.decision, metric=metric)
    return entries.row(0, named=True) if len(entries) else None


def best_of(accuracy: pl.DataFrame, metric: str, methods: Sequence[str]) -> str | None:
    """Return the method that is marked as the best in a metric.

    The result is None if no method is marked, or if several methods were compared and all have the same value.
    """
    numbers_of = {method: numbers for method in methods if (numbers := pick(accuracy, metric, method))}
    if len(numbers_of) > 1 and len({numbers["value"] for numbers in numbers_of.values()}) == 1:
        return None  # for example, recall@10 with ten labels
    return next((method for method, numbers in numbers_of.items() if numbers["best"]), None)


def leading_metric(results: Results, task: Task) -> str:
    """Return the first of the run's `few_metrics` in which the methods on a task have different values.

    For example, recall@10 is 1 for every method if there are only ten labels. If the methods differ in none of these
    metrics, the first metric is returned.
    """
    accuracy, metrics = results.accuracy(task), few_metrics(results.outline.metrics)
    for metric in metrics:
        entries = (pick(accuracy, metric, method) for method in results.competitors_of(accuracy))
        if len({numbers["value"] for numbers in entries if numbers}) > 1:
            return metric
    return metrics[0]


def beats_random(accuracy: pl.DataFrame, metric: str) -> bool:
    """Return whether the best method of a task is significantly better than `random`; True if `random` was not run."""
    numbers = pick(accuracy, metric, RANDOM)
    return numbers is None or (numbers["p_adjusted"] is not None and not near_best(numbers))


def best_sentence(results: Results, task: Task) -> str:
    """Return a sentence on the best method of a task in the task's leading metric; empty if no method is the best."""
    accuracy, metric = results.accuracy(task), leading_metric(results, task)
    competitors = results.competitors_of(accuracy)
    best = best_of(accuracy, metric, competitors)
    entry = pick(accuracy, metric, best) if best else None
    if best is None or entry is None:
        return ""
    if len(competitors) > 1 and not beats_random(accuracy, metric):
        return f"{results.task_title(task)}: no method is significantly better than {results.method_title(RANDOM)}."
    numbers = f"{results.method_title(best)}, {entry['value']:.4f}"
    return f"{results.task_title(task)}: best {metric_title(metric)} on the test labels: {numbers}."


def near_best(entry: dict[str, Any]) -> bool:
    """Return whether the entry in a row of `summary` is not significantly different from the best entry.

    For the best entry itself, the result is False.
    """
    return entry["p_adjusted"] is not None and entry["p_adjusted"] >= SIGNIFICANT
