"""Counts of data sets that papers print, computed from our data."""

from collections.abc import Iterable
from typing import Any

from vsebench.core.tasks import Task
from vsebench.papers.base import Paper
from vsebench.papers.published import PrintedCell
from vsebench.rendering.metrics import few_metrics
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at

# Protocol that holds out one label per image -> the count of the pairs that it is held out from.
COUNTED = {"regions": "occurrences", "distinct": "pairs"}


def has_dataset(outline: Outline, paper: Paper, cells: Iterable[PrintedCell]) -> bool:
    """Return whether a run has one of the data sets of a printed table."""
    ours = {paper.tasks[cell.dataset].dataset for cell in cells if cell.dataset in paper.tasks}
    return not ours.isdisjoint(task.dataset for task in outline.tasks)


def our_dataset(results: Results, paper: Paper, dataset: str) -> dict[str, Any] | None:
    """Return the `summary.json` of our data set that corresponds to one of the paper's; None if the run lacks it."""
    task = paper.tasks.get(dataset)
    return results.datasets.get(task.dataset) if task and task.dataset else None


def our_count(results: Results, paper: Paper, dataset: str, column: str) -> float | None:
    """Return our value of a printed count; None if the run lacks the data set or the count.

    A label that an image has several times counts as one positive label and one pair.

    Parameters
    ----------
    dataset : the paper's name of the data set
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
    """Return the number of images with a held-out label, the `n` of the headline metric; None without results."""
    headline = few_metrics(results.outline.metrics)[0]
    counts = at(results.metrics, task).filter(metric=headline, decision="")["n"].to_list()
    return max(counts) if counts else None
