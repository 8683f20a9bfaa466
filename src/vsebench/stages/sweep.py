"""Vary one setting of a method, to measure its influence (VSE-fs paper, Fig. 2 (b)).

For each value, the number of epochs is chosen on the validation labels. If the run tunes settings, the other settings
of the grid are chosen as well, with the same number of attempts for each value. The method is then fitted to the
training and validation labels and tested, as for the main results.

The main results already contain a model for one value of the setting. A sweep that chooses only the number of epochs
uses this model instead of fitting the method again, unless several seeds chose the settings of the model together.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import polars as pl
from tqdm import tqdm

from vsebench import models
from vsebench.cases import add_case_arguments, open_method, open_settings
from vsebench.core.errors import UserError
from vsebench.core.schemas import SWEEP, SWEEP_RANKS
from vsebench.core.storage import read_json, write_table
from vsebench.core.tasks import Case, Task
from vsebench.core.workers import workers
from vsebench.data import splits
from vsebench.data.needs import load_needs
from vsebench.data.problem import Problem
from vsebench.evaluation.ranking import rank
from vsebench.models import by_frequency
from vsebench.selection import select, settings_key
from vsebench.training import DivergenceError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_case_arguments(parser)
    parser.add_argument("--parameter", required=True, help="the setting to vary")
    parser.add_argument("--values", type=json.loads, required=True, help="JSON list of numbers")
    parser.add_argument("--ranks", type=Path, required=True, help="parquet file of the ranks for each value")
    parser.add_argument("--out", type=Path, required=True, help="parquet file with one row per value")


def run(arguments: argparse.Namespace) -> None:
    case = Case(Task(arguments.dataset, arguments.protocol), arguments.variant, arguments.seed)
    method, search = open_method(arguments)
    if search is None:
        raise UserError("--metric: missing, but a sweep needs a validation metric; name one, such as ndcg@10")
    if not arguments.chosen:
        raise UserError("--chosen: missing; name the run.json with the chosen settings, of which a sweep varies one")
    chosen, _ = open_settings(arguments, method)
    main = read_json(arguments.chosen)
    parameter = arguments.parameter
    search = replace(search, grid={name: values for name, values in search.grid.items() if name != parameter})
    is_main_result = not search.grid and not main["selection"].get("epochs_by_seed")
    split = splits.load(arguments.split, refit=not arguments.no_refit)
    for_cold = by_frequency(split.final.labels) if method.knows_labels_alone() else None
    rows, ranks = [], [pl.DataFrame(schema=SWEEP_RANKS)]
    with workers(arguments.threads) as pool:
        inputs = load_needs(method.needs, vars(arguments), split.test)
        problem = Problem(split.first, arguments.seed, pool, **inputs)
        for value in tqdm(arguments.values, desc=f"{case}: {parameter}", mininterval=5):
            settings = chosen.changed({parameter: value}, settings_key(case))
            try:
                if settings == chosen and is_main_result:
                    outcome, model = main["selection"], models.load(arguments.chosen.with_name("model.npz"))
                else:
                    selection = select(method, settings, problem, split, search, case)
                    outcome, model = vars(selection.chosen), selection.model
            except DivergenceError:
                continue
            rows.append(
                {
                    **case.keys,
                    "parameter": parameter,
                    "value": float(value),
                    "chosen": settings == chosen,
                    "epochs": outcome["epochs"],
                    "at_limit": outcome["at_limit"],
                    "validation": outcome["value"],
                }
            )
            of_value = rank(model, split.test, problem.features, pool, str(case), for_cold)
            ranks.append(of_value.select(pl.lit(float(value)).alias("value"), pl.all()))
    write_table(pl.concat(ranks), SWEEP_RANKS, arguments.ranks)
    write_table(pl.DataFrame(rows, schema=SWEEP), SWEEP, arguments.out)
