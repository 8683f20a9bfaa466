"""Find which labels of a data set are siblings, that is, have a common parent.

A label can have several parents, so siblings of siblings need not be siblings. The stage writes siblings.parquet and
siblings.json (counts). The columns of siblings.parquet are label and sibling. Each pair is listed in both directions,
and no label is paired with itself.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from vsebench.config.dataset import read_definition
from vsebench.core.errors import UserError
from vsebench.core.schemas import SIBLINGS
from vsebench.core.storage import read_parquet, write_json, write_table
from vsebench.core.yaml_files import check
from vsebench.formats.adapters import load_adapter
from vsebench.formats.download.recorded import check_recorded

NAMED = 5  # number of labels to name in a message


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", required=True, help="name of the source of parents, for messages")
    parser.add_argument("--definition", required=True, help="JSON object with adapter and options")
    parser.add_argument("--raw", type=Path, required=True, help="folder with the downloaded files")
    parser.add_argument("--labels", type=Path, required=True, help="labels.parquet of the data set")
    parser.add_argument("--out", type=Path, required=True, help="siblings.parquet to write")
    parser.add_argument("--summary", type=Path, required=True, help="siblings.json to write")


def run(arguments: argparse.Namespace) -> None:
    definition = read_definition(arguments.definition, arguments.name)
    check_recorded(arguments.raw)
    adapter = load_adapter(definition.adapter, arguments.name, "read_parents")
    options = check(adapter.Options, definition.options, f"{arguments.name}: options")
    names = read_parquet(arguments.labels)["name"].to_list()
    parents = adapter.read_parents(arguments.raw, options, names)
    unknown = [name for name, of_label in zip(names, parents, strict=True) if not of_label]
    if len(unknown) == len(names):
        raise UserError(f"{arguments.name}: none of the {len(names)} labels in {arguments.labels} has a parent")
    if unknown:
        first = ", ".join(unknown[:NAMED]) + (", ..." if len(unknown) > NAMED else "")
        print(f"{arguments.name}: no parent for {len(unknown)} of {len(names)} labels: {first}", file=sys.stderr)
    siblings = pair_up(parents)
    numbers = siblings.group_by("label").len()["len"]
    per_label = pl.concat([numbers, pl.zeros(len(names) - len(numbers), dtype=numbers.dtype, eager=True)])
    summary = {
        "source": arguments.name,
        "labels": len(names),
        "labels_with_parent": len(names) - len(unknown),
        "labels_with_sibling": len(numbers),
        "median_siblings": per_label.median(),
        "most_siblings": per_label.max(),
    }
    write_table(siblings, SIBLINGS, arguments.out)
    write_json(summary, arguments.summary)


def pair_up(parents: Sequence[set[str]]) -> pl.DataFrame:
    """Return the sorted table `schemas.SIBLINGS`, made from the parents of each label."""
    relations = [(label, parent) for label, of_label in enumerate(parents) for parent in of_label]
    frame = pl.DataFrame(relations, schema={"label": pl.Int32, "parent": pl.String}, orient="row")
    pairs = frame.join(frame.rename({"label": "sibling"}), on="parent").select("label", "sibling")
    return pairs.filter(pl.col("label") != pl.col("sibling")).unique().sort("label", "sibling")
