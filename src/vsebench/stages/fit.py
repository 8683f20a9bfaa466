"""Choose settings and epochs of a method on the validation labels, then fit it to training and validation labels.

The test labels are not read, unless the row is an oracle that needs them. Writes model.npz, history.parquet (every
epoch with the chosen settings, and of the final fit) and run.json (settings, all attempts, versions, machine, commit).
"""

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl
from tqdm import tqdm

from vsebench import models
from vsebench.cases import add_case_arguments, open_method
from vsebench.config.method import Epochs
from vsebench.core.errors import UserError
from vsebench.core.machine import describe
from vsebench.core.places import Case, Place
from vsebench.core.schemas import HISTORY
from vsebench.core.storage import read_json, write_json, write_table
from vsebench.core.workers import workers
from vsebench.core.yaml_files import check
from vsebench.data import splits
from vsebench.data.needs import TEST_LABELS, load_needs
from vsebench.data.problem import Problem, Split
from vsebench.evaluation.ranking import check_finite
from vsebench.methods.base import Ensemble, Fitter, Member
from vsebench.models import Model
from vsebench.training import (
    Attempt,
    DivergenceError,
    Validation,
    attempt,
    best_attempt,
    finish,
    history,
    on_edges,
    open_validation,
    problems,
    search,
    weigh,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_case_arguments(parser)
    grid = parser.add_mutually_exclusive_group()
    grid.add_argument("--grid", type=json.loads, default={}, help="JSON: values to try for some settings")
    parser.add_argument(
        "--beyond",
        type=int,
        default=0,
        help="settings to try at most beyond the grid's edges, while the best is on one",
    )
    grid.add_argument("--chosen", type=Path, help="run.json of another seed, whose settings are taken over")
    parser.add_argument("--members", type=Path, nargs="+", help="run.json of each member, for an ensemble")
    parser.add_argument("--out", type=Path, required=True, help="folder for model.npz, history.parquet, run.json")


def run(arguments: argparse.Namespace) -> None:
    case = Case(Place(arguments.dataset, arguments.protocol), arguments.row, arguments.seed)
    method, limits = open_method(arguments)
    knows_test = TEST_LABELS.key in method.needs
    split = splits.load(arguments.split, with_test=knows_test, refit=not arguments.no_refit)
    with workers(arguments.threads) as pool:
        inputs = load_needs(method.needs, vars(arguments), split.test if knows_test else None)
        first, final = problems(split, arguments.seed, pool, **inputs)
        chosen, selected, record, kept = choose(arguments, method, limits, first, split, case)
        try:
            model, refitted = finish(method, chosen, kept, first, final, case)
        except DivergenceError:
            raise UserError(
                f"{case}: training diverged on training and validation labels together with "
                f"{json.dumps(chosen.settings)}; lower learning_rate or raise regularisation"
            ) from None
    check_finite(model, str(case))
    models.save(model, arguments.out / "model.npz")
    write_table(pl.concat([selected, refitted]), HISTORY, arguments.out / "history.parquet")
    write_json(
        {
            **case.keys,
            "module": arguments.module,
            "threads": arguments.threads,
            "refit": not arguments.no_refit,
            "selection": record,
            **describe(),
        },
        arguments.out / "run.json",
    )


def choose(
    arguments: argparse.Namespace, method: type[Fitter], limits: Epochs | None, first: Problem, split: Split, case: Case
) -> tuple[Attempt, pl.DataFrame, dict[str, Any], Model | None]:
    """Try all settings; return the best with its history, what run.json says of the choice, and its model."""
    nothing = history([], case, "selection")
    if arguments.metric is None:
        chosen = Attempt(arguments.settings, None, None)
        return chosen, nothing, asdict(chosen), None
    validation: Validation = open_validation(first, split, arguments.metric, arguments.images)
    if issubclass(method, Ensemble):
        members, weighed = weigh(method, [read_member(path) for path in arguments.members], validation, case)
        settings = {"members": [member.model_dump() for member in members]}
        chosen = replace(weighed[best_attempt(weighed, case)], settings=settings)
        return chosen, nothing, record_of(chosen, weighed, arguments.metric), None
    base, first_seed = arguments.settings, None
    if arguments.chosen:
        other = read_json(arguments.chosen)
        base, first_seed = other["selection"]["settings"], other["seed"]
    tries: list[Attempt] = []
    selected, kept = nothing, None
    settings_to_try = search(method, arguments.grid, base, arguments.beyond, tries, case)
    for settings in tqdm(settings_to_try, desc=str(case), mininterval=5):
        tried, epochs, model = attempt(method, settings, validation, limits, case)
        tries.append(tried)
        if model is not None and tries[best_attempt(tries, case)] is tried:
            selected, kept = epochs, model
    winner = tries[best_attempt(tries, case)]
    edges = on_edges(arguments.grid, winner.settings, [tried.settings for tried in tries])
    record = record_of(winner, tries, arguments.metric)
    record |= {"settings_of_seed": first_seed, "grid": arguments.grid, "on_edges": edges}
    return winner, selected, record, kept


def read_member(path: Path) -> Member:
    """Read what a row was fitted with from its run.json."""
    record = read_json(path)
    chosen = {key: record["selection"][key] for key in ("settings", "epochs")}
    return check(Member, {"row": record["method"], "module": record["module"]} | chosen, str(path))


def record_of(chosen: Attempt, tries: list[Attempt], metric: str) -> dict[str, Any]:
    """Return what run.json says of a choice."""
    return asdict(chosen) | {
        "metric": metric,
        "n_configurations": len(tries),
        "diverged": sum(tried.value is None for tried in tries),
        "tries": [asdict(tried) for tried in tries],
    }
