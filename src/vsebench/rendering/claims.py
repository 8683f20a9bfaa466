"""What the tables of claims and the page share."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from vsebench.papers.verdict import FAILS, HOLDS, UNDECIDED, UNTESTABLE
from vsebench.rendering.results import Results

HOLDS_IN_PART, FAILS_IN_PART, MIXED = "holds in part", "fails in part", "mixed"  # of several tests of a claim
ALL = (HOLDS, HOLDS_IN_PART, MIXED, FAILS_IN_PART, FAILS, UNDECIDED, UNTESTABLE)
Test = dict[str, Any]  # a row of CLAIMS


def claim_tests(results: Results, paper: str | None = None) -> list[Test]:
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
    if len(found) < 2:
        return found.pop() if found else UNTESTABLE
    if {HOLDS, FAILS} <= found:
        return MIXED
    return HOLDS_IN_PART if HOLDS in found else FAILS_IN_PART


def paper_title(results: Results, paper: str) -> str:
    """Return the title of a paper, for headings."""
    return f"{results.outline.papers.get(paper, paper)} paper"


def count_claims(results: Results) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """Return for each paper with claims its title, the number of its claims, and the numbers of claims by verdict."""
    found = []
    for paper, title in results.outline.papers.items():
        counts = Counter(overall(tests) for _, tests in claims_of(claim_tests(results, paper)))
        verdicts = [(verdict, counts[verdict]) for verdict in ALL]
        if counts:
            found.append((title, counts.total(), [(verdict, number) for verdict, number in verdicts if number]))
    return found
