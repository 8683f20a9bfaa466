"""Show the time and the memory that training takes: one row per method and task."""

from collections.abc import Sequence
from statistics import median

import polars as pl

from vsebench.core.tasks import Task
from vsebench.evaluation.convergence import seconds_by_seed, to_best_epoch
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.marks import EPOCHS
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Cell, Column, Row, Table
from vsebench.rendering.timing import alone_or_not, epoch_cell, scoring_cell

COLUMNS = (
    Column("dataset", "Data set", shown=False),
    Column("protocol", "Protocol", shown=False),
    Column("method", "Name", shown=False),
    Column("title", "Method"),
    Column("threads", "Threads", "count"),
    Column("epoch_seconds", "Seconds\nper epoch", "seconds", interval=True),
    Column("epochs_to_convergence", "Epochs to\nconverge", "count"),
    Column("training_seconds", "Seconds\nto train", "seconds", interval=True),
    Column("compile_seconds", "Seconds to\ncompile", "seconds"),
    Column("peak_rss_bytes", "Memory\n(MiB)", "mebibytes"),
    Column("image_seconds", "Seconds per\ntest image", "seconds", interval=True),
    Column("model_bytes", "Model\n(MiB)", "mebibytes"),
)
OF_COMMANDS = Column("command_seconds", "Seconds of\nthe command", "seconds", interval=True)


class TrainingTime(TableKind):
    """A table of the time and the memory of each timed method, grouped by task."""

    needs = ("timing", "history", "datasets")
    made_for = "run"
    section = "training-time"
    position = 1

    def table(self, results: Results) -> Table:
        rows = []
        commands = not results.timing.filter(phase="command").is_empty()
        for task in results.tasks_of(results.timing):
            timing = at(results.timing, task)
            for method in results.methods_of(timing):
                rows.append(row_of(results, task, method, timing.filter(method=method), commands))
        other_cores = results.timing["others"].drop_nulls()
        load = f"at most {max(other_cores.to_list()):.2g}" if len(other_cores) else "an unknown number of"
        machines = results.timing["machine"].drop_nulls().unique().sort().to_list()
        notes: tuple[str, ...] = (
            "Seconds per epoch: median [minimum, maximum] over repeats, each in a fresh process, while no other "
            f"job of the run was running; other processes used {load} cores meanwhile. Only the first epochs are "
            "timed. Later ones can take longer, for example in WARP, which needs more trials as the model gets better.",
            "Convergence: the epoch with the best validation metric. Seconds to train: up to the end of this epoch; "
            f"median over seeds, and for seconds also the range; {alone_or_not(results.timing)}. At least (≥): a limit "
            "stopped the training of at least one seed, whose best epoch may be later. For a method without epochs, "
            "this is the time of the whole fit: median and range over repeats, while no other job of the run was "
            "running.",
            "Compile: compiling the kernels, or loading compiled ones. Memory: the peak of the training process, "
            "maximum over repeats.",
            "Test image: scoring all labels in batches of 256 images on one core, without ranking; median and "
            "range over repeats. Model: the size of its arrays as saved.",
            f"Machine: {'; '.join(machines) or 'unknown'}.",
        )
        if commands:
            notes += (
                "Seconds of the command: a shell command reads the data, trains and scores. It ran once per seed, on "
                "the given number of threads, and other jobs may have run at the same time; median and range over "
                "seeds. Therefore these seconds cannot be compared with the others. Memory: the sum over the command's "
                "processes.",
            )
        columns = (*COLUMNS, OF_COMMANDS) if commands else COLUMNS
        return Table(columns, rows, "Training time, scoring time and memory", notes, fold=5)


def row_of(results: Results, task: Task, method: str, timed: pl.DataFrame, commands: bool) -> Row:
    """Return the row of one method on one task.

    `timed` contains the method's rows of the table `timing` on the task. If `commands` is true, the row ends with a
    cell for the seconds of the method's command.
    """
    compiled = timed.filter(phase="compile").group_by("repeat").agg(pl.col("seconds").sum())["seconds"]
    converged = to_best_epoch(at(results.history, task).filter(method=method)).drop_nulls()
    fits = timed.filter(phase="fit")["seconds"].to_list()  # of a method without epochs
    seconds = fits or list(seconds_by_seed(timed).values()) or converged["seconds"].to_list()
    of_command = sorted(timed.filter(phase="command")["seconds"].to_list())
    last = (Cell(median(of_command), of_command[0], of_command[-1]) if of_command else Cell(),) if commands else ()
    stopped = EPOCHS in results.marks(method, task)
    return Row.of(
        task.dataset,
        task.protocol,
        method,
        results.method_title(method, task),
        timed["threads"].first(),  # type: ignore[arg-type]
        epoch_cell(timed),
        at_least(converged["epoch"].to_list(), stopped),
        at_least(seconds, stopped) if stopped or not seconds else Cell(median(seconds), min(seconds), max(seconds)),
        median(compiled.to_list()) if len(compiled) else None,
        timed["peak_rss_bytes"].max(),  # type: ignore[arg-type]
        scoring_cell(timed),
        timed["model_bytes"].max(),  # type: ignore[arg-type]
        *last,
        group=results.task_title(task),
    )


def at_least(values: Sequence[float], stopped: bool) -> Cell:
    """Return a cell with the median of the values, or an empty cell if there are no values.

    If `stopped` is true, a limit stopped some of the fits, so the median is marked as a lower bound.
    """
    return Cell(median(values), bound="≥" if stopped else "") if values else Cell()
