"""Tests of claims grouped by claim and kind of data, for tables and the page."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from vsebench.papers.verdict import FAILS, HOLDS, UNDECIDED, UNTESTABLE
from vsebench.rendering.results import Results

HOLDS_IN_PART, FAILS_IN_PART, MIXED = "holds in part", "fails in part", "mixed"  # verdicts over several tests
ALL = (HOLDS, HOLDS_IN_PART, MIXED, FAILS_IN_PART, FAILS, UNDECIDED, UNTESTABLE)
COMPUTED, NOT_TESTED = "computed", "not tested"  # kinds of tests without data
KINDS = {
    "paper": "on the paper's own data",
    "other": "on real data that the paper did not use",
    "simulated": "on simulated data",
    COMPUTED: "computed, without data",
    NOT_TESTED: "not testable here",
}
Test = dict[str, Any]  # a row of CLAIMS


def claim_tests(results: Results, paper: str | None = None) -> list[Test]:
    """Return the tests of all claims, or of the claims of one paper."""
    return (results.claims if paper is None else results.claims.filter(paper=paper)).to_dicts()


def claims_of(tests: Sequence[Test]) -> Iterator[tuple[Test, list[Test]]]:
    """Yield the first test and all tests of each claim."""
    for _, group in groupby(tests, key=lambda test: (test["paper"], test["claim"])):
        tests_of_claim = list(group)
        yield tests_of_claim[0], tests_of_claim


def kind_of(test: Test) -> str:
    """Return the kind of a test, a key of `KINDS`."""
    if test["verdict"] == UNTESTABLE:
        return NOT_TESTED
    return str(test["data"] or COMPUTED)


def by_kind(tests: Sequence[Test]) -> list[tuple[str, list[Test]]]:
    """Return pairs of a kind of data and the tests of a claim on such data, in the order of papers and kinds.

    A claim is not testable only if none of its tests was possible; such claims come last.
    """
    claims = []
    for _, of_claim in claims_of(tests):
        kinds = {kind_of(test) for test in of_claim}
        for kind in kinds - {NOT_TESTED} or {NOT_TESTED}:
            claims.append((kind, [test for test in of_claim if kind_of(test) == kind]))
    papers = list(dict.fromkeys(test["paper"] for test in tests))
    kinds_in_order = list(KINDS)

    def display_order(claim: tuple[str, list[Test]]) -> tuple[bool, int, int]:
        kind, of_kind = claim
        return kind == NOT_TESTED, papers.index(of_kind[0]["paper"]), kinds_in_order.index(kind)

    return sorted(claims, key=display_order)


def overall(tests: Sequence[Test]) -> str:
    """Combine the verdicts of a claim's tests, without those that were not possible."""
    verdicts = {test["verdict"] for test in tests} - {UNTESTABLE}
    if len(verdicts) < 2:
        return verdicts.pop() if verdicts else UNTESTABLE
    if {HOLDS, FAILS} <= verdicts:
        return MIXED
    return HOLDS_IN_PART if HOLDS in verdicts else FAILS_IN_PART


def paper_title(results: Results, paper: str) -> str:
    """Return the title of a paper, for headings."""
    return f"{results.outline.papers.get(paper, paper)} paper"


def count_claims(results: Results) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """Return a title, the number of claims and their number by verdict for each paper and kind of data."""
    counted = []
    claims_by_kind = by_kind(claim_tests(results))
    for (paper, kind), claims in groupby(claims_by_kind, key=lambda claim: (claim[1][0]["paper"], claim[0])):
        counts = Counter(overall(tests) for _, tests in claims)
        verdicts = [(verdict, counts[verdict]) for verdict in ALL if counts[verdict]]
        counted.append((f"{paper_title(results, paper)}, {KINDS[kind]}", counts.total(), verdicts))
    return counted
