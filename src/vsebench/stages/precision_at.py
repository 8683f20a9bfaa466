"""Compute precision and sibling precision of some models for every length of their lists."""

import argparse

import polars as pl

from vsebench.cases import add_cases_arguments, named_cases, siblings_of
from vsebench.core.schemas import PRECISION_AT
from vsebench.core.storage import read_parquet, write_table
from vsebench.evaluation.lists import list_values
from vsebench.evaluation.metrics import values
from vsebench.evaluation.ranking import LIST_LENGTH


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    add_cases_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    tables = []
    for case in named_cases(arguments):
        lists, ranks = (read_parquet(case.folder(arguments.results) / f"{name}.parquet") for name in ("lists", "ranks"))
        siblings = siblings_of(arguments, case.place.dataset)
        keys = {key: pl.lit(value) for key, value in case.keys.items()}
        tables.append(
            precision_at(lists, ranks, siblings).with_columns(**keys).select(*PRECISION_AT).cast(PRECISION_AT)
        )
    write_table(pl.concat(tables), PRECISION_AT, arguments.out)


def precision_at(lists: pl.DataFrame, ranks: pl.DataFrame, siblings: pl.DataFrame | None) -> pl.DataFrame:
    """Return the means over images: columns cutoff, precision and sibling_precision, which is null without siblings."""
    cutoffs = range(1, LIST_LENGTH + 1)
    found = {"precision": values(ranks, [f"precision@{k}" for k in cutoffs]).mean(axis=0)}
    if siblings is not None:
        names = [f"sibling_precision@{k}" for k in cutoffs]
        found["sibling_precision"] = list_values(lists, ranks, names, siblings).mean(axis=0)
    columns = {name: PRECISION_AT[name] for name in ("cutoff", "precision", "sibling_precision")}
    return pl.DataFrame({"cutoff": cutoffs, "sibling_precision": None} | found, schema=columns)
