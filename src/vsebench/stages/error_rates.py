"""Simulate how often the paired test over images and seeds finds a difference, on one task and over several tasks."""

import argparse
from itertools import product
from pathlib import Path

from tqdm import tqdm

from vsebench.core.storage import replacing
from vsebench.evaluation.error_rates import NOISES, Noise, Simulation
from vsebench.rendering.table import Cell, Column, Row, Table
from vsebench.rendering.writers.csv import to_csv
from vsebench.rendering.writers.markdown import to_markdown

SEEDS = (2, 3, 5, 10)
RATIOS = (0.0, 0.5, 1.0, 2.4, 4.0, 10.0)
# Difference; noise; and the standard deviation between seeds of the methods that are not compared, relative to that of
# the compared methods.
CASES: tuple[tuple[float, Noise, float], ...] = (
    *((0.0, noise, 1.0) for noise in NOISES),
    *((0.0, "half", others) for others in (0.5, 0.25)),
    (4.0, "half", 1.0),
)
COLUMNS = (Column("difference", "Difference", "count"), Column("noise", "Noise"), Column("seeds", "Seeds", "count"))

POOLED_SHARE = 2  # a group of tasks takes longer, so one group is simulated for every POOLED_SHARE single tasks
POOLED_TASKS = (2, 3, 4)
# Difference, noise, ratios, and whether all methods help to estimate the variance between seeds.
POOLED_CASES: tuple[tuple[float, Noise, tuple[float, ...], bool], ...] = (
    *((0.0, noise, (0.0, 1.0, 4.0), True) for noise in NOISES),
    *((4.0, "half", (2.4,), helped) for helped in (False, True)),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tasks",
        type=int,
        required=True,
        help="number of simulated tasks per cell of the first table; the second uses half as many groups of tasks",
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help="CSV file to write; <out>-pooled.csv and both tables in Markdown are written next to it",
    )


def run(arguments: argparse.Namespace) -> None:
    write(single(arguments.tasks), arguments.out)
    write(pooled_effects(arguments.tasks // POOLED_SHARE), arguments.out.with_stem(f"{arguments.out.stem}-pooled"))


def single(tasks: int) -> Table:
    """Return a table that shows how often the test finds a difference on one task.

    The table has one row for each case in `CASES` and each number of seeds in `SEEDS`. `tasks` is the number of
    simulated tasks for each row.
    """
    rows = []
    for (difference, noise, others), seeds in tqdm(list(product(CASES, SEEDS)), unit="row"):
        rates = Simulation(seeds, RATIOS, difference, noise, others=others).share_found(tasks)[:, 0].tolist()
        rows.append(Row(tuple(map(Cell, (difference, noise, seeds, f"{others:g}", *rates)))))
    ratios = (Column(f"ratio_{ratio:g}", f"Ratio {ratio:g}", "score") for ratio in RATIOS)
    columns = (*COLUMNS, Column("others", "Others"), *ratios)
    return Table(columns, tuple(rows), "Share of simulated tasks where the test finds a difference between two methods")


def pooled_effects(groups: int) -> Table:
    """Return a table that shows how often the test finds a difference in the mean over several tasks.

    The table has one row for each case in `POOLED_CASES` and each number of seeds in `SEEDS`. The numbers are shares of
    groups in which the test finds a difference. If a case has several ratios, the largest share is shown. `groups` is
    the number of simulated groups of tasks for each row.
    """
    rows = []
    for (difference, noise, ratios, helped), seeds in tqdm(list(product(POOLED_CASES, SEEDS)), unit="row"):
        simulations = (Simulation(seeds, ratios, difference, noise, POOLED_TASKS, same) for same in (False, True))
        rates = [rate for each in simulations for rate in each.share_found(groups, helped).max(axis=0).tolist()]
        texts = ", ".join(f"{ratio:g}" for ratio in ratios), "all methods" if helped else "two methods"
        rows.append(Row(tuple(map(Cell, (difference, noise, seeds, *texts, *rates)))))
    columns = (
        *COLUMNS,
        Column("ratios", "Ratios"),
        Column("variance", "Variance of seeds from"),
        *(Column(f"tasks_{n}", f"{n} tasks", "score") for n in POOLED_TASKS),
        *(Column(f"tasks_{n}_same_images", f"{n} tasks, same images", "score") for n in POOLED_TASKS),
    )
    caption = (
        "Share of simulated groups of tasks where the test finds a difference between two methods in the mean over the "
        "group's tasks: the largest share over the ratios"
    )
    return Table(columns, tuple(rows), caption)


def write(table: Table, out: Path) -> None:
    """Write a table as CSV and Markdown."""
    texts = {out: to_csv(table), out.with_suffix(".md"): to_markdown(table)}
    for path, text in texts.items():
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
