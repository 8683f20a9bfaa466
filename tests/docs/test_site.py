"""The site: `make docs` builds it from the pages, and a broken link between pages stops it."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.conftest import ROOT, page

sphinx = pytest.mark.skipif(find_spec("sphinx") is None, reason="Sphinx is not installed: make setup-docs")


def build(source: Path, out: Path) -> "subprocess.CompletedProcess[str]":
    """Build pages as the Makefile does."""
    recipe = re.search(
        r"^docs: .*\n\t\$\(BIN\)/sphinx-build (.+) --conf-dir docs \. docs/_build$", page("Makefile"), re.M
    )
    assert recipe is not None
    command = [sys.executable, "-m", "sphinx", *recipe[1].split(), "--conf-dir", ROOT / "docs", source, out]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_first_page_lists_every_page_of_the_folder() -> None:
    listed = re.findall(r"^- \[.+\]\(([^)#]+)\)", page("docs/index.md"), re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"} <= set(listed)


@sphinx
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    done = build(ROOT, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "url=docs/index.html" in (tmp_path / "index.html").read_text(encoding="utf-8")
    methods = (tmp_path / "docs/methods.html").read_text(encoding="utf-8")
    assert 'href="../README.html">Install, run, what you get</a>' in methods  # in the contents at the side


@sphinx
@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("other.md#here", None),
        ("other.md#not-there", "local id not found in doc 'docs/other': 'not-there'"),
        ("gone.md", "target not found: 'gone.md'"),
        ("gone.txt", "target not found: 'gone.txt'"),
    ],
)
def test_a_link_that_leads_nowhere_stops_the_build(link: str, problem: str | None, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    first = f"# First\n\n## Group\n\n- [Other](other.md)\n\nSee [there]({link}).\n"
    (folder / "index.md").write_text(first, encoding="utf-8")
    (folder / "other.md").write_text("# Other\n\n## Here\n", encoding="utf-8")
    done = build(tmp_path, tmp_path / "out")
    assert (done.returncode == 0) == (problem is None)
    assert (problem or "") in done.stderr
