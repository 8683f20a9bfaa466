"""docs/configuration.md and docs/settings.md: they are what `vsebench fill` makes of today's types."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.conftest import ROOT, page

# The types of settings do not need the third-party packages that their methods import.
PROGRAM = """
import sys
from importlib.util import find_spec
from unittest.mock import MagicMock
for name in ("implicit.cpu.als", "implicit.cpu", "implicit", "lightfm"):
    if find_spec(name.partition(".")[0]) is None:
        sys.modules[name] = MagicMock()
from vsebench.cli import main
sys.exit(main(["fill", sys.argv[1]]))
"""


@pytest.mark.parametrize("name", ["docs/configuration.md", "docs/settings.md"])
def test_the_page_is_current(name: str, tmp_path: Path) -> None:
    copy = tmp_path / "page.md"
    copy.write_text(page(name), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", PROGRAM, copy], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert copy.read_text(encoding="utf-8") == page(name), f"make it again: .venv/bin/vsebench fill {name}"


@pytest.mark.parametrize("name", ["docs/configuration.md", "docs/settings.md"])
def test_every_key_has_a_meaning(name: str) -> None:
    rows = re.findall(r"^(?:\| `(.+?)` \|.*\||- `(.+?)` \(.+?\):) (.*?) ?\|?$", page(name), re.MULTILINE)
    assert len(rows) > 50
    assert [row for row in rows if not row[-1]] == []


def test_every_run_of_the_project_is_listed() -> None:
    listed = re.findall(r"^\| `([\w-]+\.yaml)` \|", page("config/README.md"), re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in (ROOT / "config").glob("*.yaml"))
