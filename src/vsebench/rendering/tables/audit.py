"""List the printed numbers that were recomputed from other printed numbers, or count them by paper and check."""

from collections import Counter
from typing import Any, Literal

from vsebench.papers.audit.findings import AGREES, CONTRADICTS, DEPENDS, VERDICTS, Finding, counted, read_findings
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.outline import GATHERED, Outline
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table

CAPTIONS = {
    AGREES: "Printed numbers that agree with the other printed numbers",
    DEPENDS: "Printed numbers that contradict each other under a condition",
    CONTRADICTS: "Printed numbers that contradict each other",
}
FACT = "Fact: rows of a paper with the same number in this column state one fact, which counts once."
NOTES = (
    "Recomputed from other printed numbers. All printed numbers are rounded, so a number contradicts the others only "
    "if it does not follow from any possible unrounded values of the others.",
    "S: a table of the supplement; F: a figure.",
)
COLUMNS_OF_COUNTS = (
    Column("paper", "Paper", shown=False),
    Column("check", "Check"),
    Column(AGREES, "Agree", "count"),
    Column(DEPENDS, "Depend", "count"),
    Column(CONTRADICTS, "Contradict", "count"),
)
NOTES_OF_COUNTS = (
    "Agree: number of checks that agree. Depend: number of facts that contradict other numbers only under a condition. "
    "Contradict: number of facts that contradict other numbers in any case. Several cells can state one fact.",
)


class Audit(TableKind):
    """A table with one row per recomputed number that has the given `verdict`, sorted by paper and fact."""

    needs = ("audit",)
    section = None

    verdict: Literal["agrees", "depends", "contradicts"] = "contradicts"

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {"audit": {}, "audit-depends": {"verdict": DEPENDS}}

    def table(self, results: Results) -> Table:
        agree = self.verdict == AGREES
        columns = (
            Column("paper", "Paper", shown=False),
            Column("fact", "Fact", shown=not agree),
            Column("table", "Tab."),
            Column("cell", "Cell", width=0.19),
            Column("check", "Check", width=0.11),
            Column("published", "Published", width=0.1),
            Column("recomputed", "Recomputed", width=0.13),
            Column("explanation", "How", width=0.33),
            Column("cells", "Recomputed from", shown=False),
        )
        findings = [each for each in read_findings(results.folder / GATHERED["audit"]) if each.verdict == self.verdict]
        papers = list(dict.fromkeys(finding.paper for finding in findings))
        findings.sort(key=lambda finding: (papers.index(finding.paper), int(finding.fact or 0)))
        rows = [
            Row.of(*texts(finding), group=results.outline.papers.get(finding.paper, finding.paper))
            for finding in findings
        ]
        return Table(columns, rows, CAPTIONS[self.verdict], NOTES if agree else (*NOTES, FACT), small=True)


def texts(finding: Finding) -> tuple[str, ...]:
    cell, _, other_cells = finding.cells.partition("; ")
    number = finding.table.replace("supplement_table", "S").replace("figure", "F").removeprefix("table")
    return (
        finding.paper,
        finding.fact,
        number,
        cell_in_words(cell.removeprefix(f"{finding.table} ")),
        finding.check,
        finding.published,
        finding.recomputed.replace(" to ", "\N{EN DASH}"),
        explanation(finding),
        other_cells,
    )


def cell_in_words(name: str) -> str:
    """Return the name of a cell in words.

    >>> cell_in_words("webdata/approx_knn memory")
    'webdata, approx knn: memory'
    """
    row, space, column = name.partition(" ")
    return f"{row.replace('/', ', ')}{space and ': '}{column}".replace("_", " ")


def explanation(finding: Finding) -> str:
    """Return how a number was recomputed and, if there is one, the condition on which its verdict depends."""
    return finding.explanation + (f". Contradicts only if {finding.condition}." if finding.condition else "")


class AuditCounts(TableKind):
    """A table of how many findings have each verdict, with one row per paper and check.

    If several findings state the same fact, they count only once.
    """

    needs = ("audit",)
    made_for = "run"
    section = "audit"

    def table(self, results: Results) -> Table:
        findings = counted(read_findings(results.folder / GATHERED["audit"]))
        counts = Counter((finding.paper, finding.check, finding.verdict) for finding in findings)
        rows = [
            Row.of(
                paper,
                check,
                *(counts[paper, check, verdict] for verdict in VERDICTS),
                group=results.outline.papers.get(paper, paper),
            )
            for paper, check in dict.fromkeys((finding.paper, finding.check) for finding in findings)
        ]
        return Table(COLUMNS_OF_COUNTS, rows, "Printed numbers that were recomputed", NOTES_OF_COUNTS)
