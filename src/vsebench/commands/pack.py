"""Pack the results of a run into one file, so that other people can compare their results with these."""

import argparse
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.packs.runs import manifest_of
from vsebench.packs.writing import SUFFIX, write_pack
from vsebench.rendering.choices import count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, nargs="?", help="file to write (default: <configuration>.vsepack)")
    parser.add_argument(
        "--results", type=Path, default=Path("results"), help="results of a finished run (default: results)"
    )
    data = "folder of the run's data; checksums of its files go into the pack (default: data beside the results)"
    parser.add_argument("--data", type=Path, help=data)


def run(arguments: argparse.Namespace) -> None:
    out = arguments.file or Path(f"{manifest_of(arguments.results).name}{SUFFIX}")
    if out.suffix != SUFFIX:
        raise UserError(f"{out}: the name of a pack ends in {SUFFIX}; name it {out.with_suffix(SUFFIX)}")
    manifest = write_pack(arguments.results, arguments.data or arguments.results.parent / "data", out)
    tasks, methods = count(len(manifest.tasks), "task"), count(len(manifest.methods), "method")
    print(f"{out}: {tasks}, {methods}, {out.stat().st_size / 1e6:.1f} MB")
