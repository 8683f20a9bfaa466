"""Show the counts that papers print for their data sets beside the counts of our corresponding data sets."""

from collections.abc import Iterable
from typing import Any, Literal

from vsebench.core.tasks import Task
from vsebench.papers.base import Paper
from vsebench.papers.published import PrintedCell
from vsebench.rendering.metrics import few_metrics
from vsebench.rendering.outline import Outline
from vsebench.rendering.published_vs_ours import PrintedTable
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Column, Row, Table

# Protocol that holds out one label per image -> name of the count (in summary.json) of all pairs, held out or not.
COUNTED = {"regions": "occurrences", "distinct": "pairs"}
COLUMNS = (
    Column("dataset", "Data set", shown=False),
    Column("quantity", "Quantity"),
    Column("published", "Published", "count"),
    Column("here", "Here", "count"),
    Column("ours", "Data here"),
)


def has_dataset(outline: Outline, paper: Paper, cells: Iterable[PrintedCell]) -> bool:
    """Return whether a run has a data set that corresponds to one in a printed table."""
    ours = {paper.tasks[cell.dataset].dataset for cell in cells if cell.dataset in paper.tasks}
    return not ours.isdisjoint(task.dataset for task in outline.tasks)


def our_dataset(results: Results, paper: Paper, dataset: str) -> dict[str, Any] | None:
    """Return the `summary.json` of the run's data set that corresponds to the paper's data set `dataset`.

    The result is None if the run has no such data set.
    """
    task = paper.tasks.get(dataset)
    return results.datasets.get(task.dataset) if task and task.dataset else None


def our_count(results: Results, paper: Paper, dataset: str, column: str) -> float | None:
    """Return our value of a printed count, or None if the run lacks the data set or the count.

    A label that occurs several times on an image counts as one positive label of the image. However, each of its
    occurrences counts as a training pair of the protocol `regions`.

    Parameters
    ----------
    dataset : the data set's name in the paper's CSV file
    column : the column's name in the paper's CSV file
    """
    entry = our_dataset(results, paper, dataset)
    if entry is None:
        return None
    counts = entry["counts"]
    positive = float(counts["labels_per_image"]["mean"])
    match column:
        case "images" | "labels":
            return float(counts[column])
        case "positive_labels_per_image":
            return positive
        case "non_positive_labels_per_image":
            return float(counts["vocabulary"] - positive)
        case "non_positives_per_positive":
            return (counts["vocabulary"] - positive) / positive if positive else None
    ours = paper.tasks[dataset].ours
    test = held_out(results, ours) if ours and ours.protocol in COUNTED else None
    if ours is None or test is None:
        return None
    match column:
        case "test_pairs":
            return float(test)
        case "train_pairs":
            return float(counts[COUNTED[ours.protocol]] - test)
    return None


def held_out(results: Results, task: Task) -> int | None:
    """Return the number of images with a held-out label (`n` in metrics.parquet), or None without results."""
    headline = few_metrics(results.outline.metrics)[0]
    counts = at(results.metrics, task).filter(metric=headline, decision="")["n"].to_list()
    return max(counts) if counts else None


class Statistics(PrintedTable):
    """A table with one row per printed count; our count is empty if the run lacks the data set or the count."""

    needs = ("datasets", "metrics")

    def applies(self, outline: Outline) -> bool:
        return has_dataset(outline, *self.read())

    def table(self, results: Results) -> Table:
        paper, printed = self.read()
        cells = [cell for cell in printed if not cell.is_words]
        order = list(dict.fromkeys(cell.dataset for cell in cells))
        rows = []
        for cell in sorted(cells, key=lambda cell: order.index(cell.dataset)):
            entry, title = our_dataset(results, paper, cell.dataset), paper.task_title(cell.dataset)
            counts = (float(cell.value), our_count(results, paper, cell.dataset, cell.column))
            ours = str(entry["title"]) if entry else ""
            rows.append(Row.of(title, cell.column.replace("_", " "), *counts, ours, group=title))
        notes = (
            "Here: counts of the real data set in this run that corresponds to the paper's.",
            "For contradictions in the published column, see the audit of the papers.",
        )
        return Table(COLUMNS, rows, self.caption(paper), notes)


class StatisticsAsPrinted(PrintedTable):
    """A table with the rows that a paper prints, one per data set or one per count.

    Below each printed row, a row shows our counts if the run has the data. A ratio that the paper prints as "1 / 68" is
    shown as 68.
    """

    needs = ("datasets", "metrics")

    lines: Literal["datasets", "counts"] = "datasets"  # what a row of the printed table stands for

    def applies(self, outline: Outline) -> bool:
        return has_dataset(outline, *self.read())

    def table(self, results: Results) -> Table:
        paper, printed = self.read()
        cells = [cell for cell in printed if not cell.is_words]
        published = {(cell.dataset, cell.column): float(cell.value) for cell in cells}
        datasets = {cell.dataset: paper.task_title(cell.dataset) for cell in cells}
        counts = {cell.column: _words(cell.column) for cell in cells}
        here = {key: our_count(results, paper, *key) for key in published}
        of_data = self.lines == "datasets"
        lines, across = (datasets, counts) if of_data else (counts, datasets)
        first = Column("dataset", "Data set") if of_data else Column("quantity", "Quantity")
        columns = (first, Column("source", "Source"), *(Column(key, title, "count") for key, title in across.items()))
        rows = []
        for line, title in lines.items():
            keys = [(line, column) if of_data else (column, line) for column in across]
            rows.append(Row.of(title, "published", *map(published.get, keys), apart=True))
            ours = [here.get(key) for key in keys]
            if any(value is not None for value in ours):
                rows.append(Row.of(title, "here", *ours))
        return Table(columns, rows, self.caption(paper), _notes(results, paper, list(datasets)))


def _words(column: str) -> str:
    """Return a count's name in words.

    >>> _words("train_pairs"), _words("non_positive_labels_per_image")
    ('Train pairs', 'Non-positive labels per image')
    """
    words = column.replace("non_positive", "non-positive").replace("_", " ")
    return words[:1].upper() + words[1:]


def _notes(results: Results, paper: Paper, datasets: list[str]) -> tuple[str, ...]:
    """Return notes on our data sets.

    If labels occur several times on an image, a note states the mean number of labels per image with and without
    repetitions.
    """
    notes = []
    for dataset in datasets:
        entry = our_dataset(results, paper, dataset)
        if entry is None:
            continue
        counts = entry["counts"]
        notes.append(f"{paper.task_title(dataset)} here: {entry['title']}.")
        if counts["occurrences"] != counts["pairs"]:
            once, repeated = counts["labels_per_image"]["mean"], counts["occurrences_per_image"]["mean"]
            notes.append(
                f"A label that occurs several times on an image counts once: {once:.2f} labels per image; counting "
                f"repetitions, {repeated:.2f}."
            )
    return (*notes, "For contradictions in the published rows, see the audit of the papers.")
