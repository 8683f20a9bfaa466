"""Write the split of a task without its test labels, so that another program can train a model on this split."""

import argparse
from pathlib import Path

from vsebench.core.errors import UserError, did_you_mean
from vsebench.core.seals import job
from vsebench.core.storage import new_folder
from vsebench.core.tasks import Case, Task
from vsebench.formats.exported_split import write_exported
from vsebench.protocols.base import FROM, load_protocol, source_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", help="<data set>/<protocol>")
    parser.add_argument("folder", type=Path, help="folder to write; it must not exist yet")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("results"),
        help="folder of the run's results; the folder `data` of the run must be beside it (default: results)",
    )


def run(arguments: argparse.Namespace) -> None:
    task, seed, results, folder = Task.of(arguments.task), arguments.seed, arguments.results, arguments.folder
    split = Case(task, "", seed).split(results)
    if not (split / "split.json").is_file():
        raise UserError(without_split(task, seed, results))
    if folder.exists():
        raise UserError(f"{folder}: exists already; name a new folder")
    source = source_of(task.protocol)
    processed = results.parent / "data/processed" / task.dataset / (f"{FROM}{source}" if source else "")
    # `job` refuses a split that was made from an older version of the data, because its labels could get wrong names.
    with job(), new_folder(folder) as temporary:
        hash_of_split = write_exported(split, processed, temporary, task, seed, copied=True)
    print(f"{folder}: {task}, seed {seed}, split {hash_of_split[:12]}; see {folder}/README.md")


def without_split(task: Task, seed: int, results: Path) -> str:
    """Return the message for a task that has no split with this seed; the message says how to make the split."""
    known = sorted({"/".join(path.parts[-5:-3]) for path in results.glob("*/*/seed*/split/split.json")})
    if not task.protocol:
        examples = [name for name in known if name.startswith(f"{task.dataset}/")] or known[:3] or ["sim-iapr/distinct"]
        return f"{task.dataset!r}: a task is <data set>/<protocol>, such as {' or '.join(examples)}"
    load_protocol(task.protocol)
    nearest = "" if str(task) in known else did_you_mean(str(task), known)
    out = "" if results == Path("results") else f" --out {results.parent}"
    return (
        f"{results} has no split of {task} with seed {seed}; {nearest}to make it, run `vsebench run FILE "
        f"{Case(task, '', seed).split(Path('results'))}/split.json{out}`; FILE is the configuration of a run that has "
        "this task and seed"
    )
