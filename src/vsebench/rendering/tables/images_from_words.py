"""How well the test images with a label are found by it: means over labels, by score and by cosine."""

from typing import ClassVar

import polars as pl
from pydantic import Field

from vsebench.rendering.kinds import TableKind
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Cell, Column, Row, Table

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
    "Means over the labels with a test image and over seeds. Average precision is that of a label's ranking of all "
    "test images, R-precision the share of its images among as many first ones. Ties count against a method.",
    "By cosine: of the vectors of image and label. A method without such vectors has none.",
)
NONE = "This run has none of the rows of this table at a place with new test images."


class ImagesFromWords(TableKind):
    """One row per method at each place."""

    needs: ClassVar[tuple[str, ...]] = ("images_from_words", "datasets")

    methods: list[str] = Field(min_length=1)  # our rows
    beside: list[str] = Field(default=[])  # controls, at the places of these

    def rows_read(self) -> list[str]:
        return [*self.methods, *self.beside]

    def table(self, results: Results) -> Table:
        shown = results.analysis("images_from_words").filter(pl.col("method").is_in(self.rows_read()))
        rows = []
        for place in results.places_of(shown.filter(pl.col("method").is_in(self.methods))):
            found, title = at(shown, place), results.place_title(place)
            for method in results.methods_of(found):
                own = found.filter(method=method)
                means = [mean_over_labels(own, measure, by) for measure in MEASURES for by in ("score", "cosine")]
                cells = [title, results.method_title(method), own["label"].n_unique(), *means]
                rows.append(Row(tuple(map(Cell, cells)), group=title))
        return Table(COLUMNS, tuple(rows), "Images found by a word", notes=NOTES if rows else (NONE,))


def mean_over_labels(own: pl.DataFrame, measure: str, by: str) -> float | None:
    """Return the mean over labels, and over seeds; None where images were not ranked that way."""
    value = own.filter(by=by).group_by("seed").agg(pl.col(measure).mean())[measure].mean()
    return None if value is None else float(value)  # type: ignore[arg-type]
