"""What the tables of claims and the page share."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from vsebench.papers.verdict import FAILS, HOLDS, UNDECIDED, UNTESTABLE
from vsebench.rendering.results import Results

HOLDS_IN_PART, FAILS_IN_PART, MIXED = "holds in part", "fails in part", "mixed"  # of several tests of a claim
ALL = (HOLDS, HOLDS_IN_PART, MIXED, FAILS_IN_PART, FAILS, UNDECIDED, UNTESTABLE)
COMPUTED, NOT_TESTED = "computed", "not tested"  # kinds of tests that are of no data
KINDS = {
    "paper": "on the paper's own data",
    "other": "on real data that the paper did not use",
    "simulated": "on simulated data",
    COMPUTED: "computed, without data",
    NOT_TESTED: "not testable here",
}
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


def kind_of(test: Test) -> str:
    """Return which of `KINDS` a test is of."""
    if test["verdict"] == UNTESTABLE:
        return NOT_TESTED
    return str(test["data"] or COMPUTED)


def by_kind(tests: Sequence[Test]) -> Iterator[tuple[str, Test, list[Test]]]:
    """Yield each kind of data in turn, with the first test and all tests of each claim that was tested on it.

    A claim is among those that are not testable only if none of its tests could be made.
    """
    for kind in KINDS:
        for first, found in claims_of(tests):
            tested = {kind_of(test) for test in found} - {NOT_TESTED}
            of_kind = [test for test in found if kind_of(test) == kind]
            if of_kind and (kind != NOT_TESTED or not tested):
                yield kind, first, of_kind


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


Counted = tuple[str, int, list[tuple[str, int]]]  # a title, the number of claims, and the numbers by verdict


def count_claims(results: Results) -> list[Counted]:
    """Return for each paper and kind of data a title, the number of claims, and the numbers of claims by verdict.

    What is not testable comes last.
    """
    found: list[Counted] = []
    not_tested: list[Counted] = []
    for paper, title in results.outline.papers.items():
        counts: dict[str, Counter[str]] = {}
        for kind, _, tests in by_kind(claim_tests(results, paper)):
            counts.setdefault(kind, Counter())[overall(tests)] += 1
        for kind, number in counts.items():
            verdicts = [(verdict, number[verdict]) for verdict in ALL if number[verdict]]
            line = (f"{title} paper, {KINDS[kind]}", number.total(), verdicts)
            (not_tested if kind == NOT_TESTED else found).append(line)
    return found + not_tested
