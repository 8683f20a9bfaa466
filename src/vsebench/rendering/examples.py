"""Rows of the tables of example images: the first labels of several methods for a few test images."""

from collections.abc import Iterator, Sequence

import polars as pl

from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Column, Row

COLUMNS = (
    Column("dataset", "Data set", shown=False),
    Column("dataset_name", "Name", shown=False),
    Column("image", "Image", "pictures", width=0.14),
    Column("truth", "Its labels", width=0.18),
    Column("method", "Method", width=0.14),
    Column("labels", "First labels", "words", width=0.46),
)
LIMIT = 5  # images stored per task


def example_rows(results: Results, methods: Sequence[str], images: int) -> Iterator[Row]:
    """Yield one row per image and method for the first test images of each task, with the labels of the first seed."""
    seed = results.outline.seeds[0]
    shown = results.analysis("examples").filter(pl.col("number") <= images, pl.col("method").is_in(methods), seed=seed)
    for task in results.tasks_of(shown):
        title = results.task_title(task)
        for _, of_image in at(shown, task).group_by("number", maintain_order=True):
            for method in results.methods_of(of_image):
                labels = of_image.filter(method=method)
                image = (labels["image"][0], labels["truth"][0])
                listed = (results.method_title(method), labels_as_text(labels))
                yield Row.of(title, task.dataset, *image, *listed, group=title)


def labels_as_text(labels: pl.DataFrame) -> str:
    """Return the labels by rank, with correct labels in bold and siblings of correct labels in italics."""
    words = []
    for row in labels.sort("rank").iter_rows(named=True):
        mark = "**" if row["right"] else "*" if row["sibling"] else ""
        words.append(mark + row["label"].replace("*", "") + mark)
    return ", ".join(words)
