"""Unpack the results of another run."""

import argparse
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from vsebench.packs.archive import unpack


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pack", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder to write; an existing folder is replaced")


def run(arguments: argparse.Namespace) -> None:
    out: Path = arguments.out
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out.parent, prefix=".unpack-") as folder:
        unpack(arguments.pack, Path(folder) / "new")
        if out.exists():
            shutil.rmtree(out)
        (Path(folder) / "new").rename(out)
