"""Word vectors of labels: one row per data set, with the number of labels that each rule found."""

from typing import Any, ClassVar

from vsebench.rendering.kinds import Section, TableKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table

RULES = {
    "whole": "Whole",
    "alias": "Alias",
    "parts": "Parts",
    "some parts": "Some\nparts",
    "singular": "Singular",
    "missing": "Missing",
}
COLUMNS = (
    Column("name", "Name", shown=False),
    Column("title", "Data set"),
    Column("source", "Words"),
    Column("dimensions", "Dimensions", "count"),
    Column("labels", "Labels", "count"),
    *(Column(rule.replace(" ", "_"), title, "count") for rule, title in RULES.items()),
    Column("sharing", "Sharing\na vector", "count"),
    Column("rank", "Rank", "count"),
)
NOTES = (
    "Whole: the label is a word of the file, if need be after its blanks, hyphens or underscores are swapped or "
    "removed. Alias: it was looked up by other words.",
    "Parts: the mean of the vectors of all its parts; some parts: of those that have one. Singular: the vector of its "
    "singular. Missing: no vector.",
    "Sharing a vector: labels whose vector another label has too, which no method that keeps the vectors can tell "
    "apart. Rank: of the matrix of all vectors; where it is the number of labels with a vector, fixed vectors forbid "
    "no scores.",
)


class WordsOfLabels(TableKind):
    """The coverage of the labels of each data set that has word vectors."""

    needs: ClassVar[tuple[str, ...]] = ("datasets", "words")
    section: ClassVar[Section | None] = "data"

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {"words": {}} if "words" in outline.files else {}

    def table(self, results: Results) -> Table:
        rows = []
        for entry in results.words:
            texts = [entry["dataset"], results.dataset_title(entry["dataset"]), entry["source"]]
            counts = [entry["rules"][rule] for rule in RULES]
            numbers = [entry["dimensions"], entry["labels"], *counts, entry["sharing"], entry["rank"]]
            rows.append(Row(tuple(Cell(value) for value in [*texts, *numbers])))
        return Table(COLUMNS, tuple(rows), caption="Word vectors of labels", notes=NOTES, fold=5)
