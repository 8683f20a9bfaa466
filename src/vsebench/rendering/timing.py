"""Summarise measured times of scoring, of epochs and of training, for tables and figures."""

from statistics import median

import polars as pl

from vsebench.evaluation.convergence import to_best_epoch
from vsebench.rendering.table import Cell


def scoring_cell(timing: pl.DataFrame) -> Cell:
    """Return a cell with the median time to score one test image, in seconds.

    The interval of the cell extends from the shortest to the longest time of a repeat. `timing` contains the rows of
    one method on one task. If the method was not timed, the cell is empty.
    """
    scored = timing.filter(phase="score").sort("seconds")
    seconds = (scored["seconds"] / scored["images"]).to_list()
    return Cell(median(seconds), seconds[0], seconds[-1]) if seconds else Cell()


def epoch_cell(timing: pl.DataFrame) -> Cell:
    """Return a cell with the median time of an epoch, in seconds.

    For each repeat, the median over its epochs is computed. The value of the cell is the median of these numbers, and
    the interval extends from the smallest to the largest of them. `timing` contains the rows of one method on one task.
    If no epochs were timed, the cell is empty.
    """
    epochs = timing.filter(phase="epoch").group_by("repeat").agg(pl.col("seconds").median())
    seconds = sorted(epochs["seconds"].to_list())
    return Cell(median(seconds), seconds[0], seconds[-1]) if seconds else Cell()


def training_seconds(timing: pl.DataFrame, history: pl.DataFrame) -> float | None:
    """Return the seconds to train a method with its chosen settings, or None if the method was not timed.

    The result is the median time of a fit over repeats. For a method with epochs, only the time up to the best epoch
    counts.

    If the run times only the first epochs, the result is the median over seeds of the time that the method's fits took
    up to the best epoch. Other jobs may have run during these fits. The timed first epochs are not used, because later
    epochs can take longer. In WARP, for example, epochs take longer as the model gets better.

    Parameters
    ----------
    timing : rows of one method on one task
    history : rows of the same method and task
    """
    for phase in ("training", "fit"):
        measured = timing.filter(phase=phase)["seconds"].to_list()
        if measured:
            return float(median(measured))
    of_seeds = to_best_epoch(history)["seconds"].drop_nulls().to_list()
    return float(median(of_seeds)) if of_seeds and not timing.is_empty() else None


def alone_or_not(timing: pl.DataFrame) -> str:
    """Return a clause that says whether other jobs ran while methods with epochs were trained."""
    if timing.filter(phase="training").is_empty():
        return "other jobs ran on the machine while methods with epochs were trained"
    return "timed while no other job of the run was running"
