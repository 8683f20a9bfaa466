"""A paper's table of example images with the first labels of each method, and such lists of the run."""

from pydantic import Field

from vsebench.rendering.examples import COLUMNS, LIMIT, example_rows
from vsebench.rendering.outline import Outline
from vsebench.rendering.published_vs_ours import ON_OTHER_DATA, PrintedTable, note_of_missing
from vsebench.rendering.results import Results
from vsebench.rendering.table import Row, Table


class ExampleLabels(PrintedTable):
    """The printed lists, then the lists of each method for the first test images of each task."""

    needs = ("examples", "datasets")

    methods: list[str] = Field(min_length=1)  # names of methods of the run
    images: int = Field(default=3, ge=1, le=LIMIT)  # number of images of each task

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
