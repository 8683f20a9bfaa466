"""Write a split without its test labels into a folder, for users' commands that train on it."""

import argparse
from pathlib import Path

from vsebench.core.tasks import Task
from vsebench.formats.exported_split import write_exported


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--split", type=Path, required=True, help="folder of the split")
    parser.add_argument("--processed", type=Path, required=True, help="folder of the processed data set")
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder to write")


def run(arguments: argparse.Namespace) -> None:
    task = Task(arguments.dataset, arguments.protocol)
    write_exported(arguments.split, arguments.processed, arguments.out, task, arguments.seed, copied=False)
