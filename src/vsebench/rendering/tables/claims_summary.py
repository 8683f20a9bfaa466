"""Verdicts on the papers' claims: one row per claim."""

from vsebench.rendering.claims import KINDS, by_kind, claim_lines, paper_title
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table

COLUMNS = (
    Column("paper", "Paper", shown=False),
    Column("data", "Data", shown=False),
    Column("claim", "Claim", width=0.34),
    Column("verdict", "Verdict", width=0.13),
    Column("where", "In the paper", width=0.14),
    Column("metric", "Effect on", width=0.13),
    Column("against", "Against", width=0.13),
    Column("effect", "Effect", "effect", interval=True),
    Column("n_tasks", "Tasks", "count"),
    Column("n_comparisons", "Comparisons", "count"),
)


class ClaimsSummary(TableKind):
    """The verdict on each claim on one kind of data; claims that are not testable come last."""

    needs = ("claims",)
    made_for = "run"
    section = None

    def table(self, results: Results) -> Table:
        rows = []
        for kind, line in by_kind(claim_lines(results)):
            paper = line["paper"]
            row = Row.of(
                paper,
                kind,
                line["claim"],
                line["verdict"],
                line["where"],
                metric_title(line["metric"]) if line["metric"] else None,
                results.entry_title(line["rival"]) if line["rival"] else None,
                Cell(line["effect"], line["ci_low"], line["ci_high"]),
                line["n_tasks"],
                line["n_comparisons"],
                group=f"{paper_title(results, paper)}, {KINDS[kind]}",
            )
            rows.append(row)
        notes = (
            "Effect: the mean over the tasks (data sets under a protocol), with its 95 % interval. A claim must hold "
            "in all comparisons (rivals and metrics); the effect is that of the weakest one.",
            "A verdict on other real data shows whether the claim generalises. A verdict on simulated data concerns "
            "cost, or such data only.",
        )
        return Table(COLUMNS, rows, "Verdicts on the papers' claims", notes, small=True)
