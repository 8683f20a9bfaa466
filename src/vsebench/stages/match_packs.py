"""Choose, from packs, the methods that were fitted on the splits of this run.

The tables of the run can show these methods. The stage writes packs.json. Its key `left_out` lists the methods that
were fitted on other splits or tested on other labels, each with the reason. Its key `settings` contains the entries of
the chosen methods, from the settings.json of their packs.
"""

import argparse
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from vsebench.core.schemas import PAIRS, RANKS
from vsebench.core.storage import read_json, read_table, write_json
from vsebench.core.tasks import FROM_PACK, Case, Task, entry_at_task, pack_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument(
        "--methods", type=json.loads, required=True, help='JSON: {"dataset/protocol/method@pack": [seed, ...], ...}'
    )
    parser.add_argument("--out", type=Path, required=True, help="packs.json to write")


def run(arguments: argparse.Namespace) -> None:
    left_out, settings = [], []
    for name, seeds in arguments.methods.items():
        task, entry = entry_at_task(name)
        reason = why_not(task, entry.variant, seeds, arguments.results)
        if reason:
            left_out.append(vars(task) | {"method": entry.variant, "reason": reason})
        else:
            settings += settings_of(task, entry.variant, seeds, arguments.results)
    write_json({"left_out": left_out, "settings": settings}, arguments.out)


def why_not(task: Task, variant: str, seeds: Sequence[int], results: Path) -> str | None:
    """Return why a method of a pack is left out, or None if it is kept.

    A method is kept if, for each seed, the hash of its split and its test labels are the same as in this run.
    """
    pack = variant.partition(FROM_PACK)[2]
    folder = pack_folder(results, pack)
    for seed in seeds:
        case = Case(task, variant, seed)
        ours, theirs = (read_json(case.split(where) / "split.json").get("hash") for where in (results, folder))
        if ours is None or ours != theirs:
            hashes = f"hash {str(theirs)[:12]}, here {str(ours)[:12]}"
            return f"the pack {pack} has another split (seed {seed}: {hashes})"
        held_out = read_table(case.split(results) / "test.parquet", PAIRS)
        ranks = read_table(case.folder(results) / "ranks.parquet", RANKS)
        first, second = (frame.select("image", "label").sort("image", "label") for frame in (held_out, ranks))
        if not first.equals(second):
            return f"the pack {pack} has other test labels (seed {seed})"
    return None


def settings_of(task: Task, variant: str, seeds: Sequence[int], results: Path) -> list[dict[str, Any]]:
    """Return a method's entries in the settings.json of its pack, with the name and title it has in this run."""
    method, _, pack = variant.partition(FROM_PACK)
    return [
        each | {"method": variant, "title": f"{each['title']} ({pack})"}
        for each in _entries(pack_folder(results, pack))
        if (each["dataset"], each["protocol"], each["method"]) == (task.dataset, task.protocol, method)
        and each["seed"] in seeds
    ]


@cache
def _entries(folder: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = read_json(folder / "settings.json")
    return entries
