"""Summarise measured times of scoring, of epochs and of training, for tables and figures."""

from collections.abc import Sequence
from statistics import median

import polars as pl

from vsebench.core.tasks import Task
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell


def scoring_cell(timing: pl.DataFrame) -> Cell:
    """Return the time to score one test image, in seconds: median, minimum and maximum over repeats.

    `timing` contains the rows of one method on one task.
    """
    scored = timing.filter(phase="score").sort("seconds")
    seconds = (scored["seconds"] / scored["images"]).to_list()
    return Cell(median(seconds), seconds[0], seconds[-1]) if seconds else Cell()


def epoch_cell(timing: pl.DataFrame) -> Cell:
    """Return the time of an epoch, in seconds: the median, minimum and maximum of the repeats' medians.

    `timing` contains the rows of one method on one task.
    """
    epochs = timing.filter(phase="epoch").group_by("repeat").agg(pl.col("seconds").median())
    seconds = sorted(epochs["seconds"].to_list())
    return Cell(median(seconds), seconds[0], seconds[-1]) if seconds else Cell()


def training_seconds(timing: pl.DataFrame, epochs: Sequence[int]) -> float | None:
    """Return the seconds to train a method with its chosen settings; None if it was not timed.

    The result is the median over repeats of the time of all epochs, or of the fit. If the run times only the first
    epochs, it is the median time of an epoch multiplied by the chosen number of epochs (mean over seeds).

    Parameters
    ----------
    timing : rows of one method on one task
    epochs : the chosen numbers of epochs, one per seed
    """
    for phase in ("training", "fit"):
        measured = timing.filter(phase=phase)["seconds"].to_list()
        if measured:
            return float(median(measured))
    seconds = epoch_cell(timing).value
    return seconds * sum(epochs) / len(epochs) if isinstance(seconds, float) and epochs else None


def chosen_epochs(results: Results, task: Task, method: str) -> list[int]:
    """Return the chosen numbers of epochs of a method on a task, one per seed; empty for a method without epochs."""
    keys = (task.dataset, task.protocol, method)
    entries = [entry for entry in results.settings if (entry["dataset"], entry["protocol"], entry["method"]) == keys]
    return [entry["epochs"] for entry in entries if entry["epochs"]]
