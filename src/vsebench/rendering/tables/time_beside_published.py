"""A paper's table of times: each printed time, followed by our times."""

from vsebench.papers.base import Paper
from vsebench.papers.comparison import TIMES
from vsebench.papers.published import SECONDS
from vsebench.rendering.published_vs_ours import PrintedTable, lines_of, ours_of
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table


class TimeBesidePublished(PrintedTable):
    """Seconds of each method on each data set, and their ratio to those of a reference method."""

    needs = ("comparison",)

    ratio_to: str  # the paper's method that the other methods are compared with

    def table(self, results: Results) -> Table:
        paper, printed = self.read()
        cells = [cell for cell in printed if cell.unit in SECONDS]
        published = {cell.row: cell.number for cell in cells}
        comparisons = self.compared(results)
        columns = [Column("dataset", "Data set", shown=False), Column("method", "Method"), Column("source", "Source")]
        columns += [Column("seconds", "Seconds", "seconds", interval=True)]
        columns += [Column("ratio", f"Ratio to\n{paper.row_title(self.ratio_to)}", "mean")]
        rows = []
        for dataset, method in lines_of(cells):
            line, base, group = f"{dataset}/{method}", f"{dataset}/{self.ratio_to}", paper.task_title(dataset)
            ratio = _ratio(published[line], published.get(base))
            rows.append(Row.of(group, paper.row_title(method), "published", published[line], ratio, group=group))
            base_seconds = comparisons.filter(row=base, method=self._our_base(paper))["ours"].to_list()
            for variant, ours in ours_of(comparisons, line):
                (time,) = ours.values()
                seconds = Cell(time["ours"], time["ci_low"], time["ci_high"])
                ratio = _ratio(time["ours"], *base_seconds)
                rows.append(Row.of(group, results.method_title(variant), "here", seconds, ratio, group=group))
        measured = [TIMES[column].words for column in dict.fromkeys(cell.column for cell in cells) if column in TIMES]
        notes = [f"Here: seconds {words}." for words in measured]
        notes += ["The papers' machine and ours differ, so only ratios can be compared."]
        return Table(columns, rows, self.caption(paper, "seconds and ratios, published and recomputed"), notes, fold=5)

    def _our_base(self, paper: Paper) -> str | None:
        """Return the first of our variants of the reference method."""
        row = paper.rows.get(self.ratio_to)
        return row.ours[0] if row and row.ours else None


def _ratio(time: float, base: float | None = None) -> float | None:
    return time / base if base else None
