"""The command line: commands that a user types, and `vsebench stage`, which runs a stage of the workflow."""

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from importlib.metadata import version

from vsebench.core.errors import UserError, did_you_mean, refusal
from vsebench.core.modules import modules_in
from vsebench.core.processes import end_with_snakemake
from vsebench.core.seals import job
from vsebench.core.sources import summary_of

STAGE = "stage"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command or stage; return its exit status.

    The status is 0 after success. It is 1 after a user's mistake, or if memory, disk space or a permission is missing;
    one line then states the reason. The status is 2 if no command or stage has the given name.

    A command is a module of `vsebench.commands`, and a stage is a module of `vsebench.stages`. The module is imported
    only when it runs. It defines add_arguments(parser) and run(arguments); the first line of its docstring is its help
    text.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    end_with_snakemake()
    if argv[:1] == [STAGE]:
        return run_one("stages", f"vsebench {STAGE}", argv[1:])
    return run_one("commands", "vsebench", argv)


def run_one(folder: str, program: str, argv: list[str]) -> int:
    """Run the command or stage that the first argument names, with the other arguments."""
    modules = modules_in(folder)
    name = argv[0].replace("-", "_") if argv else ""
    if name in modules:
        return run_module(name, modules[name], program, argv[1:])
    if argv and not argv[0].startswith("-"):
        print(f"vsebench: {unknown(argv[0], program, modules)}", file=sys.stderr)
        return 2
    help_of(program, modules).parse_args(argv)
    return 2


def run_module(name: str, path: str, program: str, argv: list[str]) -> int:
    """Run the module of a command or stage with its arguments."""
    module = importlib.import_module(path)
    parser = argparse.ArgumentParser(prog=f"{program} {as_typed(name)}", description=summary_of(path))
    module.add_arguments(parser)
    arguments = parser.parse_args(argv)
    try:
        with job() if program.endswith(STAGE) else nullcontext():
            module.run(arguments)
    except UserError as error:
        print(f"vsebench {as_typed(name)}: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        if (refused := refusal(error)) is None:
            raise
        print(f"vsebench {as_typed(name)}: {refused}", file=sys.stderr)
        return 1
    return 0


def help_of(program: str, modules: Mapping[str, str]) -> argparse.ArgumentParser:
    """Return the parser that prints the list of the commands or stages."""
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    parser.add_argument("--version", action="version", version=f"vsebench {version('vsebench')}")
    listed = parser.add_subparsers(required=True, metavar="NAME")
    for name, module in modules.items():
        listed.add_parser(as_typed(name), help=summary_of(module))
    if STAGE not in program:
        listed.add_parser(STAGE, help=f"Run a stage of the workflow; `vsebench {STAGE} --help` lists them.")
    return parser


def unknown(name: str, program: str, modules: Mapping[str, str]) -> str:
    """Return the message for a name that is no command or stage."""
    if name.replace("-", "_") in modules_in("stages"):
        return f"{name} is a stage of the workflow: use `vsebench {STAGE} {name}`"
    kind = STAGE if program.endswith(STAGE) else "command"
    nearest = did_you_mean(name, [as_typed(each) for each in modules])
    return f"there is no {kind} {name!r}; {nearest}`{program} --help` lists all"


def as_typed(name: str) -> str:
    """Return a module's name as it is typed on the command line, where both - and _ are understood."""
    return name.replace("_", "-")
