"""A paper's table of example images with each method's first labels, and the same for methods of the run."""

from pydantic import Field

from vsebench.papers.base import Paper
from vsebench.rendering.examples import COLUMNS, LIMIT, example_rows
from vsebench.rendering.kinds import PaperFile, TableKind
from vsebench.rendering.published_vs_ours import ON_OTHER_DATA, caption
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Row, Table


class ExampleLabels(TableKind):
    """The printed lists, then the lists of each method for the first test images of each task."""

    needs = ("examples", "datasets")

    paper: PaperFile
    printed: str  # the table's name in the paper's CSV file
    methods: list[str] = Field(min_length=1)  # of the run
    images: int = Field(default=3, ge=1, le=LIMIT)  # of each task

    def variants_read(self) -> list[str]:
        return self.methods

    def table(self, results: Results) -> Table:
        paper = Paper.read(self.paper)
        rows = []
        for cell in paper.printed(self.printed):
            dataset, image, method = cell.row.split("/")
            title = f"{paper.task_title(dataset)} (published)"
            texts = (title, None, image, None, paper.row_title(method), cell.value)
            rows.append(Row(tuple(map(Cell, texts)), group=title))
        rows += example_rows(results, self.methods, self.images)
        missing = [method for method in self.methods if method not in results.outline.variants]
        notes = (
            "Bold: a label of the image. Italics: a sibling of such a label, according to the paper or to the data "
            "set's table of siblings.",
            "Here: the first ten labels for the first test images that have a label, in the order of the data set; "
            "first seed only.",
            *([f"Left out, because this run lacks these methods: {', '.join(missing)}."] if missing else []),
        )
        return Table(COLUMNS, tuple(rows), caption(paper, self.printed, ON_OTHER_DATA), notes=notes)
