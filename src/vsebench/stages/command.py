"""Run a command that trains on an exported split and writes scores, and check the scores.

The stage writes the scores, command.json and timing.parquet. command.json contains the command, its run time in
seconds, its peak memory in bytes, and a description of the machine. timing.parquet has one row.
"""

import argparse
from pathlib import Path

import polars as pl

from vsebench.core.errors import UserError
from vsebench.core.machine import describe
from vsebench.core.schemas import TIMING
from vsebench.core.storage import write_json, write_table
from vsebench.core.tasks import Case, Task
from vsebench.methods.outside.commands import environment_of, keep_copies, run_and_keep


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--variant", required=True, help="name of the method in the results")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--command", required=True, help="shell command, with {problem} (exported split) and {scores}")
    parser.add_argument("--folder", type=Path, required=True, help="folder in which the command runs")
    parser.add_argument("--problem", type=Path, required=True, help="folder of the exported split")
    parser.add_argument("--environment", type=Path, help="virtual environment in which the command runs")
    parser.add_argument("--conda", help="the active conda environment, if the command needs one")
    parser.add_argument("--ran", type=Path, help="folder with the scores of the command, if it ran in a container")
    parser.add_argument("--log", required=True, help="path of the log with the command's output, for messages")
    parser.add_argument("--out", type=Path, required=True, help="file of scores to write; it is named scores.<suffix>")


def run(arguments: argparse.Namespace) -> None:
    case = Case(Task(arguments.dataset, arguments.protocol), arguments.variant, arguments.seed)
    values = {key: getattr(arguments, key) for key in ("dataset", "protocol", "seed", "threads")}
    variables = environment_of(arguments.environment, own_python=arguments.conda is None)
    template, folder, problem, out = arguments.command, arguments.folder, arguments.problem, arguments.out
    try:
        if arguments.ran is not None:
            ended = keep_copies(arguments.ran, problem, out)
        else:
            ended = run_and_keep(template, values, folder, problem, variables, out)
    except UserError as error:
        raise UserError(f"{case}: {error}; the output of the command is in {arguments.log}") from None
    machine = describe()
    record = {"command": template, "threads": arguments.threads, "seconds": ended.seconds}
    record |= {"peak_rss_bytes": ended.peak_bytes}
    row = {**case.keys, "threads": arguments.threads, "repeat": 1, "phase": "command", "seconds": ended.seconds}
    row |= {"peak_rss_bytes": ended.peak_bytes, "machine": machine["machine"]["processor"]}
    write_table(pl.DataFrame([row], schema=TIMING), TIMING, out.parent / "timing.parquet")
    write_json(record | {"machine": machine["machine"]}, out.parent / "command.json")
