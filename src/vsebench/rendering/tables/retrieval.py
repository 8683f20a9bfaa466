"""Show how well methods retrieve images for labels: mean measures over labels, or the first images."""

import polars as pl
from pydantic import Field

from vsebench.protocols.base import load_protocol
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Column, Row, Table

MEASURES = {"average_precision": "Average precision", "r_precision": "R-precision"}
COLUMNS_OF_MEANS = (
    Column("dataset", "Data set", shown=False),
    Column("method", "Method"),
    Column("words", "Words", "count"),
    *(
        Column(f"{measure}_{by}", f"{title},\nby {by}", "score")
        for measure, title in MEASURES.items()
        for by in ("score", "cosine")
    ),
)
NOTES_OF_MEANS = (
    "Means over seeds and over the labels that have a test image. Average precision: that of a label's ranking of all "
    "test images. R-precision: the share of relevant images among the first R, where R is the number of relevant "
    "images. Ties count against a method.",
    "By cosine: images are ranked by the cosine of image and label vectors; empty for methods without these vectors.",
)
COLUMNS_OF_IMAGES = (
    Column("dataset", "Data set", shown=False),
    Column("dataset_name", "Name", shown=False),
    Column("word", "Word", width=0.15),
    Column("method", "Method", width=0.15),
    Column("images", "First images", "pictures", width=0.6),
)
NOTES_OF_IMAGES = (
    "Bold: an image with the label. In brackets: the number of test images with the label. First seed, ranked by "
    "cosine.",
)


class ImagesFromWords(TableKind):
    """A table of measures of image retrieval, averaged over labels, with one row per method on each task."""

    needs = ("images_from_words", "datasets")

    methods: list[str] = Field(min_length=1)  # names of methods of the run
    beside: list[str] = Field(default=[])  # names of controls, which are shown on tasks that have one of the `methods`

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
                rows.append(Row.of(title, results.method_title(method, task), n_words, *means, group=title))
        return Table(COLUMNS_OF_MEANS, rows, "Images retrieved by a label", NOTES_OF_MEANS)


def mean_over_labels(of_method: pl.DataFrame, measure: str, by: str) -> float | None:
    """Return the mean of `measure` over labels and seeds, or None if no images were ranked by `by`.

    `measure` is a key of `MEASURES`, and `by` is "score" or "cosine".
    """
    by_seed = of_method.filter(by=by).group_by("seed").agg(pl.col(measure).mean())
    value = by_seed.sort("seed")[measure].mean()  # in a fixed order, because the order of a sum affects the last digit
    return None if value is None else float(value)  # type: ignore[arg-type]


class RetrievedImages(TableKind):
    """A table of the first images that methods retrieve for words, on tasks that have these words as labels."""

    needs = ("images_from_words", "datasets")

    methods: list[str] = Field(min_length=1)  # names of methods of the run
    words: list[str] = Field(min_length=1)  # the labels whose images are shown

    def applies(self, outline: Outline) -> bool:
        tasks = outline.tasks_with(*self.methods)
        # The labels of simulated data are not words.
        return any(load_protocol(task.protocol).new_images and task.dataset not in outline.simulated for task in tasks)

    def table(self, results: Results) -> Table:
        shown = results.analysis("images_from_words").filter(
            pl.col("method").is_in(self.methods),
            pl.col("label").is_in(self.words),
            by="cosine",
            seed=results.outline.seeds[0],
        )
        rows = []
        for task in results.tasks_of(shown):
            title = results.task_title(task)
            for word in self.words:
                of_word = at(shown, task).filter(label=word)
                for method in results.methods_of(of_word):
                    ranking = of_word.filter(method=method).row(0, named=True)
                    images = ids_as_text(ranking["first"], ranking["hits"])
                    name, method_title = f"{word} ({ranking['images']})", results.method_title(method, task)
                    rows.append(Row.of(title, task.dataset, name, method_title, images, group=title))
        return Table(COLUMNS_OF_IMAGES, rows, "The first images retrieved for a word", NOTES_OF_IMAGES)


def ids_as_text(images: list[str], hits: list[bool]) -> str:
    """Return the ids of images as text, in bold for images that have the label."""
    return ", ".join(f"**{name}**" if hit else name for name, hit in zip(images, hits, strict=True))
