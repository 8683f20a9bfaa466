"""Verdicts on the papers' claims: one row per claim."""

from collections import Counter

from vsebench.papers.verdict import VERDICTS
from vsebench.rendering.claims import KINDS, by_kind, claim_tests, overall, paper_title
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table

COLUMNS = (
    Column("paper", "Paper", shown=False),
    Column("data", "Data", shown=False),
    Column("claim", "Claim", width=0.34),
    Column("verdict", "Verdict", width=0.13),
    Column("where", "In the paper", width=0.14),
    *(
        Column(verdict, title, "count")
        for verdict, title in zip(VERDICTS, ("Holds", "Fails", "Undecided", "Not\ntestable"), strict=True)
    ),
)


class ClaimsSummary(TableKind):
    """The verdict on each claim over all tests on one kind of data; claims that are not testable come last."""

    needs = ("claims",)
    made_for = "run"
    section = None

    def table(self, results: Results) -> Table:
        rows = []
        for kind, tests in by_kind(claim_tests(results)):
            paper = tests[0]["paper"]
            counts = Counter(test["verdict"] for test in tests)
            texts = (paper, kind, tests[0]["claim"], overall(tests), tests[0]["where"])
            group = f"{paper_title(results, paper)}, {KINDS[kind]}"
            rows.append(Row.of(*texts, *(counts[verdict] for verdict in VERDICTS), group=group))
        notes = (
            "Numbers: tests per claim, one for each data set, protocol, rival method and metric.",
            "Verdict: over all tests on this kind of data. In part: the other tests are undecided. Mixed: some tests "
            "hold and some fail.",
            "A verdict on other real data shows whether the claim generalises. A verdict on simulated data concerns "
            "cost, or such data only.",
        )
        return Table(COLUMNS, rows, "Verdicts on the papers' claims", notes, small=True)
