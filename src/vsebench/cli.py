"""The command line: one sub-command per stage of the workflow, and one per user command."""

import argparse
import importlib
import sys
from collections.abc import Sequence

from vsebench.core.errors import UserError
from vsebench.core.modules import modules_in
from vsebench.core.processes import end_with_snakemake
from vsebench.core.sources import summary_of


def main(argv: Sequence[str] | None = None) -> int:
    """Run one stage or command; return 0, or 1 after a user's mistake, which is reported in one line.

    A stage or command is a module of `vsebench.stages` or `vsebench.commands`, imported only when it runs. It defines
    add_arguments(parser) and run(arguments); the first line of its docstring is its help text.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    end_with_snakemake()
    modules = command_modules()
    name = argv[0].replace("-", "_") if argv else ""
    if name in modules:
        return run_command(name, argv[1:])
    parser = argparse.ArgumentParser(prog="vsebench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in modules:
        commands.add_parser(module, help=summary(module))
    parser.parse_args(argv)
    return 2


def command_modules() -> dict[str, str]:
    """Return name -> module of all stages and commands, sorted by name."""
    return dict(sorted({**modules_in("stages"), **modules_in("commands")}.items()))


def summary(name: str) -> str:
    """Return the first line of the docstring of a stage or command, without importing it."""
    return summary_of(command_modules()[name])


def run_command(name: str, argv: list[str]) -> int:
    """Run a stage or command with its arguments."""
    module = importlib.import_module(command_modules()[name])
    parser = argparse.ArgumentParser(prog=f"vsebench {name}", description=summary(name))
    module.add_arguments(parser)
    arguments = parser.parse_args(argv)
    try:
        module.run(arguments)
    except UserError as error:
        print(f"vsebench {name}: {error}", file=sys.stderr)
        return 1
    return 0
