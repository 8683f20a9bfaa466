"""Retrieval of test images by label: means over labels, for rankings by score and by cosine."""

import polars as pl
from pydantic import Field

from vsebench.protocols.base import load_protocol
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Column, Row, Table

MEASURES = {"average_precision": "Average precision", "r_precision": "R-precision"}
COLUMNS = (
    Column("dataset", "Data set", shown=False),
    Column("method", "Method"),
    Column("words", "Words", "count"),
    *(
        Column(f"{measure}_{by}", f"{title},\nby {by}", "score")
        for measure, title in MEASURES.items()
        for by in ("score", "cosine")
    ),
)
NOTES = (
    "Means over the labels with a test image and over seeds. Average precision: over a label's ranking of all test "
    "images. R-precision: the share of relevant images among the first R, for R relevant images. Ties count against a "
    "method.",
    "By cosine: images are ranked by the cosine of image and label vectors; empty for methods without such vectors.",
)


class ImagesFromWords(TableKind):
    """One row per method on each task."""

    needs = ("images_from_words", "datasets")

    methods: list[str] = Field(min_length=1)  # names of methods of the run
    beside: list[str] = Field(default=[])  # controls, shown on the tasks of the methods

    def variants_read(self) -> list[str]:
        return [*self.methods, *self.beside]

    def applies(self, outline: Outline) -> bool:
        return any(load_protocol(task.protocol).new_images for task in outline.tasks_with(*self.methods))

    def table(self, results: Results) -> Table:
        shown = results.analysis("images_from_words").filter(pl.col("method").is_in(self.variants_read()))
        rows = []
        for task in results.tasks_of(shown.filter(pl.col("method").is_in(self.methods))):
            of_task, title = at(shown, task), results.task_title(task)
            for method in results.methods_of(of_task):
                of_method = of_task.filter(method=method)
                means = [mean_over_labels(of_method, measure, by) for measure in MEASURES for by in ("score", "cosine")]
                n_words = of_method["label"].n_unique()
                rows.append(Row.of(title, results.method_title(method), n_words, *means, group=title))
        return Table(COLUMNS, rows, "Images retrieved by a label", NOTES)


def mean_over_labels(of_method: pl.DataFrame, measure: str, by: str) -> float | None:
    """Return the mean over labels and seeds; None if images were not ranked by `by`."""
    by_seed = of_method.filter(by=by).group_by("seed").agg(pl.col(measure).mean())
    value = by_seed.sort("seed")[measure].mean()  # in a fixed order, since the order changes the last digit
    return None if value is None else float(value)  # type: ignore[arg-type]
