"""A paper's printed improvements in percent, and ours by the same formula."""

from vsebench.rendering.metrics import metric_title
from vsebench.rendering.published_vs_ours import PrintedTable, ours_of
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table

IMPROVE = "improve"  # the last part of the name of such a row in the CSV file


class ImprovementBesidePublished(PrintedTable):
    """One row per baseline that the paper prints an improvement over, then one per pair of our variants."""

    needs = ("comparison",)

    method: str  # the paper's method that is compared with the baselines

    def table(self, results: Results) -> Table:
        paper, printed = self.read()
        cells = [cell for cell in printed if cell.row.split("/")[2:] == [IMPROVE]]
        comparisons = self.compared(results)
        metrics = list(dict.fromkeys(cell.column for cell in cells))
        columns = [Column("dataset", "Data set", shown=False), Column("over", "Improvement", width=0.3)]
        columns += [Column("source", "Source")]
        columns += [Column(metric, metric_title(metric), "percent") for metric in metrics]
        ours_title = paper.row_title(self.method)
        rows = []
        for line in dict.fromkeys(cell.row for cell in cells):
            dataset, rival, _ = line.split("/")
            group = paper.task_title(dataset)
            published = {cell.column: cell.number for cell in cells if cell.row == line}
            title = f"{ours_title} over {paper.row_title(rival)}"
            rows.append(Row.of(group, title, "published", *map(published.get, metrics), group=group))
            for baseline, theirs in ours_of(comparisons, f"{dataset}/{rival}"):
                for variant, ours in ours_of(comparisons, f"{dataset}/{self.method}"):
                    title = f"{results.method_title(variant)} over {results.method_title(baseline)}"
                    both = [(ours.get(metric), theirs.get(metric)) for metric in metrics]
                    values = [improvement(a["ours"], b["ours"]) if a and b else None for a, b in both]
                    rows.append(Row.of(group, title, "here", *values, group=group))
        rivals = dict.fromkeys(cell.row.split("/")[1] for cell in cells)
        notes = [
            f"Percent, by the paper's formula: the value of {ours_title} divided by the baseline's, minus 1; printed "
            f"for {', '.join(map(paper.row_title, rivals))}. Negative: it is worse than the baseline.",
            "For the significance of the differences, see the tests of the claims.",
        ]
        return Table(columns, rows, self.caption(paper, "improvements, published and recomputed"), notes, fold=4)


def improvement(value: float, baseline: float) -> float | None:
    """Return the relative improvement over a baseline, as a share; None if the baseline is 0.

    >>> round(improvement(0.0598, 0.0595), 4)
    0.005
    """
    return value / baseline - 1 if baseline else None
