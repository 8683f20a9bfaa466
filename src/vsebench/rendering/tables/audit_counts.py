"""Recomputed printed numbers that agree, and facts that depend on a condition or contradict, by paper and check."""

from collections import Counter

from vsebench.papers.audit.findings import AGREES, CONTRADICTS, DEPENDS, VERDICTS, counted, read_findings
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.outline import GATHERED
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table

COLUMNS = (
    Column("paper", "Paper", shown=False),
    Column("check", "Check"),
    Column(AGREES, "Agree", "count"),
    Column(DEPENDS, "Depend", "count"),
    Column(CONTRADICTS, "Contradict", "count"),
)
NOTES = ("Agree: number of checks. Depend, contradict: number of facts, each of which several cells can state.",)


class AuditCounts(TableKind):
    """One row per paper and check; a fact that several checks state counts at the first of them that contradicts."""

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
        return Table(COLUMNS, rows, "Printed numbers that were recomputed", NOTES)
