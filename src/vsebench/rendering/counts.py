"""Counts that papers print of a data set, computed from our data."""

from vsebench.core.tasks import Task
from vsebench.papers.base import Paper
from vsebench.rendering.metrics import few_metrics
from vsebench.rendering.results import Results, at

# The pairs that one label per image is held out from, by protocol.
COUNTED = {"regions": "occurrences", "distinct": "pairs"}


def our_count(results: Results, paper: Paper, dataset: str, column: str) -> float | None:
    """Return our value of a printed count; None if the run lacks the data set or the count.

    A label that an image has several times counts as one positive label and one pair.

    Parameters
    ----------
    dataset : the paper's name of the data set
    column : the column's name in the paper's CSV file
    """
    task = paper.tasks.get(dataset)
    entry = results.datasets.get(task.dataset) if task and task.dataset else None
    if task is None or entry is None:
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
    test = held_out(results, task.ours) if task.ours and task.ours.protocol in COUNTED else None
    if test is None or task.protocol is None:
        return None
    match column:
        case "test_pairs":
            return float(test)
        case "train_pairs":
            return float(counts[COUNTED[task.protocol]] - test)
    return None


def held_out(results: Results, task: Task) -> int | None:
    """Return the number of images with a held-out label, which is the `n` of the headline metric."""
    headline = few_metrics(results.outline.metrics)[0]
    counts = at(results.metrics, task).filter(metric=headline, decision="")["n"].to_list()
    return max(counts) if counts else None
