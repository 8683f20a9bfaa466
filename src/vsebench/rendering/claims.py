"""The verdicts on claims, for tables and the report.

Here, a line is a row of the file of claims (`schemas.CLAIMS`). It contains either the verdict on a claim for one kind
of data, or one of the cases on which such a verdict is based.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from vsebench.papers.verdict import UNTESTABLE, VERDICTS
from vsebench.rendering.results import Results

COMPUTED, NOT_TESTED = "computed", "not tested"  # keys of KINDS for claims that need no data or cannot be tested
KINDS = {
    "paper": "on the paper's own data",
    "other": "on real data that the paper did not use",
    "simulated": "on simulated data",
    COMPUTED: "computed, without data",
    NOT_TESTED: "not testable here",
}
Line = dict[str, Any]  # a row of `schemas.CLAIMS`: a claim for one kind of data (level "claim"), or one of its cases


def claim_lines(results: Results, paper: str | None = None) -> list[Line]:
    """Return the lines of all claims, or of the claims of one paper."""
    return (results.claims if paper is None else results.claims.filter(paper=paper)).to_dicts()


def claims_of(lines: Sequence[Line]) -> Iterator[tuple[Line, list[Line]]]:
    """For each claim, yield its first line and all its lines."""
    for _, group in groupby(lines, key=lambda line: (line["paper"], line["claim"])):
        lines_of_claim = list(group)
        yield lines_of_claim[0], lines_of_claim


def kind_of(line: Line) -> str:
    """Return the kind of data (a key of `KINDS`) to which the verdict in a claim's line applies."""
    if line["verdict"] == UNTESTABLE:
        return NOT_TESTED
    return str(line["data"] or COMPUTED)


def by_kind(lines: Sequence[Line]) -> list[tuple[str, Line]]:
    """Return each verdict on a claim as a pair: the kind of data, and the line with the verdict.

    The pairs are in the order of papers and then of kinds. A claim without a verdict on any kind of data is not
    testable. It is returned once, after all other claims.
    """
    claims = []
    for _, of_claim in claims_of([line for line in lines if line["level"] == "claim"]):
        judged = [line for line in of_claim if kind_of(line) != NOT_TESTED]
        claims += [(kind_of(line), line) for line in judged or of_claim[:1]]
    papers = list(dict.fromkeys(line["paper"] for line in lines))
    kinds_in_order = list(KINDS)

    def display_order(claim: tuple[str, Line]) -> tuple[bool, int, int]:
        kind, line = claim
        return kind == NOT_TESTED, papers.index(line["paper"]), kinds_in_order.index(kind)

    return sorted(claims, key=display_order)


def paper_title(results: Results, paper: str) -> str:
    """Return the title of a paper, for headings."""
    return f"{results.outline.papers.get(paper, paper)} paper"


def count_claims(results: Results) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """For each paper and kind of data, return a title, the number of verdicts, and how often each verdict occurs.

    A claim has a verdict for each kind of data on which it is tested. A claim that is not tested is counted once.
    """
    counted = []
    claims_by_kind = by_kind(claim_lines(results))
    for (paper, kind), claims in groupby(claims_by_kind, key=lambda claim: (claim[1]["paper"], claim[0])):
        counts = Counter(line["verdict"] for _, line in claims)
        verdicts = [(str(verdict), counts[verdict]) for verdict in VERDICTS if counts[verdict]]
        counted.append((f"{paper_title(results, paper)}, {KINDS[kind]}", counts.total(), verdicts))
    return counted


def count_testable(results: Results) -> tuple[int, int]:
    """Return the number of claims that have a verdict on at least one kind of data, and the number of all claims."""
    claims = [(kind, line["paper"], line["claim"]) for kind, line in by_kind(claim_lines(results))]
    return len({claim[1:] for claim in claims if claim[0] != NOT_TESTED}), len({claim[1:] for claim in claims})
