"""Try how reliable runs and readers are, and print what happened; with `--page`, also write it into a page.

    python -m tests.reliability kills        # kills runs at random moments
    python -m tests.reliability fuzz         # lets each reader read damaged files
    python -m tests.reliability determinism  # repeats a run under other conditions
    python -m tests.reliability obstacles    # runs a project on a full disk, in read-only folders, with little memory
    python -m tests.reliability subjects     # runs and times the tests of each subject

The page has a block for each trial, whose text is replaced:

    <!-- tried: kills -->
    <!-- end of tried -->

If anything failed, the page is not changed, and the exit status is 1.
"""

import argparse
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.fuzz import run as fuzz
from tests.reliability import subjects
from tests.reliability.trial import Trial
from tests.workflow import determinism, kills, obstacles
from vsebench.core.machine import processor
from vsebench.core.storage import replacing

ROOT = Path(__file__).parents[2]
TRIALS = {"kills": kills, "fuzz": fuzz, "determinism": determinism, "obstacles": obstacles, "subjects": subjects}


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = parser.add_subparsers(dest="trial", required=True)
    for name, module in TRIALS.items():
        of_trial = names.add_parser(name, description=module.__doc__)
        of_trial.add_argument("--page", type=Path, help="a Markdown file with a block for this trial")
        module.add_arguments(of_trial)
    arguments = parser.parse_args(words)
    name, page = arguments.trial, arguments.page
    if page and getattr(arguments, "only", None):
        parser.error("--page: a page shows whole trials, so leave out --only")
    if page and len(block(name).findall(page.read_text(encoding="utf-8"))) != 1:
        parser.error(f"{page}: there is no block <!-- tried: {name} -->, followed by <!-- end of tried -->")
    # The commit at the start, since others may change the files meanwhile.
    date, where, start = datetime.now(UTC).date(), commit(ROOT, page), time.monotonic()
    trial: Trial = TRIALS[name].run(arguments)
    seconds = time.monotonic() - start
    above = f"{date}, {where}, {processor()}: {trial.summary}; {seconds:,.0f} seconds."
    text = f"{textwrap.fill(above, 120, break_on_hyphens=False)}\n\n{trial.table}"
    print(f"\n{text}")
    for failure in trial.failures:
        print(f"failed: {failure}", file=sys.stderr)
    if page and not trial.failures:
        fill(page, name, text)
    return int(bool(trial.failures))


def block(name: str) -> re.Pattern[str]:
    """Return a pattern of a trial's block in a page, with groups for its first line, its text and its last line."""
    return re.compile(rf"(<!-- tried: {name} -->\n)((?:(?!<!-- tried).)*?)(<!-- end of tried -->)", re.DOTALL)


def fill(page: Path, name: str, text: str) -> None:
    """Replace the text of a trial's block."""
    old = page.read_text(encoding="utf-8")
    with replacing(page) as temporary:
        temporary.write_text(block(name).sub(lambda found: f"{found[1]}\n{text}\n\n{found[3]}", old), encoding="utf-8")


def commit(folder: Path, page: Path | None) -> str:
    """Return the commit of a repository, and whether any file but the page was changed since."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout

    try:
        changed = {folder / line[3:] for line in git("status", "--porcelain", "--untracked-files=all").splitlines()}
        name = git("rev-parse", "--short=12", "HEAD").strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown commit"
    if page:
        changed.discard(page.resolve())
    return f"commit {name}{' and local changes' if changed else ''}"


if __name__ == "__main__":
    raise SystemExit(main())
