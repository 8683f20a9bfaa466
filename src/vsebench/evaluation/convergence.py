"""The training time to convergence, the epoch with the best validation metric."""

import polars as pl


def to_best_epoch(history: pl.DataFrame) -> pl.DataFrame:
    """Find the best epoch of each seed in the history of one method on one data set and protocol.

    Returns one row per seed, ascending: seed, epoch, seconds (of training without validation, up to that epoch's end).
    """
    epochs = history.filter(phase="selection").sort("seed", "epoch")
    epochs = epochs.with_columns(seconds=pl.col("seconds").cum_sum().over("seed"))
    best = pl.col("validation").arg_max()
    return epochs.group_by("seed", maintain_order=True).agg(pl.col("epoch", "seconds").get(best))


def seconds_by_seed(timing: pl.DataFrame) -> dict[int, float]:
    """Return the training seconds up to the chosen number of epochs, timed while no other job was running.

    `timing` contains the rows of TIMING of one method on one data set and protocol. Returns the median over each seed's
    repeats, in the order of the seeds; empty if the run does not time all epochs (`timing.to_best_epoch`).
    """
    timed = timing.filter(phase="training").group_by("seed").agg(pl.col("seconds").median()).sort("seed")
    return dict(timed.select("seed", "seconds").iter_rows())
