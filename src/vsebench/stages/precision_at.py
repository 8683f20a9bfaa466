"""Compute precision and sibling precision of some models for every length of their lists."""

import argparse

import polars as pl

from vsebench.cases import add_cases_arguments, named_cases, siblings_of
from vsebench.core.schemas import PRECISION_AT
from vsebench.core.storage import read_parquet, write_table
from vsebench.evaluation.precision_at import hits, means
from vsebench.evaluation.ranking import LIST_LENGTH


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    add_cases_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    tables = []
    for case in named_cases(arguments):
        lists, ranks = (read_parquet(case.folder(arguments.results) / f"{name}.parquet") for name in ("lists", "ranks"))
        found = hits(lists, ranks, siblings_of(arguments, case.place.dataset))
        keys = {key: pl.lit(value) for key, value in case.keys.items()}
        tables.append(means(found, LIST_LENGTH).with_columns(**keys).select(*PRECISION_AT).cast(PRECISION_AT))
    write_table(pl.concat(tables), PRECISION_AT, arguments.out)
