"""Vary one setting of a method around the chosen ones: how much it matters (VSE-fs paper, Fig. 2 (b)).

For each value the number of epochs is chosen on the validation labels, and where the run tunes, so are the other
settings of the row's grid, with the same budget at each value: the grid, and as many steps beyond its edges. Then the
method is fitted to training and validation labels together and tested, as in the main results.
"""

import argparse
import json
from pathlib import Path

import polars as pl
from tqdm import tqdm

from vsebench.cases import add_case_arguments, open_method
from vsebench.core.places import Case, Place
from vsebench.core.schemas import SWEEP, SWEEP_RANKS
from vsebench.core.storage import read_json, write_table
from vsebench.core.workers import Workers, workers
from vsebench.data import splits
from vsebench.data.needs import load_needs
from vsebench.data.problem import Split
from vsebench.evaluation.ranking import rank
from vsebench.models import by_frequency
from vsebench.training import Attempt, DivergenceError, attempt, best_attempt, finish, open_validation, problems, search


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_case_arguments(parser)
    parser.add_argument("--chosen", type=Path, required=True, help="run.json of the row, for the chosen settings")
    parser.add_argument("--parameter", required=True, help="the setting to vary")
    parser.add_argument("--values", type=json.loads, required=True, help="JSON list of numbers")
    parser.add_argument(
        "--grid", type=json.loads, default={}, help="JSON: values to try for other settings, at each value"
    )
    parser.add_argument("--beyond", type=int, default=0, help="settings to try beyond the grid's edges, at each value")
    parser.add_argument("--ranks", type=Path, required=True, help="parquet: the ranks with each value")
    parser.add_argument("--out", type=Path, required=True, help="parquet: one row per value")


def run(arguments: argparse.Namespace) -> None:
    case = Case(Place(arguments.dataset, arguments.protocol), arguments.row, arguments.seed)
    split = splits.load(arguments.split, refit=not arguments.no_refit)
    tables = [pl.DataFrame(schema=SWEEP)]
    ranks = [pl.DataFrame(schema=SWEEP_RANKS)]
    with workers(arguments.threads) as pool:
        for value in tqdm(arguments.values, desc=f"{case}: {arguments.parameter}", mininterval=5):
            found = try_value(arguments, case, split, value, pool)
            if found is not None:
                tables.append(found[0])
                ranks.append(found[1])
    write_table(pl.concat(ranks), SWEEP_RANKS, arguments.ranks)
    write_table(pl.concat(tables), SWEEP, arguments.out)


def try_value(
    arguments: argparse.Namespace, case: Case, split: Split, value: float, pool: Workers
) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    """Fit the method with one value; returns its line and ranks, None where training diverges."""
    method, limits = open_method(arguments)
    chosen = read_json(arguments.chosen)["selection"]["settings"]
    first, final = problems(split, arguments.seed, pool, **load_needs(method.needs, vars(arguments), split.test))
    validation = open_validation(first, split, arguments.metric, arguments.images)
    others = {name: values for name, values in arguments.grid.items() if name != arguments.parameter}
    tries: list[Attempt] = []
    kept = None
    for settings in search(method, others, chosen | {arguments.parameter: value}, arguments.beyond, tries, case):
        tried, _, model = attempt(method, settings, validation, limits, case)
        tries.append(tried)
        if model is not None and tries[best_attempt(tries, case)] is tried:
            kept = model
    if all(tried.value is None for tried in tries):
        return None
    best = tries[best_attempt(tries, case)]
    try:
        model, _ = finish(method, best, kept, first, final, case)
    except DivergenceError:
        return None
    for_cold = by_frequency(split.final.labels) if method.knows_labels_alone() else None
    ranks = rank(model, split.test, first.features, pool, str(case), for_cold)
    keys = case.keys | {"parameter": arguments.parameter, "value": float(value)}
    keys |= {"chosen": value == chosen.get(arguments.parameter), "epochs": best.epochs, "validation": best.value}
    return pl.DataFrame([keys], schema=SWEEP), ranks.select(pl.lit(float(value)).alias("value"), pl.all())
