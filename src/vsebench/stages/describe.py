"""Record the machine, the versions of packages, and the compile times of kernels."""

import argparse
from pathlib import Path

from vsebench.core.machine import describe
from vsebench.core.storage import read_json, write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kernels", type=Path, nargs="+", required=True, help="JSON files of the stage compile")
    parser.add_argument("--out", type=Path, required=True, help="machine.json to write")


def run(arguments: argparse.Namespace) -> None:
    write_json(describe() | {"kernels": {path.stem: read_json(path) for path in arguments.kernels}}, arguments.out)
