"""Which epochs of `history` are drawn."""

import polars as pl


def validated_epochs(history: pl.DataFrame) -> pl.DataFrame:
    """Return the validated epochs that every seed reached, with the training seconds up to each (mean over seeds).

    Past the end of the first seed to stop, a mean would be one over the seeds that trained longest.

    Parameters
    ----------
    history : rows of `history` at one place

    Returns
    -------
    The rows that are drawn, with two more columns: `elapsed`, the seed's own seconds of training up to the end of the
    epoch, and `training_seconds`, their mean over the seeds.
    """
    selection = history.filter(pl.col("phase") == "selection").sort("method", "seed", "epoch")
    elapsed = pl.col("seconds").cum_sum().over("method", "seed")
    n_seeds = pl.col("seed").n_unique()
    return (
        selection.with_columns(elapsed=elapsed)
        .filter(pl.col("validation").is_not_null())
        .filter(n_seeds.over("method", "epoch") == n_seeds.over("method"))
        .with_columns(training_seconds=pl.col("elapsed").mean().over("method", "epoch"))
    )


def sampled_epochs(history: pl.DataFrame) -> pl.DataFrame:
    """Return the epochs with trials; those of the refit only where no epoch of the selection recorded any."""
    sampled = history.filter(pl.col("trials_per_step").is_not_null())
    selection = sampled.filter(pl.col("phase") == "selection")
    return selection if len(selection) else sampled
