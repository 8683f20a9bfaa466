"""A paper's table of example images with the first labels of several methods, and those of our rows."""

from typing import ClassVar

from pydantic import Field

from vsebench.papers.base import Paper
from vsebench.rendering.beside import ON_OTHER_DATA, caption
from vsebench.rendering.examples import COLUMNS, LIMIT, example_rows
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Row, Table


class ExampleLabels(TableKind):
    """The printed lists, then the lists of each row for the first test images of each place."""

    needs: ClassVar[tuple[str, ...]] = ("examples", "datasets")

    paper: PaperFile
    printed: str  # the table's name in the paper's CSV file
    methods: list[str] = Field(min_length=1)  # our rows
    images: int = Field(default=3, ge=1, le=LIMIT)  # of each place

    def rows_read(self) -> list[str]:
        return self.methods

    def table(self, results: Results) -> Table:
        paper = Paper.read(self.paper)
        rows = []
        for cell in paper.printed(self.printed):
            dataset, image, method = cell.row.split("/")
            title = f"{paper.place_title(dataset)} (published)"
            texts = (title, None, image, None, paper.row_title(method), cell.value)
            rows.append(Row(tuple(map(Cell, texts)), group=title))
        rows += example_rows(results, self.methods, self.images)
        missing = [row for row in self.methods if row not in results.outline.rows]
        notes = (
            "Bold: a label of the image. Italics: a sibling of one, by what the paper knew or by the data set's table "
            "of siblings.",
            "Here: the first ten labels for the first test images with a label, in the order of the data set, first "
            "seed.",
            *([f"Left out, as this run has no such rows: {', '.join(missing)}."] if missing else []),
        )
        return Table(COLUMNS, tuple(rows), caption(paper, self.printed, ON_OTHER_DATA), notes=notes)
