"""The arguments that several stages share: they state a case (one model to fit), the method and the validation."""

import argparse
import json
from pathlib import Path

from vsebench.config.method import Epochs
from vsebench.core.errors import UserError
from vsebench.core.schemas import SIBLINGS
from vsebench.core.storage import read_json, read_table
from vsebench.core.yaml_files import check
from vsebench.data.needs import FILE_NEEDS
from vsebench.methods.base import Fitter, Member, Method, Settings, epochs_mistake, load_method, read_settings
from vsebench.selection import Search


def add_case_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--split", type=Path, required=True, help="folder of the split")
    add_need_arguments(parser)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--variant", required=True, help="name of the variant in the results")
    parser.add_argument("--module", required=True, help="name of a method in vsebench.methods")
    parser.add_argument("--settings", type=json.loads, required=True, help="JSON: the method's settings")
    parser.add_argument("--chosen", type=Path, help="run.json with the settings to use in place of --settings")
    parser.add_argument("--members", type=Path, nargs="+", help="run.json file of each member of an ensemble")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--epochs", type=json.loads, help='JSON: {"maximum": ..., "patience": ...}, for a method with epochs'
    )
    parser.add_argument("--metric", help="validation metric, such as ndcg@10; without it, nothing is chosen")
    parser.add_argument("--no-refit", action="store_true", help="do not fit the tested model to the validation labels")
    parser.add_argument("--images", type=int, default=0, help="maximum number of validation images")
    parser.add_argument("--grid", type=json.loads, default={}, help="JSON: the values to try for each setting")
    more = "further seeds; settings are chosen by the mean validation value of all seeds"
    parser.add_argument("--more-seeds", type=int, nargs="+", default=[], help=more)
    spread = "estimate how much metrics vary due to the choice of settings"
    parser.add_argument("--with-spread", action="store_true", help=spread)
    siblings = "siblings.parquet, to estimate this also for sibling precision"
    parser.add_argument("--siblings", type=Path, help=siblings)
    parser.add_argument("--beyond", type=int, default=0, help="maximum number of configurations to try beyond the grid")


def add_need_arguments(parser: argparse.ArgumentParser) -> None:
    """Add an option for each file that methods can need besides the labels."""
    for need in FILE_NEEDS:
        parser.add_argument(
            need.option, type=Path, nargs=need.nargs, help=f"for a method that needs {need.description}"
        )


def open_method(arguments: argparse.Namespace) -> tuple[type[Fitter], Search | None]:
    """Return the method and the search for its settings and epochs; the search is None if nothing is chosen."""
    where = f"config/methods/{arguments.variant}.yaml: epochs"
    method = load_method(arguments.module)
    if issubclass(method, Method) != (arguments.epochs is not None):
        raise UserError(f"{where}: {epochs_mistake(method)}")
    if arguments.epochs is not None and arguments.metric is None:
        raise UserError("--metric: missing, but epochs are chosen by a metric; name one, such as ndcg@10")
    if arguments.metric is None:
        return method, None
    limits = None if arguments.epochs is None else check(Epochs, arguments.epochs, where)
    return method, Search(
        arguments.metric,
        arguments.images,
        limits,
        arguments.grid,
        arguments.beyond,
        tuple(arguments.more_seeds),
        arguments.with_spread,
        None if arguments.siblings is None else read_table(arguments.siblings, SIBLINGS),
    )


def open_settings(arguments: argparse.Namespace, method: type[Fitter]) -> tuple[Settings, int | None]:
    """Return the method's settings, and the seed of the fit that chose them.

    The seed is None if the settings are not from the file that `--chosen` names.
    """
    if arguments.members:
        members = [read_member(path) for path in arguments.members]
        return read_settings(method, {"members": members}, "--members"), None
    if arguments.chosen:
        record = read_json(arguments.chosen)
        return read_settings(method, record["selection"]["settings"], str(arguments.chosen)), record["seed"]
    return read_settings(method, arguments.settings, f"config/methods/{arguments.variant}.yaml: settings"), None


def read_member(path: Path) -> Member:
    """Read the settings and epochs of an ensemble's member from the run.json of the member's own fit."""
    record = read_json(path)
    chosen = {key: record["selection"][key] for key in ("settings", "epochs")}
    return check(Member, {"variant": record["method"], "module": record["module"]} | chosen, str(path))
