"""A paper's table of data sets in its printed layout, with our counts below each row."""

from typing import Literal

from vsebench.papers.base import Paper
from vsebench.rendering.counts import has_dataset, our_count, our_dataset
from vsebench.rendering.outline import Outline
from vsebench.rendering.published_vs_ours import PrintedTable
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table


class StatisticsAsPrinted(PrintedTable):
    """Data sets by counts, or counts by data sets: each printed row, then our counts if the run has the data.

    A printed "1 / 68" is shown as 68.
    """

    needs = ("datasets", "metrics")

    lines: Literal["datasets", "counts"] = "datasets"  # the rows of the printed table

    def applies(self, outline: Outline) -> bool:
        return has_dataset(outline, *self.read())

    def table(self, results: Results) -> Table:
        paper, printed = self.read()
        cells = [cell for cell in printed if not cell.is_words]
        published = {(cell.dataset, cell.column): float(cell.value) for cell in cells}
        datasets = {cell.dataset: paper.task_title(cell.dataset) for cell in cells}
        counts = {cell.column: _words(cell.column) for cell in cells}
        here = {key: our_count(results, paper, *key) for key in published}
        of_data = self.lines == "datasets"
        lines, across = (datasets, counts) if of_data else (counts, datasets)
        first = Column("dataset", "Data set") if of_data else Column("quantity", "Quantity")
        columns = (first, Column("source", "Source"), *(Column(key, title, "count") for key, title in across.items()))
        rows = []
        for line, title in lines.items():
            keys = [(line, column) if of_data else (column, line) for column in across]
            rows.append(Row.of(title, "published", *map(published.get, keys), apart=True))
            ours = [here.get(key) for key in keys]
            if any(value is not None for value in ours):
                rows.append(Row.of(title, "here", *ours))
        return Table(columns, rows, self.caption(paper), _notes(results, paper, list(datasets)))


def _words(column: str) -> str:
    """Return a count's name in words.

    >>> _words("train_pairs"), _words("non_positive_labels_per_image")
    ('Train pairs', 'Non-positive labels per image')
    """
    words = column.replace("non_positive", "non-positive").replace("_", " ")
    return words[:1].upper() + words[1:]


def _notes(results: Results, paper: Paper, datasets: list[str]) -> tuple[str, ...]:
    """Return notes on our data sets, with the number of labels per image with and without repetitions."""
    notes = []
    for dataset in datasets:
        entry = our_dataset(results, paper, dataset)
        if entry is None:
            continue
        counts = entry["counts"]
        notes.append(f"{paper.task_title(dataset)} here: {entry['title']}.")
        if counts["occurrences"] != counts["pairs"]:
            once, repeated = counts["labels_per_image"]["mean"], counts["occurrences_per_image"]["mean"]
            notes.append(
                f"A label that an image has several times counts once: {once:.2f} labels per image; counting "
                f"repetitions, {repeated:.2f}."
            )
    return (*notes, "For contradictions in the published rows, see the audit of the papers.")
