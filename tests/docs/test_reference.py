"""docs/configuration.md and docs/settings.md: the site fills them with the keys of the current types (docs/conf.py)."""

import re
import subprocess
import sys

import pytest

from tests.docs.conftest import ROOT, page
from tests.methods.problems import names_of_methods
from vsebench.plan.files import OF_DATASET

# Sphinx may be missing here; the function that it calls for each page does not need it.
PROGRAM = """
import runpy, sys
from unittest.mock import MagicMock
sys.modules |= {name: MagicMock() for name in ("sphinx", "sphinx.application")}
source = [sys.stdin.read()]
runpy.run_path("docs/conf.py")["fill_keys"](None, sys.argv[1], source)
print(source[0])
"""


def built(name: str, text: str) -> str:
    """Return a page as the site has it."""
    command = [sys.executable, "-c", PROGRAM, name]
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["docs/configuration.md", "docs/settings.md"])
def test_every_key_has_a_meaning(name: str) -> None:
    lines = re.findall(r"^(?:\| `(.+?)` \|.*\||- `(.+?)` \(.+?\):) (.*?) ?\|?$", built(name, page(name)), re.MULTILINE)
    assert len(lines) > 50
    assert [line for line in lines if not line[-1]] == []


def test_the_site_lists_every_method_whatever_the_file_has() -> None:
    name = "docs/settings.md"
    site = built(name, re.sub(r"(<!-- keys: .* -->\n)(?s:.*?)(<!-- end of keys -->)", r"\1\2", page(name)))
    for method in names_of_methods():
        assert f"`{method}`" in site


def test_every_key_of_an_own_table_is_named() -> None:
    (row,) = re.findall(r"^\| `datasets\.<name>\.data` .*$", page("docs/configuration.md"), re.MULTILINE)
    own = page("docs/own-data.md")
    assert [key for key in sorted(OF_DATASET) if f"`{key}`" not in row] == []
    assert [key for key in sorted(OF_DATASET) if f"`{key}`" not in own] == []


def test_a_run_that_is_listed_exists() -> None:
    listed = re.findall(r"^\| `([\w-]+\.yaml)` \|", page("config/README.md"), re.MULTILINE)
    assert listed
    assert set(listed) <= {path.name for path in (ROOT / "config").glob("*.yaml")}
