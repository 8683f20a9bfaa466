"""The training time to convergence, that is, to the end of the epoch with the best validation metric."""

import polars as pl


def to_best_epoch(history: pl.DataFrame) -> pl.DataFrame:
    """Return the epoch with the best validation metric for each seed.

    `history` contains the rows of the table HISTORY of `core.schemas` for a method on a task. The result has a row for
    each seed, in ascending order, with the columns seed, epoch and seconds. The column seconds is the training time up
    to the end of the epoch, without validation.
    """
    epochs = history.filter(phase="selection").sort("seed", "epoch")
    epochs = epochs.with_columns(seconds=pl.col("seconds").cum_sum().over("seed"))
    best = pl.col("validation").arg_max()
    return epochs.group_by("seed", maintain_order=True).agg(pl.col("epoch", "seconds").get(best))


def seconds_by_seed(timing: pl.DataFrame) -> dict[int, float]:
    """Return the training time of each seed up to its best epoch, in seconds.

    `timing` contains the rows of the table TIMING of `core.schemas` for a method on a task. These times were measured
    while no other job was running. The result is a dictionary from seeds, in ascending order, to the median time over
    all repeats. It has no entries if the run does not time training up to the best epoch (`timing.to_best_epoch`).
    """
    timed = timing.filter(phase="training").group_by("seed").agg(pl.col("seconds").median()).sort("seed")
    return dict(timed.select("seed", "seconds").iter_rows())
