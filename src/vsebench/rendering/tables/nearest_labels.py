"""A paper's table of nearest labels in an embedding, and those of one of our rows for the most frequent labels."""

from typing import ClassVar

import polars as pl
from pydantic import Field

from vsebench.papers.base import Paper
from vsebench.rendering.beside import ON_OTHER_DATA, caption
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Cell, Column, Row, Table

COLUMNS = (
    Column("dataset", "Data set", shown=False),
    Column("label", "Label", width=0.2),
    Column("nearest", "Nearest labels", "words", width=0.72),
)


class NearestLabels(TableKind):
    """The printed lines, then one line per label of each place; siblings are in italics."""

    needs: ClassVar[tuple[str, ...]] = ("neighbours_of_labels", "datasets")

    paper: PaperFile
    printed: str  # the table's name in the paper's CSV file
    method: str  # our row
    labels: list[str] = Field(default_factory=list)  # names of labels; none: the most frequent ones
    most_frequent: int = Field(default=10, ge=1)

    def rows_read(self) -> list[str]:
        return [self.method]

    def table(self, results: Results) -> Table:
        paper = Paper.read(self.paper)
        rows = []
        for cell in paper.printed(self.printed):
            dataset, _, label = cell.row.partition("/")
            title = f"{paper.place_title(dataset)} (published)"
            rows.append(Row((Cell(title), Cell(label.replace("_", " ")), Cell(cell.value)), group=title))
        nearest = results.analysis("neighbours_of_labels").filter(method=self.method, seed=results.outline.seeds[0])
        for place in results.places_of(nearest):
            found, title = at(nearest, place), results.place_title(place)
            for label in self._shown(found):
                words = listed(found.filter(label=label))
                rows.append(Row((Cell(title), Cell(label), Cell(words)), group=title))
        notes = (
            "Italics: a sibling of the label, by what the paper knew or by the data set's table of siblings; a data "
            "set without such a table has none.",
            f"Here: the nearest nine labels by the cosine of their vectors, {self._title(results)}, first seed"
            + (", for the most frequent labels." if not self.labels else "."),
        )
        return Table(COLUMNS, tuple(rows), caption(paper, self.printed, ON_OTHER_DATA), notes=notes)

    def _shown(self, found: pl.DataFrame) -> list[str]:
        """Return the labels of a place that are shown."""
        names = found.select("label", "frequency").unique().sort("frequency", "label", descending=[True, False])
        if self.labels:
            return [label for label in self.labels if label in set(names["label"])]
        return names["label"].head(self.most_frequent).to_list()

    def _title(self, results: Results) -> str:
        there = self.method in results.outline.rows
        return results.method_title(self.method) if there else f"{self.method}, which this run lacks"


def listed(found: pl.DataFrame) -> str:
    """Return the neighbours of one label as words, siblings in italics."""
    words = ((row["neighbour"].replace("*", ""), row["sibling"]) for row in found.sort("place").iter_rows(named=True))
    return ", ".join(f"*{word}*" if sibling else word for word, sibling in words)
