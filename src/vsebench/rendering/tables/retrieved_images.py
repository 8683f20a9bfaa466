"""The ids of the first test images retrieved for some labels."""

import polars as pl
from pydantic import Field

from vsebench.protocols.base import load_protocol
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Column, Row, Table

COLUMNS = (
    Column("dataset", "Data set", shown=False),
    Column("dataset_name", "Name", shown=False),
    Column("word", "Word", width=0.15),
    Column("method", "Method", width=0.15),
    Column("images", "First images", "pictures", width=0.6),
)
NOTES = (
    "Bold: an image with the label. In brackets: the number of test images with the label. First seed, ranked by "
    "cosine.",
)


class RetrievedImages(TableKind):
    """The first images for each word and method on each task that has the word as a label."""

    needs = ("images_from_words", "datasets")

    methods: list[str] = Field(min_length=1)  # names of methods of the run
    words: list[str] = Field(min_length=1)  # labels

    def applies(self, outline: Outline) -> bool:
        tasks = outline.tasks_with(*self.methods)
        # The labels of simulated data are no words.
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
                    name, method_title = f"{word} ({ranking['images']})", results.method_title(method)
                    rows.append(Row.of(title, task.dataset, name, method_title, images, group=title))
        return Table(COLUMNS, rows, "The first images retrieved for a word", NOTES)


def ids_as_text(images: list[str], hits: list[bool]) -> str:
    """Return the ids, in bold for images that have the label."""
    return ", ".join(f"**{name}**" if hit else name for name, hit in zip(images, hits, strict=True))
