"""The pages: the number of files for each kind of addition, and their links."""

import re
import subprocess
import sys

import pytest

from tests.docs.conftest import ROOT, files_of, page, section
from vsebench.core.modules import modules_by_key

PAGES = ["README.md", "AGENTS.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"]
PAGES += ["config/README.md", "docs/paper/paper.md"]
PAGES += sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize(
    ("what", "name", "heading"),
    [
        ("a metric", "metrics", "## Adding a metric"),
        ("a figure or a table", "figures", "## Adding a figure"),
        ("a figure or a table", "figures", "## Adding a table"),
        ("a method", "methods", "### From the image's labels"),
        ("a method", "methods", "### From image features"),
        ("a decision", "decisions", "## Adding a decision"),
    ],
)
def test_an_example_takes_as_many_files_as_the_readme_says(what: str, name: str, heading: str) -> None:
    (number,) = re.findall(rf"^\| {what}[^|]* \| (\d)", page("README.md"), re.MULTILINE)
    assert len(files_of(section(page(f"docs/{name}.md"), heading))) == int(number)


@pytest.mark.parametrize("name", ["metrics", "figures", "methods", "decisions"])
def test_the_modules_that_a_page_shows_pass_the_linter(name: str) -> None:
    for path, text in files_of(page(f"docs/{name}.md")).items():
        if path.endswith(".py"):
            command = [sys.executable, "-m", "ruff", "check", "--stdin-filename", path, "-"]
            done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_names_methods_and_data_sets_that_exist() -> None:
    """Names are in the second column; the tables are a selection."""
    methods, _, data = section(page("README.md"), "## Methods and data sets").partition("| data |")
    datasets = {path.stem for path in (ROOT / "config/datasets").glob("*.yaml")}
    for table, names in ((methods, set(modules_by_key("METHODS", "methods"))), (data, datasets)):
        cells = re.findall(r"^\|[^|]+\|([^|]+)\|[^|]+\|$", table, re.MULTILINE)
        listed = re.findall(r"`([\w-]+)`", "".join(cells[1:]))
        assert listed
        assert set(listed) <= names


def test_no_paragraph_of_the_readme_is_longer_than_three_lines() -> None:
    for part in re.split(r"\n\n|\n(?=- |\|)", page("README.md")):
        if not part.startswith(("|", "    ")):
            assert len(part) <= 3 * 120, part


def test_the_readme_names_commands_of_the_makefile() -> None:
    targets = re.findall(r"^([a-z-]+):", page("Makefile"), re.MULTILINE)
    named = re.findall(r"^    make ([a-z-]+)|`make ([a-z-]+)`", page("README.md"), re.MULTILINE)
    assert {"iapr", "paper", "test", "docs"} <= {first or second for first, second in named} <= set(targets)


def anchors(text: str) -> set[str]:
    """Return the names of a page's headings in links."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_links_have_a_target(name: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page(name)):
        path, _, anchor = target.partition("#")
        if ":" in path:
            continue
        found = (ROOT / name).parent / path if path else ROOT / name
        assert found.exists(), target
        assert not anchor or anchor in anchors(found.read_text(encoding="utf-8")), target


@pytest.mark.parametrize("name", PAGES)
def test_a_page_names_files_of_the_package_that_exist(name: str) -> None:
    shown = {path for other in PAGES for path in files_of(page(other))}
    if name == "CHANGELOG.md":  # it names files that no longer exist
        return
    for path in set(re.findall(r"`((?:src/vsebench|workflow|config|tests|benchmarks|docs)/[\w./-]+)`", page(name))):
        assert path in shown or (ROOT / path).exists(), path
