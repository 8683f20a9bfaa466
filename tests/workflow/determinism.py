"""Do the same small run under different conditions, and compare its files byte for byte with those of the first run."""

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tests.reliability.trial import Trial
from tests.workflow.project import IMAGES, ROOT, SAME, Project, tiny_set

METHODS = ["popularity", "ease", "ials", "warp", "opt_auc", "vse_ens", "vse_fs", "mult_vae"]
METHODS += ["ridge", "tagprop", "wsabie"]  # these need image features
PARTS = {"opt_auc": 2, "vse_ens": 3}  # are trained at the same time, if the job has as many threads
FIRST = ("--cores", "2", "--set-threads", "fit=1", "rank=1")
FIRST_ENVIRONMENT = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


@dataclass(frozen=True)
class Condition:
    """What differs from the first run."""

    title: str
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    folder: str = "run"
    linked: bool = False  # the run starts in a symbolic link to the folder
    umask: int = 0o022


def environments(name: str, *values: str) -> list[Condition]:
    return [Condition(f"{name}={value}", environment={name: value}) for value in values]


CONDITIONS = [
    Condition("2 threads for each fit and ranking", ("--set-threads", "fit=2", "rank=2")),
    Condition("3 threads", ("--cores", "3", "--set-threads", "fit=3", "rank=3")),
    Condition("one job at a time", ("--cores", "1")),
    *environments("PYTHONHASHSEED", "1", "4294967295"),
    *environments("LC_ALL", "C", "tr_TR.UTF-8", "de_DE.UTF-8"),
    Condition("texts in ASCII: LC_ALL=C and PYTHONUTF8=0", environment={"LC_ALL": "C", "PYTHONUTF8": "0"}),
    *environments("TZ", "Pacific/Kiritimati", "Asia/Kolkata"),
    Condition("a folder with spaces in its name", folder="my own papers"),
    Condition("a folder with quotes", folder="""the "new" author's"""),
    Condition("a folder with letters outside of ASCII", folder="größe 標籤 ñ"),
    Condition("a folder with braces and signs of the shell", folder="a {b} 100% $HOME; c"),
    Condition("a folder reached through a symbolic link", linked=True),
    Condition("umask 077", umask=0o077),
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    titles = [condition.title for condition in CONDITIONS]
    listed = "; ".join(titles).replace("%", "%%")
    parser.add_argument("--only", action="append", choices=titles, metavar="CONDITION", help=f"one of: {listed}")


def run(arguments: argparse.Namespace) -> Trial:
    conditions = [condition for condition in CONDITIONS if not arguments.only or condition.title in arguments.only]
    rows: list[list[object]] = []
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        source = prepared(Path(folder) / "source")
        first = made(source, Condition("the first run"), Path(folder))
        assert first
        for condition in conditions:
            found = made(source, condition, Path(folder))
            different = differences(first, found)
            outcome = ", ".join(different) or "same"
            print(f"{condition.title}: {len(found)} files, {outcome}", flush=True)
            rows.append([title(condition), len(found), outcome])
            failures += [f"{condition.title}: {name}" for name in different]
    summary = f"a run with {len(METHODS)} methods, repeated under {len(conditions)} conditions"
    return Trial(summary, ["what differs from the first run", "files compared", "outcome"], rows, failures)


def prepared(folder: Path) -> Project:
    """Copy the workflow with the configuration of a small run, and compile its kernels."""
    project = Project.copy(ROOT, folder)
    metrics = ["map", "precision@5", "auc", "macro_f1@5"]
    project.configure(datasets=tiny_set("regions") | IMAGES, methods=METHODS, metrics=metrics, papers=[])
    for method, parts in PARTS.items():
        project.change(method, "settings", parts=parts)
    outcome = project.snakemake("results/machine.json")
    assert outcome.status == 0, outcome.text[-5000:]
    return project


def made(source: Project, condition: Condition, folder: Path) -> dict[str, bytes]:
    """Run a copy of a project under a condition; return its files without seconds, or none if the run failed."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        project = Project.copy(source.folder, Path(place) / condition.folder)
        if condition.linked:
            link = Path(place) / "link"
            link.symlink_to(project.folder)
            project = Project(link)
        mask = os.umask(condition.umask)
        try:
            environment = FIRST_ENVIRONMENT | condition.environment
            process = project.start("accuracy", *FIRST, *condition.arguments, **environment)
        finally:
            os.umask(mask)
        if process.wait() == 0:
            return project.found(*SAME)
        print(project.started[-5000:], file=sys.stderr)
        return {}


def differences(first: dict[str, bytes], found: dict[str, bytes]) -> list[str]:
    """Return the names of files that are missing, superfluous or different."""
    if not found:
        return ["the run failed"]
    return sorted(name for name in first.keys() | found.keys() if first.get(name) != found.get(name))


def title(condition: Condition) -> str:
    """Return what differs, and whether a language is only a name here, because this machine does not have it."""
    code = "import locale; locale.setlocale(locale.LC_ALL, '')"
    environment = os.environ | FIRST_ENVIRONMENT | condition.environment
    known = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
    return condition.title if known.returncode == 0 else f"{condition.title} (a language that is not installed here)"
