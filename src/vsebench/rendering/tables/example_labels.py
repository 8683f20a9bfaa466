"""A paper's table of example images with the first labels of several methods, and those of our rows."""

from typing import ClassVar

import polars as pl
from pydantic import Field

from vsebench.papers.base import Paper
from vsebench.rendering.beside import caption
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Cell, Column, Row, Table

COLUMNS = (
    Column("dataset", "Data set", shown=False),
    Column("image", "Image", width=0.18),
    Column("method", "Method", width=0.14),
    Column("labels", "First labels", "words", width=0.6),
)


class ExampleLabels(TableKind):
    """The printed lists, then the lists of each row for the first test images of each place."""

    needs: ClassVar[tuple[str, ...]] = ("examples", "datasets")

    paper: PaperFile
    printed: str  # the table's name in the paper's CSV file
    methods: list[str] = Field(min_length=1)  # our rows
    images: int = Field(default=3, ge=1, le=5)  # of each place

    def rows_read(self) -> list[str]:
        return self.methods

    def table(self, results: Results) -> Table:
        paper = Paper.read(self.paper)
        rows = []
        for cell in paper.printed(self.printed):
            dataset, image, method = cell.row.split("/")
            title = f"{paper.place_title(dataset)} (published)"
            texts = (Cell(title), Cell(image), Cell(paper.row_title(method)), Cell(cell.value))
            rows.append(Row(texts, group=title))
        seed = results.outline.seeds[0]
        shown = results.examples.filter(
            pl.col("number") <= self.images, pl.col("method").is_in(self.methods), seed=seed
        )
        for place in results.places_of(shown):
            rows += self._rows_of(results, at(shown, place), results.place_title(place))
        missing = [row for row in self.methods if row not in results.outline.rows]
        notes = (
            "Bold: a label of the image. Italics: a sibling of one, by what the paper knew or by the data set's table "
            "of siblings.",
            "Here: the first ten labels for the first test images with a label, in the order of the data set, first "
            "seed; the image's own labels are below its name.",
            *([f"Left out, as this run has no such rows: {', '.join(missing)}."] if missing else []),
        )
        return Table(COLUMNS, tuple(rows), caption(paper, self.printed), notes=notes)

    def _rows_of(self, results: Results, found: pl.DataFrame, title: str) -> list[Row]:
        """Return the rows of one place, image by image."""
        rows = []
        for _, of_image in found.group_by("number", maintain_order=True):
            name = f"{of_image['image'][0]}: {of_image['truth'][0]}"
            for method in results.methods_of(of_image):
                words = listed(of_image.filter(method=method))
                rows.append(
                    Row((Cell(title), Cell(name), Cell(results.method_title(method)), Cell(words)), group=title)
                )
        return rows


def listed(found: pl.DataFrame) -> str:
    """Return the labels of one list as words: right ones bold, siblings of right ones in italics."""
    words = []
    for row in found.sort("place").iter_rows(named=True):
        mark = "**" if row["right"] else "*" if row["sibling"] else ""
        words.append(mark + row["label"].replace("*", "") + mark)
    return ", ".join(words)
