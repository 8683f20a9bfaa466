"""The first labels of several methods for a few test images, with marks for correct labels."""

from pydantic import Field

from vsebench.papers.base import Paper
from vsebench.rendering.examples import COLUMNS, LIMIT, example_rows
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results
from vsebench.rendering.table import Table

NOTES = (
    "Bold: a held-out label of the image. Italics: a sibling of such a label. The table shows the first ten labels for "
    "the first test images that have a label, in the order of the data set; first seed only.",
)


class LabelsOfImages(TableKind):
    """The lists of each method for the first test images of each task."""

    needs = ("examples", "datasets")

    paper: PaperFile
    methods: list[str] = Field(min_length=1)  # names of methods of the run
    images: int = Field(default=3, ge=1, le=LIMIT)  # number of images of each task

    def applies(self, outline: Outline) -> bool:
        return "examples" in outline.files and bool(outline.tasks_with(*self.methods))

    def table(self, results: Results) -> Table:
        rows = list(example_rows(results, self.methods, self.images))
        caption = f"{Paper.read(self.paper).title} paper, labels of the first test images on this run's data"
        return Table(COLUMNS, rows, caption, NOTES)
