"""Run the tests of each subject of reliability, with those that take minutes, and count and time them."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from xml.etree import ElementTree

from tests.reliability.trial import Trial

ROOT = Path(__file__).parents[2]
SUBJECTS = {  # what is tried -> files of tests
    "files of results that were changed, cut off, or made with other settings, seeds or splits": (
        "tests/core/test_seals.py",
        "tests/core/test_csv_files.py",
        "tests/stages/test_seals.py",
    ),
    "`vsebench verify` on changed and unchanged results, packs and shared data": ("tests/commands/test_verify.py",),
    "downloads: connections and servers with faults, wrong checksums, passwords in addresses": (
        "tests/formats/download/test_transfer_faults.py",
        "tests/stages/test_download.py",
    ),
    "raw files that were changed after their download; checksums that this project records": (
        "tests/formats/download/test_recorded.py",
        "tests/commands/test_record_downloads.py",
        "tests/stages/test_prepare.py",
    ),
    "archives: hostile names, links, huge sizes, damage": ("tests/formats/download/test_archives.py",),
    "full disks, folders without permission to write, memory limits, failing methods": (
        "tests/core/test_errors.py",
        "tests/workflow/test_mistakes.py",
    ),
    "runs that are stopped, repeated, or started at the same time": (
        "tests/workflow/test_interrupted.py",
        "tests/workflow/test_concurrent.py",
        "tests/workflow/test_reruns.py",
    ),
    "the server from which jobs are forked: silent, slow and wrong clients; its end": (
        "tests/workflow/test_job_server.py",
        "tests/workflow/test_job_shell.py",
    ),
    "mistakes in input files; content that asks to be executed": (
        "tests/formats/test_faults.py",
        "tests/formats/readers/test_table.py",
        "tests/fuzz/test_no_code.py",
    ),
    "methods and the library: extreme inputs and settings, too little memory, divergence": (
        "tests/methods/test_extreme_inputs.py",
        "tests/methods/test_extreme_settings.py",
        "tests/test_library.py",
    ),
    "unusual characters in labels and titles, in each format of a table": (
        "tests/rendering/test_table.py",
        "tests/rendering/test_wsabie.py",
    ),
    "compiled kernels whose sources have changed, or that are damaged": ("tests/kernels/test_content_cache.py",),
}


class Counts(NamedTuple):
    """The numbers of tests, their running time in seconds, and the names of those that failed."""

    tests: int
    skipped: int
    seconds: float
    failed: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    listed = "; ".join(SUBJECTS)
    parser.add_argument("--only", action="append", choices=SUBJECTS, metavar="SUBJECT", help=f"one of: {listed}")


def run(arguments: argparse.Namespace) -> Trial:
    rows: list[list[object]] = []
    failures: list[str] = []
    for subject in arguments.only or SUBJECTS:
        found = tested(SUBJECTS[subject], ROOT)
        print(f"{subject}: {found.tests} tests, {len(found.failed)} failed", flush=True)
        passed = found.tests - found.skipped - len(found.failed)
        files = ", ".join(f"`{file}`" for file in SUBJECTS[subject])
        rows.append([subject, files, passed, found.skipped, len(found.failed), round(found.seconds)])
        failures += [f"{subject}: {name}" for name in found.failed]
    n_passed = sum(int(str(row[2])) for row in rows)
    headings = ["what is tried", "tests", "passed", "skipped", "failed", "seconds"]
    return Trial(f"{n_passed:,} tests of {len(rows)} subjects passed", headings, rows, failures)


def tested(files: Sequence[str], folder: Path) -> Counts:
    """Run files of tests in a folder, including long tests."""
    with TemporaryDirectory() as temporary:
        report = Path(temporary) / "report.xml"
        command = [sys.executable, "-m", "pytest", "--numprocesses", "0", "-m", "not slurm", "--junitxml", str(report)]
        done = subprocess.run([*command, *files], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode > 1 or not report.is_file():
            raise SystemExit(f"pytest failed:\n{done.stdout}{done.stderr}")
        (suite,) = ElementTree.parse(report).getroot()
    cases = [case for case in suite if case.find("failure") is not None or case.find("error") is not None]
    failed = [f"{case.get('classname')}::{case.get('name')}" for case in cases]
    return Counts(int(suite.attrib["tests"]), int(suite.attrib["skipped"]), float(suite.attrib["time"]), failed)
