"""What tables and figures of times share."""

from statistics import median

import polars as pl

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
