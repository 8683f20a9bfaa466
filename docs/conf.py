"""Sphinx's settings for the site of the pages (`make docs`): the same Markdown files that a code host shows.

Sphinx reads from the root of the repository, so that links between pages are the same here and there.
"""

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import MagicMock

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

project = "vsebench"
copyright = "The vsebench developers, Apache-2.0"  # noqa: A001
root_doc = "docs/index"
include_patterns = [
    "README.md", "AGENTS.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md",
    "config/README.md", "config/papers/README.md", "data/included/README.md",
]  # fmt: skip
# docs/paper is not part of the site: its citations are for the journal's own tools. tests/docs checks its links.
exclude_patterns = [".*", "data/raw", "data/processed", "data/features", "results", "figures", "docs/_build"]  # large

extensions = ["myst_parser"]
myst_heading_anchors = 4  # headings can be linked to under the names that code hosts give them
highlight_language = "text"  # of commands and files without a language

html_theme = "furo"
html_title = "vsebench"
html_copy_source = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]

GROUP = re.compile(r"^## (.+)\n((?:(?!## ).*\n)*)", re.MULTILINE)
PAGE = re.compile(r"^- \[(.+?)\]\(([^)#]+)\.md\)", re.MULTILINE)

# The settings of all methods can be listed without the third-party packages that some methods import.
PEERS = ("implicit", "implicit.cpu", "implicit.cpu.als", "implicit.recommender_base", "irspack", "lightfm")
missing = [module for module in PEERS if find_spec(module.partition(".")[0]) is None]
sys.modules.update({module: MagicMock() for module in missing})

from vsebench.commands.fill import with_current_keys  # noqa: E402


def setup(app: Sphinx) -> None:
    """Hook the contents and the first page into the build."""
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", add_contents)
    app.connect("source-read", fill_keys)
    app.connect("build-finished", add_first_page)


def add_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """Make the lists of links in index.md the contents at the side of every page: a group for each heading."""
    if name != root_doc:
        return
    for heading, text in GROUP.findall(source[0]):
        pages = "\n".join(f"{title} <{page}>" for title, page in PAGE.findall(text))
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{pages}\n```\n"


def fill_keys(app: Sphinx, name: str, source: list[str]) -> None:
    """Make the tables of keys and settings those of today's types, whatever the page's file has."""
    source[0] = with_current_keys(source[0], name)


def add_first_page(app: Sphinx, error: Exception | None) -> None:
    """Lead from the site's root to its first page."""
    page = f'<!doctype html><title>vsebench</title><meta http-equiv="refresh" content="0; url={root_doc}.html">\n'
    (Path(app.outdir) / "index.html").write_text(page, encoding="utf-8")
