"""The command line: one sub-command per stage of the workflow."""

import argparse
import ast
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.core.processes import end_with_snakemake

STAGES = Path(__file__).parent / "stages"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one stage; 0 on success, 1 with one line on standard error for a user's mistake.

    A stage is a module of `vsebench.stages`, imported only when it runs. It offers add_arguments(parser) and
    run(arguments), and the first sentence of its docstring is its help.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    end_with_snakemake()
    known = stage_names()
    stage = argv[0].replace("-", "_") if argv else ""  # new-method is the module new_method
    if stage in known:
        return run_stage(stage, argv[1:])
    parser = argparse.ArgumentParser(prog="vsebench", description=__doc__)
    stages = parser.add_subparsers(dest="stage", required=True, metavar="STAGE")
    for name in known:
        stages.add_parser(name, help=summary(name))
    parser.parse_args(argv)
    return 2


def stage_names() -> list[str]:
    """Return the names of the stages."""
    return sorted(path.stem for path in STAGES.glob("*.py") if path.stem != "__init__")


def summary(stage: str) -> str:
    """Return the first line of a stage's docstring, without importing the stage."""
    docstring = ast.get_docstring(ast.parse((STAGES / f"{stage}.py").read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0]


def run_stage(name: str, argv: list[str]) -> int:
    """Run a stage with its arguments."""
    module = importlib.import_module(f"vsebench.stages.{name}")
    parser = argparse.ArgumentParser(prog=f"vsebench {name}", description=summary(name))
    module.add_arguments(parser)
    arguments = parser.parse_args(argv)
    try:
        module.run(arguments)
    except UserError as error:
        print(f"vsebench {name}: {error}", file=sys.stderr)
        return 1
    return 0
