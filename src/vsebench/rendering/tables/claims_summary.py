"""Verdicts on the papers' claims: one row per claim."""

from collections import Counter
from typing import Any, ClassVar

from vsebench.papers.verdict import VERDICTS
from vsebench.rendering.claims import claim_tests, claims_of, overall, paper_title
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table

COLUMNS = (
    Column("paper", "Paper", shown=False),
    Column("claim", "Claim", width=0.34),
    Column("verdict", "Verdict", width=0.13),
    Column("where", "In the paper", width=0.14),
    *(
        Column(verdict, title, "count")
        for verdict, title in zip(VERDICTS, ("Holds", "Fails", "Undecided", "Not\ntestable"), strict=True)
    ),
)


class ClaimsSummary(TableKind):
    """A claim's verdict over all of its tests, and the number of tests with each verdict."""

    needs: ClassVar[tuple[str, ...]] = ("claims",)

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {"claims-summary": {}}

    def table(self, results: Results) -> Table:
        rows = []
        for claim, tests in claims_of(claim_tests(results)):
            counts = Counter(test["verdict"] for test in tests)
            texts = [Cell(text) for text in (claim["paper"], claim["claim"], overall(tests), claim["where"])]
            numbers = [Cell(counts[verdict]) for verdict in VERDICTS]
            rows.append(Row((*texts, *numbers), group=paper_title(results, claim["paper"])))
        notes = (
            "Numbers: the tests of a claim, one for each data set, protocol, rival and metric.",
            "Verdict: that of all tests that could be made here. In part: the other tests are undecided; mixed: some "
            "hold and some fail.",
        )
        return Table(COLUMNS, tuple(rows), "Verdicts on the papers' claims", notes=notes, small=True)
