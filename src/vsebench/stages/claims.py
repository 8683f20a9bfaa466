"""Test the papers' claims on the results."""

import argparse
import json
from pathlib import Path

import polars as pl

from vsebench.core.places import Case, Place
from vsebench.core.schemas import CLAIMS
from vsebench.core.storage import read_json, read_parquet, replacing
from vsebench.papers.base import read_papers
from vsebench.papers.evidence import Evidence, RunPlace
from vsebench.papers.verdicts import verdicts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    parser.add_argument("--papers", type=Path, nargs="*", default=[], help="YAML files with the claims")
    parser.add_argument("--results", type=Path, required=True, help="folder with the results")
    parser.add_argument("--rows", nargs="+", required=True, help="every dataset/protocol/row of the run")
    parser.add_argument("--seeds", nargs="+", type=int, required=True)
    parser.add_argument("--bootstrap", type=int, required=True, help="number of resamples")
    parser.add_argument("--sweeps", type=Path, help="sweeps.parquet, if the run varies settings")
    parser.add_argument("--scaling", type=Path, help="scaling.parquet, if the run measures growth")
    parser.add_argument("--neighbours", type=Path, help="neighbours_of_labels.parquet, if a claim reads it")
    parser.add_argument("--siblings", type=json.loads, default={}, help='JSON: {"dataset": "siblings.parquet", ...}')
    parser.add_argument("--out", type=Path, required=True, help="claims.csv")


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    evidence = read_evidence(arguments)
    empty = pl.DataFrame(schema=CLAIMS)
    with replacing(arguments.out) as temporary:
        pl.concat([empty, *(verdicts(paper, evidence) for paper in read_papers(arguments.papers))]).write_csv(temporary)


def read_evidence(arguments: argparse.Namespace) -> Evidence:
    """Return the results that claims are tested on."""
    results: Path = arguments.results

    def ranks(case: Case) -> pl.DataFrame:
        return read_parquet(case.folder(results) / "ranks.parquet")

    def lists(case: Case) -> pl.DataFrame:
        return read_parquet(case.folder(results) / "lists.parquet")

    def sweep_ranks(case: Case, parameter: str) -> pl.DataFrame:
        return read_parquet(case.folder(results) / "sweep" / f"{parameter}-ranks.parquet")

    return Evidence(
        places=places(arguments.rows, results),
        seeds=arguments.seeds,
        resamples=arguments.bootstrap,
        timing=read_parquet(results / "timing.parquet"),
        history=read_parquet(results / "history.parquet"),
        sweeps=read_parquet(arguments.sweeps) if arguments.sweeps else None,
        scaling=read_parquet(arguments.scaling) if arguments.scaling else None,
        read_ranks=ranks,
        read_sweep_ranks=sweep_ranks,
        read_lists=lists,
        siblings={name: read_parquet(Path(path)) for name, path in arguments.siblings.items()},
        neighbours=read_parquet(arguments.neighbours) if arguments.neighbours else None,
    )


def places(names: list[str], results: Path) -> list[RunPlace]:
    """Return the places of the run with their rows, from "dataset/protocol/row"."""
    datasets = {entry["name"]: entry for entry in read_json(results / "datasets.json")}
    rows: dict[Place, list[str]] = {}
    for name in names:
        place, _, row = name.rpartition("/")
        rows.setdefault(Place.of(place), []).append(row)
    return [
        RunPlace(place, datasets[place.dataset]["family"], datasets[place.dataset]["simulated"], names)
        for place, names in rows.items()
    ]
