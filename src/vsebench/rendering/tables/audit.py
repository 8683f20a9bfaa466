"""Published numbers that were recomputed from others: by default those that contradict each other."""

from typing import Any, ClassVar, Literal

from vsebench.papers.audit.findings import AGREES, CONTRADICTS, Finding, read_findings
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.outline import GATHERED, Outline
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table

CAPTIONS = {
    AGREES: "Printed numbers that agree with the others",
    CONTRADICTS: "Printed numbers that contradict each other",
}


class Audit(TableKind):
    """One row per recomputed number, by paper."""

    needs: ClassVar[tuple[str, ...]] = ("audit",)

    verdict: Literal["agrees", "contradicts"] = "contradicts"
    explained: bool = False  # whether a reader sees how each number was recomputed

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {"audit": {}}

    def table(self, results: Results) -> Table:
        columns = (
            Column("paper", "Paper", shown=False),
            Column("table", "Tab."),
            Column("cell", "Cell"),
            Column("check", "Check", width=0.2),
            Column("published", "Published"),
            Column("recomputed", "Recomputed"),
            Column("explanation", "How", shown=self.explained),
            Column("cells", "Recomputed from", shown=False),
        )
        rows = [
            Row(tuple(map(Cell, texts(finding))), group=results.outline.papers.get(finding.paper, finding.paper))
            for finding in read_findings(results.folder / GATHERED["audit"])
            if finding.verdict == self.verdict
        ]
        notes = (
            "Recomputed from other printed numbers, with every value that rounds to them: a number contradicts only if "
            "none of these values gives it.",
            "S: a table of the supplement.",
        )
        return Table(columns, tuple(rows), CAPTIONS[self.verdict], notes=notes, small=True)


def texts(finding: Finding) -> tuple[str, ...]:
    """Return the cells of a row."""
    judged, _, others = finding.cells.partition("; ")
    number = finding.table.replace("supplement_table", "S").removeprefix("table")
    return (
        finding.paper,
        number,
        judged.removeprefix(f"{finding.table} "),
        finding.check,
        finding.published,
        finding.recomputed.replace(" to ", "\N{EN DASH}"),
        finding.explanation,
        others,
    )
