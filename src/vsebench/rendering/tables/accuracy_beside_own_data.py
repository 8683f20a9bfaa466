"""A paper's table of accuracies, and the same methods on the data sets of the run, which are not the paper's."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from vsebench.core.places import Entry, Place
from vsebench.papers.base import Paper
from vsebench.rendering.beside import ON_OTHER_DATA, caption, lines_of, notes_of_places
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.results import Results, near_best, pick
from vsebench.rendering.table import Cell, Column, Row, Table

NOTES = (
    "Percent. The data sets of this run are others than the paper's, so no number here can be compared with a "
    "published one; the order of the methods can.",
    "Here: mean over seeds with 95 % intervals over {units}; settings chosen on validation. Bold: "
    "best of all methods of the run on that data set; †: not significantly different from the best.",
)


class AccuracyBesideOwnData(TableKind):
    """The printed lines by data set, then our rows for the same methods, at every place that has one of them."""

    needs: ClassVar[tuple[str, ...]] = ("summary", "datasets")

    paper: PaperFile
    printed: str  # the table's name in the paper's CSV file
    also: list[str] = Field(default_factory=list)  # "row" or "row/decision" of ours that the paper has not, shown below
    protocols: list[str] | None = Field(default=None, min_length=1)  # of our places; none: all
    note: str = ""  # what a reader should know about the printed numbers

    def table(self, results: Results) -> Table:
        paper = Paper.read(self.paper)
        cells = [cell for cell in paper.printed(self.printed) if not cell.is_words and len(cell.row.split("/")) == 2]
        metrics = list(dict.fromkeys(cell.column for cell in cells))
        columns = [Column("dataset", "Data set", shown=False), Column("method", "Method", width=0.25)]
        columns += [Column("source", "Source")]
        columns += [
            Column(metric, metric_title(metric).replace(" ", "\n"), "percent", interval=True) for metric in metrics
        ]
        rows = []
        for dataset, method in lines_of(cells):
            published = {cell.column: cell.number for cell in cells if cell.row == f"{dataset}/{method}"}
            texts = [Cell(paper.place_title(dataset)), Cell(paper.row_title(method)), Cell("published")]
            numbers = (Cell(published.get(metric)) for metric in metrics)
            rows.append(Row((*texts, *numbers), group=paper.place_title(dataset)))
        methods = dict.fromkeys(method for _, method in lines_of(cells) if method in paper.rows)
        ours = list(dict.fromkeys(row for method in methods for row in paper.rows[method].ours))
        for place in results.places_of(results.summary):
            if self.protocols is not None and place.protocol not in self.protocols:
                continue
            rows += our_rows(results, place, [*ours, *self.also], metrics)
        notes = [
            *(note.format(units=results.units) for note in NOTES),
            *([self.note] if self.note else []),
            *notes_of_places(paper, cells),
        ]
        missing = [name for name in [*ours, *self.also] if not has(results, name)]
        notes += [f"Left out, as this run has no such rows: {', '.join(missing)}."] if missing else []
        return Table(
            tuple(columns), tuple(rows), caption(paper, self.printed, ON_OTHER_DATA), notes=tuple(notes), fold=5
        )


def has(results: Results, name: str) -> bool:
    """Return whether the run has a "row", or a "row/decision"."""
    entry = Entry.of(name)
    return entry.row in results.outline.rows and entry.decision in ("", *results.outline.decisions)


def our_rows(results: Results, place: Place, methods: Sequence[str], metrics: Sequence[str]) -> list[Row]:
    """Return the rows of one place, in this order; a method that did not run there is left out."""
    accuracy, title = results.accuracy(place), results.place_title(place)
    rows = []
    for method in methods:
        found = [pick(accuracy, metric, method) for metric in metrics]
        if any(found):
            texts = (Cell(title), Cell(results.entry_title(method)), Cell("here"))
            numbers = (
                Cell(one["value"], one["ci_low"], one["ci_high"], bold=bool(one["best"]), dagger=near_best(one))
                if one
                else Cell()
                for one in found
            )
            rows.append(Row((*texts, *numbers), group=title))
    return rows
