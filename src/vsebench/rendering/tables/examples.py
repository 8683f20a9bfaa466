"""Show the labels that several methods rank first for a few test images, and mark the correct labels."""

from collections.abc import Iterator, Sequence

import polars as pl
from pydantic import Field

from vsebench.papers.base import Paper
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.published_vs_ours import ON_OTHER_DATA, PrintedTable, note_of_missing
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Column, Row, Table, literal

COLUMNS = (
    Column("dataset", "Data set", shown=False),
    Column("dataset_name", "Name", shown=False),
    Column("image", "Image", "pictures", width=0.14),
    Column("truth", "Its labels", width=0.18),
    Column("method", "Method", width=0.14),
    Column("labels", "First labels", "words", width=0.46),
)
LIMIT = 5  # number of images stored per task
NOTES = (
    "Bold: a held-out label of the image. Italics: a sibling of such a label. The table shows the first ten labels for "
    "the first test images that have a label, in the order of the data set; first seed only.",
)


def example_rows(results: Results, methods: Sequence[str], images: int) -> Iterator[Row]:
    """Yield a row for each method and each of the first `images` test images of a task, for all tasks.

    A row shows the labels that the method ranks first, with the first seed of the run.
    """
    seed = results.outline.seeds[0]
    shown = results.analysis("examples").filter(pl.col("number") <= images, pl.col("method").is_in(methods), seed=seed)
    for task in results.tasks_of(shown):
        title = results.task_title(task)
        for _, of_image in at(shown, task).group_by("number", maintain_order=True):
            for method in results.methods_of(of_image):
                labels = of_image.filter(method=method)
                image = (labels["image"][0], labels["truth"][0])
                listed = (results.method_title(method, task), labels_as_text(labels))
                yield Row.of(title, task.dataset, *image, *listed, group=title)


def labels_as_text(labels: pl.DataFrame) -> str:
    """Return labels as text by rank, with correct labels in bold and their siblings in italics."""
    words = []
    for row in labels.sort("rank").iter_rows(named=True):
        mark = "**" if row["right"] else "*" if row["sibling"] else ""
        words.append(mark + literal(row["label"]) + mark)
    return ", ".join(words)


class ExampleLabels(PrintedTable):
    """A table of the label lists that a paper prints, followed by those of the run's methods.

    A list contains the labels that a method ranks first. Our rows show the first test images of each task.
    """

    needs = ("examples", "datasets")

    methods: list[str] = Field(min_length=1)  # names of methods of the run
    images: int = Field(default=3, ge=1, le=LIMIT)  # number of images per task

    def applies(self, outline: Outline) -> bool:
        return bool(outline.tasks_with(*self.methods))

    def table(self, results: Results) -> Table:
        paper, cells = self.read()
        rows = []
        for cell in cells:
            dataset, image, method = cell.row.split("/")
            title = f"{paper.task_title(dataset)} (published)"
            rows.append(Row.of(title, None, image, None, paper.row_title(method), cell.value, group=title))
        rows += example_rows(results, self.methods, self.images)
        notes = (
            "Bold: a label of the image. Italics: a sibling of such a label, according to the paper or to the data "
            "set's table of siblings.",
            "Here: the first ten labels for the first test images that have a label, in the order of the data set; "
            "first seed only.",
            *note_of_missing(method for method in self.methods if method not in results.outline.variants),
        )
        return Table(COLUMNS, rows, self.caption(paper, ON_OTHER_DATA), notes)


class LabelsOfImages(TableKind):
    """A table of the labels that each method ranks first for the first test images of each task."""

    needs = ("examples", "datasets")

    paper: PaperFile
    methods: list[str] = Field(min_length=1)  # names of methods of the run
    images: int = Field(default=3, ge=1, le=LIMIT)  # number of images per task

    def applies(self, outline: Outline) -> bool:
        return "examples" in outline.files and bool(outline.tasks_with(*self.methods))

    def table(self, results: Results) -> Table:
        rows = list(example_rows(results, self.methods, self.images))
        what = "labels that methods rank first for the first test images of this run"
        caption = f"{Paper.read(self.paper).title} paper: {what}"
        return Table(COLUMNS, rows, caption, NOTES)
