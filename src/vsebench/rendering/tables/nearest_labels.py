"""Show a paper's table of nearest labels, followed by the nearest labels in one of our embeddings."""

from collections.abc import Sequence

import polars as pl
from pydantic import Field

from vsebench.core.tasks import Task
from vsebench.rendering.outline import Outline
from vsebench.rendering.published_vs_ours import ON_OTHER_DATA, PrintedTable
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Column, Row, Table, literal

COLUMNS = (
    Column("dataset", "Data set", shown=False),
    Column("label", "Label", width=0.2),
    Column("nearest", "Nearest labels", "words", width=0.72),
)


class NearestLabels(PrintedTable):
    """A table of labels and their nearest labels: the printed rows, followed by our rows for each task.

    Among the nearest labels of a label, its siblings are in italics.
    """

    needs = ("neighbours_of_labels", "datasets")

    method: str  # name of a method of the run
    labels: list[str] = Field(default_factory=list)  # names of labels; if empty, the most frequent labels are shown
    most_frequent: int = Field(default=10, ge=1)

    def applies(self, outline: Outline) -> bool:
        return bool(outline.tasks_with(self.method))

    def variants_read(self) -> list[str]:
        return [self.method]

    def table(self, results: Results) -> Table:
        paper, cells = self.read()
        rows = []
        for cell in cells:
            dataset, _, label = cell.row.partition("/")
            title = f"{paper.task_title(dataset)} (published)"
            rows.append(Row.of(title, label.replace("_", " "), cell.value, group=title))
        nearest = results.analysis("neighbours_of_labels").filter(method=self.method, seed=results.outline.seeds[0])
        for task in results.tasks_of(nearest):
            of_task, title = at(nearest, task), results.task_title(task)
            for label in self._shown(of_task):
                rows.append(Row.of(title, label, neighbours_as_text(of_task.filter(label=label)), group=title))
        method = self._title(results, results.tasks_of(nearest))
        notes = (
            "Italics: a sibling of the label, according to the paper or to the data set's table of siblings; a data "
            "set without such a table has no italics.",
            f"Here: the nine nearest labels by the cosine similarity of label vectors of {method}, first seed"
            + (", for the most frequent labels." if not self.labels else "."),
        )
        return Table(COLUMNS, rows, self.caption(paper, ON_OTHER_DATA), notes)

    def _shown(self, neighbours: pl.DataFrame) -> list[str]:
        """Return the labels to show, given the neighbours of all labels of a task."""
        names = neighbours.select("label", "frequency").unique().sort("frequency", "label", descending=[True, False])
        if self.labels:
            return [label for label in self.labels if label in set(names["label"])]
        return names["label"].head(self.most_frequent).to_list()

    def _title(self, results: Results, tasks: Sequence[Task]) -> str:
        in_run = self.method in results.outline.variants
        return results.method_title(self.method, *tasks) if in_run else f"{self.method}, which this run lacks"


def neighbours_as_text(neighbours: pl.DataFrame) -> str:
    """Return the neighbours of one label as text, with siblings in italics."""
    words = ((literal(row["neighbour"]), row["sibling"]) for row in neighbours.sort("rank").iter_rows(named=True))
    return ", ".join(f"*{word}*" if sibling else word for word, sibling in words)
