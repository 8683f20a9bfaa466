"""A paper's printed improvements in percent, and ours by the same formula."""

from vsebench.papers.base import Paper
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.published_vs_ours import NOTHING_OF_OURS, caption, compared, ours_of
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table

IMPROVE = "improve"  # the last part of the name of such a row in the CSV file


class ImprovementBesidePublished(TableKind):
    """One row per baseline that the paper prints an improvement over, then one per pair of our variants."""

    needs = ("comparison",)

    paper: PaperFile
    printed: str  # the table's name in the paper's CSV file
    method: str  # the paper's method that is compared with the baselines

    def table(self, results: Results) -> Table:
        paper = Paper.read(self.paper)
        cells = [cell for cell in paper.printed(self.printed) if cell.row.split("/")[2:] == [IMPROVE]]
        comparisons = compared(results, paper, self.printed)
        metrics = list(dict.fromkeys(cell.column for cell in cells))
        columns = [
            Column("dataset", "Data set", shown=False),
            Column("over", "Improvement", width=0.3),
            Column("source", "Source"),
        ]
        columns += [Column(metric, metric_title(metric), "percent") for metric in metrics]
        rows = []
        for line in dict.fromkeys(cell.row for cell in cells):
            dataset, rival, _ = line.split("/")
            group = paper.task_title(dataset)
            published = {cell.column: cell.number for cell in cells if cell.row == line}
            title = f"{paper.row_title(self.method)} over {paper.row_title(rival)}"
            rows.append(_row(group, title, "published", [published.get(metric) for metric in metrics]))
            for baseline, theirs in ours_of(comparisons, f"{dataset}/{rival}"):
                for row, ours in ours_of(comparisons, f"{dataset}/{self.method}"):
                    title = f"{results.method_title(row)} over {results.method_title(baseline)}"
                    both = [(ours.get(metric), theirs.get(metric)) for metric in metrics]
                    values = [improvement(a["ours"], b["ours"]) if a and b else None for a, b in both]
                    rows.append(_row(group, title, "here", values))
        over = {cell.row.split("/")[1]: paper.row_title(cell.row.split("/")[1]) for cell in cells}
        notes = (
            f"Percent, by the paper's formula: the value of {paper.row_title(self.method)} divided by the baseline's, "
            f"minus 1; printed for {', '.join(over.values())}. Negative: it is worse than the baseline.",
            "For the significance of the differences, see the tests of the claims.",
        )
        content = "improvements, published and recomputed"
        return Table(
            tuple(columns),
            tuple(rows),
            caption(paper, self.printed, content),
            notes=notes if len(comparisons) else (NOTHING_OF_OURS, *notes),
            fold=4,
        )


def improvement(value: float, baseline: float) -> float | None:
    """Return the relative improvement over a baseline, as a share; None if the baseline is 0.

    >>> round(improvement(0.0598, 0.0595), 4)
    0.005
    """
    return value / baseline - 1 if baseline else None


def _row(group: str, title: str, source: str, values: list[float | None]) -> Row:
    return Row((Cell(group), Cell(title), Cell(source), *map(Cell, values)), group=group)
