"""What tables and figures of times share."""

from collections.abc import Sequence
from statistics import median

import polars as pl

from vsebench.core.places import Place
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell


def scoring_cell(timing: pl.DataFrame) -> Cell:
    """Return the seconds of scoring one test image: the median over repeats, with their minimum and maximum.

    Parameters
    ----------
    timing : rows of `timing` of one method at one place
    """
    scored = timing.filter(phase="score").sort("seconds")
    seconds = (scored["seconds"] / scored["images"]).to_list()
    return Cell(median(seconds), seconds[0], seconds[-1]) if seconds else Cell()


def epoch_cell(timing: pl.DataFrame) -> Cell:
    """Return the seconds of an epoch: the median over repeats of each repeat's median, with their minimum and maximum.

    Parameters
    ----------
    timing : rows of `timing` of one method at one place
    """
    epochs = timing.filter(pl.col("phase") == "epoch").group_by("repeat").agg(pl.col("seconds").median())
    seconds = sorted(epochs["seconds"].to_list())
    return Cell(median(seconds), seconds[0], seconds[-1]) if seconds else Cell()


def training_seconds(timing: pl.DataFrame, epochs: Sequence[int]) -> float | None:
    """Return the seconds of training a row as its settings say; None where it was not timed.

    The median over repeats of all its epochs, or of its fit. Where the run times only the first epochs, their median
    times the number of epochs that were chosen, mean over seeds.

    Parameters
    ----------
    timing : rows of `timing` of one method at one place
    epochs : the chosen numbers of epochs, one per seed
    """
    for phase in ("training", "fit"):
        measured = timing.filter(phase=phase)["seconds"].to_list()
        if measured:
            return float(median(measured))
    one = epoch_cell(timing).value
    return one * sum(epochs) / len(epochs) if isinstance(one, float) and epochs else None


def chosen_epochs(results: Results, place: Place, row: str) -> list[int]:
    """Return the numbers of epochs that were chosen for a row at a place, one per seed; none for a closed form."""
    keys = (place.dataset, place.protocol, row)
    entries = [one for one in results.settings if (one["dataset"], one["protocol"], one["method"]) == keys]
    return [entry["epochs"] for entry in entries if entry["epochs"]]
