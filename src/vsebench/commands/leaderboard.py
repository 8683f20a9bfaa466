"""Write a page that ranks the methods of several packs."""

import argparse
from contextlib import ExitStack
from pathlib import Path

from vsebench.core.storage import replacing
from vsebench.packs.leaderboard import leaderboard
from vsebench.packs.runs import opened


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("packs", type=Path, nargs="+", help="packs, or folders of results")
    parser.add_argument(
        "--since", type=Path, nargs="+", default=[], help="older packs of the same runs; the page shows what changed"
    )
    name = "leaderboard.html"
    parser.add_argument("--out", type=Path, default=Path(name), help=f"page to write (default: {name})")


def run(arguments: argparse.Namespace) -> None:
    with ExitStack() as stack:
        runs = [stack.enter_context(opened(path)) for path in arguments.packs]
        earlier = [stack.enter_context(opened(path)) for path in arguments.since]
        page = leaderboard(runs, earlier)
    with replacing(arguments.out) as temporary:
        temporary.write_text(page, encoding="utf-8")
    print(arguments.out)
