"""Word vectors of labels: one row per data set, with the number of labels that each rule matched."""

from typing import Any

from vsebench.rendering.kinds import TableKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table

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
    "Whole: the label is a word of the file, possibly after its spaces, hyphens or underscores are replaced or "
    "removed. Alias: it was looked up by an alias.",
    "Parts: the mean of the vectors of all its words. Some parts: the mean over the words that have a vector. "
    "Singular: the vector of its singular. Missing: no vector.",
    "Sharing a vector: labels with the same vector as another label; methods that keep the vectors fixed cannot "
    "distinguish them. Rank: of the matrix of all vectors; if it equals the number of labels with a vector, fixed "
    "vectors do not restrict the scores.",
)


class WordVectors(TableKind):
    """The number of labels with a word vector on each data set that uses such vectors."""

    needs = ("datasets", "word_vectors")
    section = "data"

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {"word-vectors": {}} if "word_vectors" in outline.files else {}

    def table(self, results: Results) -> Table:
        rows = []
        for entry in results.word_vectors:
            texts = [entry["dataset"], results.dataset_title(entry["dataset"]), entry["source"]]
            counts = [entry["rules"][rule] for rule in RULES]
            numbers = [entry["dimensions"], entry["labels"], *counts, entry["sharing"], entry["rank"]]
            rows.append(Row.of(*texts, *numbers))
        return Table(COLUMNS, rows, "Word vectors of labels", NOTES, fold=5)
