"""What the tables, the figures and the report read: the gathered results of a run, in display order."""

import argparse
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from vsebench.core.errors import UserError
from vsebench.core.storage import read_json, read_parquet
from vsebench.papers.audit.findings import Finding
from vsebench.rendering.audit import read_audit
from vsebench.rendering.names import Pair

SIGNIFICANT = 0.05
METRIC_NAMES = {"pre": "Pre", "rec": "Rec", "map": "MAP", "ndcg": "NDCG", "auc": "AUC", "mrr": "MRR"}
Metric = tuple[str, int | None]  # name and cut-off
PROTOCOLS = {
    "distinct": "one distinct label of each image held out",
    "regions": "one region label of each image held out, repeated labels stay",
    "images": "whole images held out",
}


@dataclass(frozen=True)
class Results:
    """The folder of results and the methods' titles; each file is read when it is first asked for."""

    folder: Path
    titles: dict[str, str]

    @cached_property
    def summary(self) -> pl.DataFrame:
        return self._table("summary")

    @cached_property
    def metrics(self) -> pl.DataFrame:
        return self._table("metrics")

    @cached_property
    def timing(self) -> pl.DataFrame:
        return self._table("timing")

    @cached_property
    def history(self) -> pl.DataFrame:
        # Empty where no method of the run trains in epochs, which is no mistake.
        return read_parquet(self.folder / "history.parquet")

    @cached_property
    def settings(self) -> list[dict[str, Any]]:
        return self._list("settings")

    @cached_property
    def datasets(self) -> dict[str, dict[str, Any]]:
        return {entry["name"]: entry for entry in self._list("datasets")}

    @cached_property
    def machine(self) -> dict[str, Any]:
        path = self.folder / "machine.json"
        value = read_json(path)
        if not isinstance(value, dict) or not value:
            raise UserError(f"{path}: a JSON object with entries is needed; delete it and run again")
        return value

    @cached_property
    def audit(self) -> list[Finding]:
        return read_audit(self.folder / "audit.csv")

    @cached_property
    def pairs(self) -> list[Pair]:
        """Data sets with their protocols, in the order of the data sets."""
        return self.pairs_of(self.summary)

    def pairs_of(self, frame: pl.DataFrame) -> list[Pair]:
        """Return the data sets and protocols in a table, in display order."""
        found = frame.select("dataset", "protocol").unique().rows()
        return sorted(found, key=lambda pair: (_place(pair[0], self.datasets), _place(pair[1], PROTOCOLS)))

    def methods_of(self, frame: pl.DataFrame) -> list[str]:
        """Return the methods in a table in display order, those without a title last."""
        return sorted(frame["method"].unique().to_list(), key=lambda method: _place(method, self.titles))

    def method_title(self, method: str) -> str:
        """Return a method's title, or its name if it has none."""
        return self.titles.get(method, method)

    def is_simulated(self, dataset: str) -> bool:
        return bool(self.datasets.get(dataset, {}).get("simulated", False))

    def dataset_title(self, dataset: str) -> str:
        """Return a data set's title, which says so if the data is simulated."""
        title = str(self.datasets.get(dataset, {}).get("title", dataset))
        if self.is_simulated(dataset) and "simulated" not in title.lower():
            title += " (simulated)"
        return title[:1].upper() + title[1:]

    def pair_title(self, pair: Pair) -> str:
        return f"{self.dataset_title(pair[0])}, protocol {pair[1]}"

    def accuracy(self, pair: Pair) -> pl.DataFrame:
        """Return the summary of one data set and protocol."""
        rows = of_pair(self.summary, pair)
        if rows.is_empty():
            raise UserError(f"{self.folder / 'summary.parquet'}: nothing on {pair[0]} with {pair[1]}")
        return rows

    def _table(self, name: str) -> pl.DataFrame:
        path = self.folder / f"{name}.parquet"
        frame = read_parquet(path)
        if frame.is_empty():
            raise UserError(f"{path}: has no rows; delete it and run again")
        return frame

    def _list(self, name: str) -> list[dict[str, Any]]:
        path = self.folder / f"{name}.json"
        value = read_json(path)
        if not isinstance(value, list) or not value:
            raise UserError(f"{path}: a JSON list with entries is needed; delete it and run again")
        return value


def of_pair(frame: pl.DataFrame, pair: Pair) -> pl.DataFrame:
    """Return the rows of one data set and protocol."""
    return frame.filter(pl.col("dataset") == pair[0], pl.col("protocol") == pair[1])


def pick(accuracy: pl.DataFrame, metric: Metric, method: str) -> dict[str, Any] | None:
    """Return the summary of one method in one metric, if it is there."""
    name, cutoff = metric
    rows = accuracy.filter(
        pl.col("method") == method, pl.col("metric") == name, pl.col("cutoff").eq_missing(pl.lit(cutoff, pl.Int32))
    )
    return rows.row(0, named=True) if len(rows) else None


def near_best(row: dict[str, Any]) -> bool:
    """Tell whether a method is neither the best nor significantly different from it."""
    return row["p_adjusted"] is not None and row["p_adjusted"] >= SIGNIFICANT


def metric_title(metric: Metric) -> str:
    """Return a metric's name for a heading.

    >>> metric_title(("rec", 10)), metric_title(("mrr", None))
    ('Rec@10', 'MRR')
    """
    name, cutoff = metric
    return METRIC_NAMES.get(name, name) + (f"@{cutoff}" if cutoff is not None else "")


def add_common_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that all rendering stages share."""
    parser.add_argument("--results", type=Path, required=True, help="folder with the gathered results")
    parser.add_argument("--titles", default="{}", help="JSON object: the methods' titles, in display order")


def open_results(arguments: argparse.Namespace) -> Results:
    """Return the results that the arguments name."""
    try:
        titles = json.loads(arguments.titles)
    except ValueError as error:
        raise UserError(f"--titles: not JSON ({error}): {arguments.titles}") from None
    if not isinstance(titles, dict) or not all(isinstance(title, str) for title in titles.values()):
        raise UserError(f"--titles: a JSON object of strings is needed, not {arguments.titles}")
    return Results(arguments.results, titles)


def _place(name: str, order: Iterable[str]) -> tuple[int, str]:
    known = list(order)
    return (known.index(name) if name in known else len(known), name)
