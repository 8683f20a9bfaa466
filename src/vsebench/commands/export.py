"""Write the split of a task, so that another program can train a model on it; test labels are left out."""

import argparse
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.core.tasks import Case, Task
from vsebench.formats.exported_split import write_exported
from vsebench.protocols.base import FROM, source_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", help="<data set>/<protocol>")
    parser.add_argument("folder", type=Path, help="folder to write; it must not exist yet")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--processed", type=Path, default=Path("data/processed"))


def run(arguments: argparse.Namespace) -> None:
    task, folder = Task.of(arguments.task), arguments.folder
    split = Case(task, "", arguments.seed).split(arguments.results)
    source = source_of(task.protocol)
    processed = arguments.processed / task.dataset / (f"{FROM}{source}" if source else "")
    if not (split / "split.json").is_file():
        raise UserError(
            f"{split}: there is no such split; `snakemake {split}/split.json --configfile FILE` makes it; FILE is the "
            "configuration of a run that has this task and seed"
        )
    if folder.exists():
        raise UserError(f"{folder}: exists already; name a new folder")
    hash_of_split = write_exported(split, processed, folder, task, arguments.seed)
    print(f"{folder}: {task}, seed {arguments.seed}, split {hash_of_split[:12]}; see {folder}/README.md")
