"""What the tables of claims and the page share."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from vsebench.papers.verdict import UNTESTABLE
from vsebench.rendering.results import Results

MIXED = "mixed"
Test = dict[str, Any]  # a row of CLAIMS


def tests_of(results: Results, paper: str | None = None) -> list[Test]:
    """Return the tests of all claims, or of one paper's."""
    claims = results.claims if paper is None else results.claims.filter(paper=paper)
    return claims.to_dicts()


def claims_of(tests: Sequence[Test]) -> Iterator[tuple[Test, list[Test]]]:
    """Yield the first test of each claim, and all of its tests."""
    for _, group in groupby(tests, key=lambda test: (test["paper"], test["claim"])):
        found = list(group)
        yield found[0], found


def overall(tests: Sequence[Test]) -> str:
    """Return the verdict of a claim's tests, of those that could be made."""
    found = {test["verdict"] for test in tests} - {UNTESTABLE}
    return found.pop() if len(found) == 1 else MIXED if found else UNTESTABLE


def paper_title(results: Results, paper: str) -> str:
    """Return the title of a paper, for headings."""
    return f"{results.outline.papers.get(paper, paper)} paper"
