"""The epochs of `history` that figures show, and the name of their validation metric."""

import polars as pl

from vsebench.core.tasks import Task
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.results import Results


def validated_epochs(history: pl.DataFrame) -> pl.DataFrame:
    """Return the validated epochs that every seed reached, with the training seconds up to each (mean over seeds).

    After the first seed has stopped, a mean would cover only the seeds that trained longer.

    Parameters
    ----------
    history : rows of `history` on one task

    Returns
    -------
    Rows of `history` with two more columns: `elapsed`, the seconds of training up to the end of the epoch with that
    seed, and `training_seconds`, their mean over seeds.
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
    """Return the epochs with recorded trials: those of the selection if there are any, otherwise those of the refit."""
    sampled = history.filter(pl.col("trials_per_step").is_not_null())
    selection = sampled.filter(pl.col("phase") == "selection")
    return selection if len(selection) else sampled


def validation_metric(results: Results, task: Task) -> str:
    """Return the title of the metric by which the epochs were chosen."""
    names = {
        entry["validation_metric"]
        for entry in results.settings
        if Task(entry["dataset"], entry["protocol"]) == task and entry["validation_metric"]
    }
    return metric_title(names.pop()) if len(names) == 1 else "metric"
