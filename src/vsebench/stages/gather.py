"""Combine tables or records of several data sets, tasks or models into one file."""

import argparse
import json
from pathlib import Path
from typing import Any

import polars as pl

from vsebench.config.method import OUTSIDE
from vsebench.core.errors import UserError
from vsebench.core.schemas import OF_RESULTS
from vsebench.core.storage import read_json, read_table, write_json, write_table
from vsebench.core.yaml_files import check
from vsebench.methods.base import load_method
from vsebench.selection import on_edges, union


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--inputs", type=Path, nargs="+", required=True, help="files to combine")
    parser.add_argument(
        "--variants", type=json.loads, help='JSON, for settings.json: {"variant": {"title": ..., "source": ...}}'
    )
    parser.add_argument(
        "--not-tuned",
        type=json.loads,
        default={},
        help='JSON, for settings.json: {"dataset/protocol/variant": {"configurations": number tried when recorded, or '
        '0, "seeds": [...], "grid": {setting: [value, ...]}, "on_edges": {seed: [setting, ...]} (optional)}}',
    )
    parser.add_argument(
        "--data-read",
        type=json.loads,
        default={},
        help='JSON, for settings.json: {"dataset/protocol/variant": checksum of the configuration of the data}',
    )
    parser.add_argument("--about", type=Path, nargs="+", help="for datasets.json: one about.json per input")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help="file to write: a table of `core.schemas.OF_RESULTS` (.parquet) or a list of records (.json)",
    )


def run(arguments: argparse.Namespace) -> None:
    if arguments.out.suffix == ".parquet":
        if (schema := OF_RESULTS.get(arguments.out.stem)) is None:
            raise UserError(f"--out: {arguments.out}: the name should be one of {', '.join(OF_RESULTS)}")
        write_table(pl.concat(read_table(path, schema) for path in arguments.inputs), schema, arguments.out)
    elif arguments.variants:
        records = [settings_used(read_json(path), arguments.not_tuned) for path in arguments.inputs]
        write_json(
            [
                described(record, **arguments.variants[record["method"]])
                | {"data": arguments.data_read.get(at_task(record), "")}
                for record in records
            ],
            arguments.out,
        )
    elif arguments.about:
        both = zip(arguments.inputs, arguments.about, strict=True)
        write_json([read_json(summary) | read_json(about) for summary, about in both], arguments.out)
    else:
        write_json([read_json(path) for path in arguments.inputs], arguments.out)


def described(record: dict[str, Any], title: str, source: str, from_paper: bool = False) -> dict[str, Any]:
    """Return a record with the title and the source of its variant.

    If a paper states the settings and no search chose them, the record's `choice` becomes "paper".
    """
    is_of_paper = from_paper and record["choice"] in ("untuned", "none")
    return {"title": title, "source": source} | record | ({"choice": "paper"} if is_of_paper else {})


def at_task(record: dict[str, Any]) -> str:
    """Return "dataset/protocol/method" of a record."""
    return "/".join(record[key] for key in ("dataset", "protocol", "method"))


def settings_used(record: dict[str, Any], not_tuned: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the settings in a run.json, how they were chosen, and how many configurations were tried.

    The key `choice` of the result has one of these values:

    - "tuned": this run chose the settings.
    - "recorded": an earlier search on the same data chose the settings.
    - "untuned": the method has settings to tune, but no search chose them.
    - "weights": the weights of an ensemble were chosen.
    - "elsewhere": the model was trained outside the run.
    - "command": a user's command trained the model.
    - "none": there is nothing to tune.

    `seeds_of_search` are the seeds whose validation values chose the settings. `spread` maps metrics to their relative
    standard deviations due to the choice of settings. It is empty if the deviations are not known, or if each seed
    chose its own settings. `limit` is the limit on the number of epochs, or the number of iterations that a solver
    made.
    """
    selection = record["selection"]
    settings, tried = selection["settings"], selection.get("n_configurations", 1)
    seeds, edges = selection.get("seeds", []), selection.get("on_edges", [])
    searched = not_tuned.get(at_task(record))
    choice = "tuned" if tried > 1 or selection.get("settings_of_seed") is not None else "none"
    if "command" in record:
        settings, choice = {"command": record["command"]["command"]}, "command"
    elif record["module"] == OUTSIDE:
        settings, choice = {"file": Path(settings["file"]).name}, "elsewhere"
    elif "members" in settings:  # an ensemble; each member has its own record
        settings, choice = {member["variant"]: member["weight"] for member in settings["members"]}, "weights"
    elif searched is not None:
        tried, seeds = searched["configurations"] or 1, searched["seeds"]
        choice = "recorded" if seeds else "untuned"
        recorded = searched.get("on_edges", {}).get(str(record["seed"]), [])
        edges = sorted({*recorded, *edges_of_grid(record["module"], settings, searched["grid"])})
    return {
        **{key: record[key] for key in ("dataset", "protocol", "method", "seed")},
        "settings": settings,
        "epochs": selection["epochs"],
        "n_configurations": tried,
        "choice": choice,
        "seeds_of_search": seeds,
        "spread": selection.get("spread", {}),
        "grid": values_tried(selection),
        "tries": tries_of(record, searched),
        "on_edges": edges,
        "at_limit": selection.get("at_limit", False),
        "limit": selection.get("limit", selection.get("solver", {}).get("iterations")),
        "diverged": selection.get("diverged", 0),
        "validation_metric": selection.get("metric"),
        "validation_value": selection.get("value"),
    }


def tries_of(record: dict[str, Any], searched: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return what the search for a model's settings tried, from its run.json or from the recorded search `searched`.

    The list is empty if another model's entry has it: several seeds can use the settings that one search chose.
    """
    selection = record["selection"]
    if searched is not None:
        of_search: list[dict[str, Any]] = searched.get("tries", [])
        return of_search if record["seed"] in searched["seeds"][:1] else []
    if selection.get("n_configurations", 1) == 1 or "members" in selection["settings"]:
        return []
    return [{name: value for name, value in tried.items() if name != "solver"} for tried in selection["tries"]]


def edges_of_grid(module: str, settings: dict[str, Any], grid: dict[str, list[Any]]) -> list[str]:
    """Return the names of the settings whose value is at an edge of the grid of a recorded search."""
    if not grid:
        return []
    chosen = check(load_method(module).settings_type, settings, module)
    tried = [chosen.changed({name: value}, module) for name, values in grid.items() for value in values]
    return on_edges(grid, chosen, tried)


def values_tried(selection: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the grid of a search together with the values that it tried beyond the grid's edges."""
    grid = selection.get("grid", {})
    beyond = [{name: [tried["settings"][name]] for name in grid} for tried in selection.get("tries", [])]
    return union([grid, *beyond])
