"""Test the papers' claims on the results."""

import argparse
import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from vsebench.core.csv_files import write_csv
from vsebench.core.schemas import CLAIMS, LISTS, OF_RESULTS, RANKS, SIBLINGS, SWEEP_RANKS, Schema
from vsebench.core.storage import read_json, read_parquet, read_table
from vsebench.core.tasks import Case, Task
from vsebench.evaluation.reading import n_candidates_of, read_ranked, read_sets
from vsebench.papers.base import read_papers
from vsebench.papers.evidence import Evidence, RunTask
from vsebench.papers.verdicts import verdicts

KEPT = 32  # number of models whose ranks are cached, because a claim compares the same methods by several metrics


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--papers", type=Path, nargs="*", default=[], help="YAML files of papers, next to their CSVs")
    parser.add_argument("--results", type=Path, required=True, help="folder with the results")
    parser.add_argument("--variants", nargs="+", required=True, help="fitted models, as dataset/protocol/variant")
    parser.add_argument("--seeds", nargs="+", type=int, required=True)
    parser.add_argument(
        "--own-seeds", type=json.loads, default={}, help='JSON: {"dataset/protocol/variant": [seed, ...], ...}'
    )
    parser.add_argument("--outside", nargs="*", default=[], help="models trained elsewhere, and methods from packs")
    parser.add_argument("--bootstrap", type=int, required=True, help="number of resamples")
    parser.add_argument("--decided", type=Path, nargs="*", default=[], help="decisions.json, if models have decisions")
    parser.add_argument("--sweeps", type=Path, help="sweeps.parquet, if the run varies settings")
    parser.add_argument("--tuned-sweeps", nargs="*", default=[], help="methods that are tuned at each value of a sweep")
    parser.add_argument("--scaling", type=Path, help="scaling.parquet, if the run measures how times grow")
    parser.add_argument("--analyses", type=Path, nargs="*", default=[], help="files of the analyses that claims read")
    parser.add_argument("--siblings", type=json.loads, default={}, help='JSON: {"dataset": "siblings.parquet", ...}')
    parser.add_argument("--out", type=Path, required=True, help="claims.csv to write")


def run(arguments: argparse.Namespace) -> None:
    evidence = read_evidence(arguments)
    empty = pl.DataFrame(schema=CLAIMS)
    tested = pl.concat([empty, *(verdicts(paper, evidence) for paper in read_papers(arguments.papers))])
    write_csv(tested.write_csv(), arguments.out)


def read_evidence(arguments: argparse.Namespace) -> Evidence:
    """Return the results on which claims are tested."""
    results: Path = arguments.results

    def read(case: Case, name: str, schema: Schema) -> pl.DataFrame:
        return read_table(case.folder(results) / name, schema)

    def gathered(name: str, path: Path) -> pl.DataFrame:
        return read_table(path, OF_RESULTS[name])

    entries = read_json(results / "settings.json")
    fits = {case_of(each): each for each in entries}
    decided = [each for path in arguments.decided for each in read_json(path)]
    return Evidence(
        tasks=tasks(arguments.variants, results),
        seeds=arguments.seeds,
        own_seeds=arguments.own_seeds,
        outside=arguments.outside,
        resamples=arguments.bootstrap,
        timing=gathered("timing", results / "timing.parquet"),
        history=gathered("history", results / "history.parquet"),
        sweeps=gathered("sweeps", arguments.sweeps) if arguments.sweeps else None,
        scaling=gathered("scaling", arguments.scaling) if arguments.scaling else None,
        read_ranks=lru_cache(KEPT)(lambda case: read(case, "ranks.parquet", RANKS)),
        read_sweep_ranks=lambda case, parameter: read(case, f"sweep/{parameter}-ranks.parquet", SWEEP_RANKS),
        read_lists=lambda case: read(case, "lists.parquet", LISTS),
        read_ranked=lru_cache(KEPT)(lambda case: read_ranked(case, results)),
        read_sets=lru_cache(KEPT)(lambda case, decision: read_sets(case, decision, results)),
        n_labels=lambda case: n_candidates_of(case, results),
        siblings={name: read_table(Path(path), SIBLINGS) for name, path in arguments.siblings.items()},
        tuned_sweeps=arguments.tuned_sweeps,
        selection=lambda case: selection_of(case, results),
        on_request={path.stem: read_parquet(path) for path in arguments.analyses},
        metrics=gathered("metrics", results / "metrics.parquet"),
        at_limit={
            **{case: limit_of(entry) for case, entry in fits.items() if entry.get("at_limit")},
            **at_limit_of(decided),
        },
        spreads={(case.task, case.variant): entry.get("spread", {}) for case, entry in fits.items()},
        untuned={(case.task, case.variant) for case, entry in fits.items() if entry.get("choice") == "untuned"},
        tries={case: entry.get("tries", []) for case, entry in fits.items()},
        on_edges={case: entry.get("on_edges", []) for case, entry in fits.items()},
    )


def case_of(entry: dict[str, Any]) -> Case:
    """Return the model that an entry of settings.json or decisions.json is about."""
    return Case(Task(entry["dataset"], entry["protocol"]), entry["method"], entry["seed"])


def at_limit_of(decided: list[dict[str, Any]]) -> dict[Case, str]:
    """Return "epochs" for each decision whose training was stopped by its limit; `decided` is from decisions.json.

    The variants of the keys have the form "method/decision".
    """
    return {
        replace(case_of(entry), variant=f"{entry['method']}/{name}"): "epochs"
        for entry in decided
        for name, record in entry["decisions"].items()
        if record.get("at_limit")
    }


def limit_of(entry: dict[str, Any]) -> str:
    """Return what limits the training of a model: "epochs" or "iterations".

    `entry` is the entry of the model in settings.json.
    """
    return "iterations" if entry.get("epochs") is None else "epochs"


def tasks(names: list[str], results: Path) -> list[RunTask]:
    """Return the tasks with their methods, from names of the form "dataset/protocol/variant"."""
    datasets = {entry["name"]: entry for entry in read_json(results / "datasets.json")}
    variants: dict[Task, list[str]] = {}
    for name in names:
        dataset, protocol, variant = name.split("/", 2)
        variants.setdefault(Task(dataset, protocol), []).append(variant)
    return [
        RunTask(task, entry["family"], "simulated" if entry["simulated"] else "other", names, entry["counts"]["labels"])
        for task, names in variants.items()
        for entry in [datasets[task.dataset]]
    ]


def selection_of(case: Case, results: Path) -> dict[str, Any]:
    """Return the record of how a model's settings and epochs were chosen, with all attempts."""
    selection: dict[str, Any] = read_json(case.folder(results) / "run.json")["selection"]
    return selection
