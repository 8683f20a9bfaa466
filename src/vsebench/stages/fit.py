"""Choose settings and epochs of a method on the validation labels, then fit it to training and validation labels.

The test labels are read only for an oracle that needs them. The stage writes model.npz, history.parquet (the epochs of
the best attempt and of the final fit) and run.json (settings, all attempts, versions, machine, commit).
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vsebench import models
from vsebench.cases import add_case_arguments, open_method, open_settings
from vsebench.core.errors import UserError
from vsebench.core.machine import describe
from vsebench.core.schemas import HISTORY
from vsebench.core.storage import read_json, write_json, write_table
from vsebench.core.tasks import Case, Task
from vsebench.core.workers import workers
from vsebench.data import splits
from vsebench.data.needs import TEST_LABELS, load_needs
from vsebench.data.problem import Problem
from vsebench.evaluation.ranking import check_finite
from vsebench.evaluation.spread import spread_of_ensemble
from vsebench.methods.base import EnsembleSettings
from vsebench.selection import Search, Selection, on_edges, select
from vsebench.training import Attempt, DivergenceError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_case_arguments(parser)
    parser.add_argument("--spread", type=json.loads, default={}, help="JSON: the spread of a recorded search")
    parser.add_argument("--command", type=Path, help="command.json of the user's command that trained the model")
    parser.add_argument("--out", type=Path, required=True, help="folder for model.npz, history.parquet, run.json")


def run(arguments: argparse.Namespace) -> None:
    case = Case(Task(arguments.dataset, arguments.protocol), arguments.variant, arguments.seed)
    method, search = open_method(arguments)
    if arguments.chosen and arguments.grid:
        raise UserError("--grid: the settings of --chosen are used unchanged; leave out one of the two options")
    settings, first_seed = open_settings(arguments, method)
    knows_test = TEST_LABELS.key in method.needs
    split = splits.load(arguments.split, with_test=knows_test, refit=not arguments.no_refit)
    with workers(arguments.threads) as pool:
        inputs = load_needs(method.needs, vars(arguments), split.test if knows_test else None)
        problem = Problem(split.first, arguments.seed, pool, **inputs)
        try:
            selection = select(method, settings, problem, split, search, case)
        except DivergenceError as error:
            raise UserError(f"{error} (config/methods/{case.variant}.yaml)") from None
    check_finite(selection.model, str(case))
    models.save(selection.model, arguments.out / "model.npz")
    write_table(selection.history, HISTORY, arguments.out / "history.parquet")
    write_json(
        {
            **({"command": read_json(arguments.command)} if arguments.command else {}),
            **case.keys,
            "module": arguments.module,
            "threads": arguments.threads,
            "refit": not arguments.no_refit,
            **(
                {"features": names} if (names := [block.name for block in problem.feature_blocks if block.name]) else {}
            ),
            "selection": record_of(selection, search, first_seed)
            | {"seeds": seeds_of_search(arguments), "spread": spread_of_search(arguments, selection)},
            **describe(),
        },
        arguments.out / "run.json",
    )


def record_of(selection: Selection, search: Search | None, first_seed: int | None) -> dict[str, Any]:
    """Return the part of run.json that states how settings and epochs were chosen."""
    chosen, tries = selection.chosen, selection.tries
    record = attempt_record(chosen) | {"settings": chosen.settings.given()}
    if search is None:
        return record
    record |= {
        "metric": search.metric,
        "n_configurations": len(tries),
        "diverged": sum(tried.value is None for tried in tries),
        "tries": [attempt_record(tried) for tried in tries],
    }
    if isinstance(chosen.settings, EnsembleSettings):
        return record
    edges = on_edges(search.grid, chosen.settings, [tried.settings for tried in tries])
    return record | {"settings_of_seed": first_seed, "grid": search.grid, "on_edges": edges}


def seeds_of_search(arguments: argparse.Namespace) -> list[int]:
    """Return the seeds whose validation values chose the settings; an empty list if there was no search."""
    if arguments.chosen:
        seeds: list[int] = read_json(arguments.chosen)["selection"]["seeds"]
        return seeds
    return [arguments.seed, *arguments.more_seeds] if arguments.grid else []


def spread_of_search(arguments: argparse.Namespace, selection: Selection) -> dict[str, float | None]:
    """Return how much metrics vary due to the choice of settings.

    The result maps metrics to relative standard deviations. If `--chosen` is given, they come from the run.json that
    this option names. Those of an ensemble come from the run.json of its members. Otherwise they come from this fit or,
    if this fit has none, from a recorded search (`--spread`).
    """
    if arguments.chosen:
        return spread_in(arguments.chosen)
    if isinstance(selection.chosen.settings, EnsembleSettings):
        weights = [member.weight for member in selection.chosen.settings.members]
        return spread_of_ensemble(weights, [spread_in(path) for path in arguments.members])
    return selection.spread or arguments.spread


def spread_in(record: Path) -> dict[str, float | None]:
    """Return the spread in a run.json."""
    spread: dict[str, float | None] = read_json(record)["selection"]["spread"]
    return spread


def attempt_record(attempt: Attempt) -> dict[str, Any]:
    """Return the entry of run.json for an attempt.

    For an ensemble, the settings in this entry are the weights of the members.
    """
    settings = attempt.settings.given()
    if isinstance(attempt.settings, EnsembleSettings):
        settings = {member.variant: member.weight for member in attempt.settings.members}
    record: dict[str, Any] = {"settings": settings, "epochs": attempt.epochs}
    record |= {"value": attempt.value, "at_limit": attempt.at_limit}
    record |= {} if attempt.limit is None else {"limit": attempt.limit}
    record |= {"epochs_by_seed": attempt.epochs_by_seed} if attempt.epochs_by_seed else {}
    return record if attempt.solved is None else record | {"solver": asdict(attempt.solved)}
