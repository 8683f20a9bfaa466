"""The command line: commands that a user types, and `vsebench stage`, which runs a stage of the workflow."""

import argparse
import importlib
import os
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
# The commands that the help lists first, in the order in which a newcomer needs them; all others follow.
FIRST = ("run", "demo", "doctor", "list", "new", "annotate", "features", "export", "check_scores", "pack", "compare")
MAINTAINERS = ("fill", "record", "record_downloads", STAGE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command or stage; return its exit status.

    The status is 0 after success. It is 1 after a user's mistake, or if memory, disk space or a permission is missing;
    one line then states the reason. The status is 2 if the name of the command or stage is missing or unknown.

    A command is a module of `vsebench.commands`, and a stage is a module of `vsebench.stages`. Each such module defines
    add_arguments(parser) and run(arguments). The first line of the module's docstring is the help text. A module is
    imported only when its command or stage runs.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    end_with_snakemake()
    if argv[:1] == [STAGE]:
        return run_one("stages", f"vsebench {STAGE}", argv[1:])
    try:
        try:
            return run_one("commands", "vsebench", argv)
        finally:
            print(end="", flush=True)
    except BrokenPipeError:
        # The program that read the output, such as `head -1`, has ended. Python will write the rest of the output just
        # before it exits; this must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def run_one(folder: str, program: str, argv: list[str]) -> int:
    """Run the command or stage that the first argument names, with the other arguments."""
    modules = modules_in(folder)
    name = argv[0].replace("-", "_") if argv else ""
    if name in modules:
        return run_module(name, modules[name], program, argv[1:])
    if argv and not argv[0].startswith("-"):
        print(f"vsebench: {unknown(argv[0], program, modules)}", file=sys.stderr)
        return 2
    parser = help_of(program, modules)
    parser.parse_args(argv)
    parser.print_usage(sys.stderr)
    print(f"vsebench: NAME is missing; `{program} --help` lists all names", file=sys.stderr)
    return 2


def run_module(name: str, path: str, program: str, argv: list[str]) -> int:
    """Run the module of a command or stage with its arguments."""
    module = importlib.import_module(path)
    parser = argparse.ArgumentParser(prog=f"{program} {as_typed(name)}", description=summary_of(path))
    module.add_arguments(parser)
    of_stage = program.endswith(STAGE)
    arguments = parser.parse_args(argv) if of_stage else parser.parse_intermixed_args(argv)
    try:
        with job() if of_stage else nullcontext():
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
    parser = argparse.ArgumentParser(prog=program, usage="%(prog)s [-h] [--version] NAME ...", description=__doc__)
    parser.add_argument("--version", action="version", version=f"vsebench {version('vsebench')}")
    summaries = {name: summary_of(module) for name, module in modules.items()}
    groups = {"stages": list(modules)}
    if STAGE not in program:
        summaries[STAGE] = f"Run a stage of the workflow; `vsebench {STAGE} --help` lists the stages."
        others = [name for name in modules if name not in FIRST + MAINTAINERS]
        groups = {"commands": [*FIRST, *others], "for maintainers": [*MAINTAINERS]}
    for title, names in groups.items():
        group = parser.add_argument_group(title)
        for name in names:
            group.add_argument(as_typed(name), nargs="?", help=summaries[name])
    return parser


def unknown(name: str, program: str, modules: Mapping[str, str]) -> str:
    """Return the message for a name that is no command or stage."""
    if name.replace("-", "_") in modules_in("stages"):
        return f"{name} is a stage of the workflow: use `vsebench {STAGE} {name}`"
    kind = STAGE if program.endswith(STAGE) else "command"
    nearest = did_you_mean(name, [as_typed(each) for each in modules])
    return f"there is no {kind} {name!r}; {nearest}`{program} --help` lists all"


def as_typed(name: str) -> str:
    """Return a module's name with - in place of _, as the help shows it; on the command line, users can type either."""
    return name.replace("_", "-")
