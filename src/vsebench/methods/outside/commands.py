"""Run a user's command, which trains a model on an exported split and writes a file of scores."""

import os
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from vsebench.config.method import WRITTEN
from vsebench.core.errors import UserError
from vsebench.core.processes import Ended, ending_on_signals, run_command
from vsebench.core.storage import move
from vsebench.formats.exported_split import read_exported
from vsebench.formats.scores_file import companions, read_scores
from vsebench.methods.outside.outside_scores import check_scores

SCORES = "scores"  # the name of the file of scores, without its suffix
# Environment variables that only this package's own jobs may see.
OWN = ("VSEBENCH_PARENT", "VSEBENCH_SERVER", "PYTHONHOME")


def fill(command: str, problem: str, scores: str, **values: object) -> str:
    """Replace {problem}, {scores} and, for every name in `values`, {name} in a command.

    The replacements are quoted for the shell. Other braces are kept, because shells use braces too.

    Parameters
    ----------
    problem : the folder that replaces {problem}
    scores : path, without suffix, of the file of scores, which replaces {scores}; if no suffix follows {scores} in the
        command, .csv is added
    values : name -> the value that replaces {name}
    """
    command = WRITTEN.sub(lambda match: shlex.quote(f"{scores}{match[1] or '.csv'}"), command)
    return re.sub(
        "|".join(rf"\{{{name}\}}" for name in ("problem", *values)),
        lambda match: shlex.quote(str(({"problem": problem} | values)[match[0][1:-1]])),
        command,
    )


def environment_of(packages: Path | None, own_python: bool) -> dict[str, str]:
    """Return the environment variables of a command.

    Parameters
    ----------
    packages : the virtual environment to run the command in, if any
    own_python : whether `python` in the command may start the Python that runs this package; this is false with conda,
        so that `python` starts the Python of the conda environment
    """
    variables = {key: value for key, value in os.environ.items() if key not in OWN}
    path = variables.get("PATH", os.defpath).split(os.pathsep)
    if not own_python:
        path = [folder for folder in path if folder != str(Path(sys.executable).parent)]
    if packages is not None:
        path = [str(packages.resolve() / "bin"), *path]
        variables["VIRTUAL_ENV"] = str(packages.resolve())
    return variables | {"PATH": os.pathsep.join(path)}


@contextmanager
def scratch(beside: Path) -> Iterator[Path]:
    """Yield a new folder next to the file `beside`, and delete the folder at the end of the `with` block.

    If the process is killed within the block, the next run deletes the folder.
    """
    folder = beside.parent / f".{beside.stem}.{os.getpid()}.tmp.d"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_and_keep(
    template: str, values: Mapping[str, object], folder: Path, problem: Path, variables: Mapping[str, str], out: Path
) -> Ended:
    """Run a command, check the scores that it writes, and move them to the file `out`.

    Parameters
    ----------
    template : the command, with names in braces
    values : name -> value, for the names other than `problem` and `scores`
    folder : the folder in which the command runs
    problem : the folder of the exported split
    variables : the command's environment variables
    out : path of the file of scores; the text files that belong to the scores are moved to the same folder

    Raises
    ------
    UserError
        The command failed, wrote no scores, or wrote scores that do not fit the split.
    """
    with ending_on_signals(), scratch(out) as temporary:
        command = fill(template, str(problem.resolve()), str(temporary.resolve() / SCORES), **values)
        ended = run_command(command, folder, variables)
        if ended.status:
            raise UserError(f"the command {in_words(ended.status)}")
        keep_scores(temporary / out.name, problem, out)
    return ended


def keep_scores(written: Path, problem: Path, out: Path) -> None:
    """Check a file of scores against the exported split in the folder `problem`, and move the file to `out`.

    The text files that belong to the scores are moved too. If the command has not written a text file with the hash of
    the split, this file is copied from `problem`. A `UserError` is raised if the file of scores is missing or does not
    fit the split.
    """
    if not written.is_file():
        raise UserError("the command ended without an error, but it has not written the file for {scores}")
    split = written.with_suffix(".split.txt")
    if not split.is_file():
        shutil.copyfile(problem / "split.txt", split)
    exported = read_exported(problem)
    try:
        check_scores(read_scores(written), exported.names, exported.parts)
    except UserError as error:
        raise UserError(f"the command wrote wrong scores: {str(error).replace(str(written), written.name)}") from None
    for file in (*companions(written), written):
        move(file, out.parent / file.name)


def keep_copies(ran: Path, problem: Path, out: Path) -> Ended:
    """Check the scores that a command in a container wrote into the folder `ran`, and copy them to the file `out`.

    Returns the command's time and memory. Snakemake measured them, and wrote them to the table `<ran>.tsv`.
    """
    with scratch(out) as temporary:
        shutil.copytree(ran, temporary, dirs_exist_ok=True)
        keep_scores(temporary / out.name, problem, out)
    measured = pl.read_csv(f"{ran}.tsv", separator="\t", infer_schema=False).row(-1, named=True)
    try:
        peak = round(float(measured["max_rss"]) * 2**20)  # `max_rss` is in MiB
    except ValueError:  # the command was too short to measure
        peak = None
    return Ended(0, float(measured["s"]), peak)


def in_words(status: int) -> str:
    """Describe how a failed command ended, given its exit status or minus the number of the signal that ended it.

    >>> in_words(2), in_words(-9)
    ('ended with exit status 2', 'was killed by SIGKILL, often because memory ran out')
    """
    if status >= 0:
        return f"ended with exit status {status}"
    name = signal.Signals(-status).name
    return f"was killed by {name}" + (", often because memory ran out" if name == "SIGKILL" else "")
