"""Compare published numbers with ours, for the same data and protocol."""

import argparse
from pathlib import Path

import polars as pl

from vsebench.core.csv_files import write_csv
from vsebench.core.schemas import COMPARISON, OF_RESULTS
from vsebench.core.storage import read_json, read_table
from vsebench.core.tasks import Task
from vsebench.papers.base import read_papers
from vsebench.papers.comparison import Ours, compare


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--papers", type=Path, nargs="*", default=[], help="YAML files of papers, next to their CSVs")
    parser.add_argument("--results", type=Path, required=True, help="folder with the gathered results")
    parser.add_argument("--out", type=Path, required=True, help="comparison.csv to write")


def run(arguments: argparse.Namespace) -> None:
    names = ("summary", "timing", "history")
    tables = {name: read_table(arguments.results / f"{name}.parquet", OF_RESULTS[name]) for name in names}
    real = {entry["name"] for entry in read_json(arguments.results / "datasets.json") if not entry["simulated"]}
    stopped = [each for each in read_json(arguments.results / "settings.json") if each.get("at_limit")]
    at_limit = {(Task(each["dataset"], each["protocol"]), each["method"]) for each in stopped}
    ours = Ours(**tables, real=real, at_limit=at_limit)
    empty = pl.DataFrame(schema=COMPARISON)
    compared = pl.concat([empty, *(compare(paper, ours) for paper in read_papers(arguments.papers))])
    write_csv(compared.write_csv(), arguments.out)
