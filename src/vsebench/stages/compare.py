"""Published numbers beside ours, wherever data and protocol are the same; simulated data is never compared.

`config/published/comparable.yaml` says which of our data sets and rows stand for which of the papers'. Accuracies are
inside if the published value lies in our 95 % interval, which is over images and seeds, and outside if not. Times are
from other machines, so only their ratios mean anything, and they get no verdict.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from vsebench.core.configuration import Strict, read_config
from vsebench.core.storage import read_json, read_parquet, replacing
from vsebench.evaluation.convergence import to_best_epoch
from vsebench.evaluation.metrics import METRICS
from vsebench.papers.audit.cells import Cell, read_cells

COLUMNS = {
    "paper": pl.String,
    "table": pl.String,
    "row": pl.String,
    "column": pl.String,
    "dataset": pl.String,
    "protocol": pl.String,
    "method": pl.String,
    "unit": pl.String,
    "published": pl.Float64,
    "ours": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "difference": pl.Float64,
    "verdict": pl.String,
}
SECONDS = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0}


class Comparable(Strict):
    """What can be compared (`config/published/comparable.yaml`)."""

    datasets: dict[str, dict[str, list[str]]]  # paper -> its data set -> our data set and protocol
    methods: dict[str, list[str]]  # the papers' method -> our rows


@dataclass(frozen=True)
class Ours:
    """The gathered results of a run."""

    summary: pl.DataFrame
    timing: pl.DataFrame
    history: pl.DataFrame
    datasets: dict[str, dict[str, Any]]

    def accuracy(self, place: tuple[str, str], method: str, column: str) -> tuple[float, float, float] | None:
        """Return a metric's mean and interval."""
        metric, _, cutoff = column.partition("@")
        found = self._of(self.summary, place, method).filter(
            pl.col("metric") == metric, pl.col("cutoff").eq_missing(pl.lit(int(cutoff) if cutoff else None, pl.Int32))
        )
        return found.select("value", "ci_low", "ci_high").row(0) if len(found) else None

    def seconds_of_epoch(self, place: tuple[str, str], method: str) -> tuple[float, float, float] | None:
        """Return the median, lowest and highest seconds of an epoch over the repeats."""
        epochs = self._of(self.timing, place, method).filter(phase="epoch")
        seconds = epochs.group_by("repeat").agg(pl.col("seconds").median())["seconds"].to_list()
        return (median(seconds), min(seconds), max(seconds)) if seconds else None

    def seconds_to_converge(self, place: tuple[str, str], method: str) -> tuple[float, float, float] | None:
        """Return the median, lowest and highest training seconds up to the best epoch over the seeds."""
        best = to_best_epoch(self._of(self.history, place, method))["seconds"].to_list()
        return (median(best), min(best), max(best)) if best else None

    @staticmethod
    def _of(frame: pl.DataFrame, place: tuple[str, str], method: str) -> pl.DataFrame:
        return frame.filter(dataset=place[0], protocol=place[1], method=method)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--published", type=Path, nargs="+", required=True, help="CSV files of published numbers")
    parser.add_argument("--comparable", type=Path, required=True, help="comparable.yaml")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="comparison.csv")


def run(arguments: argparse.Namespace) -> None:
    comparable = read_config(Comparable, arguments.comparable)
    tables = {name: read_parquet(arguments.results / f"{name}.parquet") for name in ("summary", "timing", "history")}
    entries = {entry["name"]: entry for entry in read_json(arguments.results / "datasets.json")}
    ours = Ours(**tables, datasets=entries)
    rows = [row for cell in read_cells(arguments.published).all for row in compare(cell, comparable, ours)]
    with replacing(arguments.out) as temporary:
        pl.DataFrame(rows, schema=COLUMNS).write_csv(temporary)


def compare(cell: Cell, comparable: Comparable, ours: Ours) -> list[dict[str, Any]]:
    """Return a row for each of our methods that a published cell can be compared with."""
    dataset, _, method = cell.row.partition("/")
    place = comparable.datasets.get(cell.paper, {}).get(dataset)
    if place is None or cell.in_text or ours.datasets.get(place[0], {"simulated": True})["simulated"]:
        return []
    rows = []
    for name in comparable.methods.get(method, []):
        numbers = our_numbers(cell, (place[0], place[1]), name, ours)
        if numbers is not None:
            keys = {"paper": cell.paper, "table": cell.table, "row": cell.row, "column": cell.column}
            keys |= {"dataset": place[0], "protocol": place[1], "method": name}
            rows.append(keys | judged(cell, *numbers))
    return rows


def our_numbers(cell: Cell, place: tuple[str, str], method: str, ours: Ours) -> tuple[float, float, float] | None:
    """Return what we have of the quantity that a cell prints: a value with its interval."""
    if cell.column in METRICS:
        return ours.accuracy(place, method, cell.column)
    if cell.column == "iteration_time":
        return ours.seconds_of_epoch(place, method)
    if cell.column == "training_time":
        return ours.seconds_to_converge(place, method)
    return None


def judged(cell: Cell, value: float, low: float, high: float) -> dict[str, Any]:
    """Return the numbers of a comparison; times in seconds."""
    published = float(cell.value) * SECONDS.get(cell.unit, 1.0)
    numbers = {"published": published, "ours": value, "ci_low": low, "ci_high": high, "difference": value - published}
    if cell.unit in SECONDS:
        return numbers | {"unit": "seconds", "verdict": None}
    # The printed value is rounded: half a unit of its last digit may be missing.
    slack = 0.5 * 10.0 ** -len(cell.value.partition(".")[2])
    inside = low - slack <= published <= high + slack
    return numbers | {"unit": cell.unit, "verdict": "inside" if inside else "outside"}
