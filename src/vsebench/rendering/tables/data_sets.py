"""Describe each data set in one row: the counts of images and labels, or the word vectors of the labels."""

from typing import Any

from vsebench.rendering.kinds import TableKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table

COLUMNS_OF_STATISTICS = (
    Column("name", "Name", shown=False),
    Column("title", "Data set"),
    Column("data", "Data", shown=False),
    Column("images", "Images", "count"),
    Column("images_without_label", "Images\nwithout label", "count"),
    Column("vocabulary", "Vocabulary", "count"),
    Column("labels", "Labels\nin use", "count"),
    Column("pairs", "Pairs", "count"),
    Column("occurrences", "Occurrences", "count"),
    Column("labels_per_image_mean", "Labels per\nimage (mean)", "mean"),
    Column("labels_per_image_median", "(median)", "count"),
    Column("labels_per_image_max", "(max.)", "count"),
)
NOTES_OF_STATISTICS = (
    "Pairs are distinct (image, label) pairs. Occurrences count a label as often as it occurs on an image.",
    "Labels per image: mean, median and maximum of distinct labels over all images.",
)
RULES = {
    "whole": "Whole",
    "alias": "Alias",
    "parts": "Parts",
    "singular": "Singular",
    "some parts": "Some\nparts",
    "missing": "Missing",
}
COLUMNS_OF_WORDS = (
    Column("name", "Name", shown=False),
    Column("title", "Data set"),
    Column("source", "Words"),
    Column("dimensions", "Dimensions", "count"),
    Column("labels", "Labels", "count"),
    *(Column(rule.replace(" ", "_"), title, "count") for rule, title in RULES.items()),
    Column("sharing", "Sharing\na vector", "count"),
    Column("rank", "Rank", "count"),
)
NOTES_OF_WORDS = (
    "Whole: the label is a word of the file of word vectors, possibly after its spaces, hyphens or underscores are "
    "replaced or removed. Alias: the label was looked up by an alias.",
    "Parts: the mean of the vectors of all words of the label. Singular: the same, but a plural without a vector is "
    "replaced by its singular. Some parts: the mean over the words that have a vector. Missing: no vector.",
    "Sharing a vector: labels with the same vector as another label; methods that keep the vectors fixed cannot "
    "distinguish them. Rank: rank of the matrix of all vectors; if it equals the number of labels with a vector, fixed "
    "vectors do not restrict the scores.",
)


class Datasets(TableKind):
    """A table of the counts of images, labels and pairs in each data set."""

    needs = ("datasets",)
    made_for = "run"
    section = "data"

    def table(self, results: Results) -> Table:
        rows = []
        for name, entry in results.datasets.items():
            texts = [name, results.dataset_title(name), "simulated" if results.is_simulated(name) else "real"]
            counts = flat_counts(entry["counts"])
            rows.append(Row.of(*texts, *(counts.get(column.key) for column in COLUMNS_OF_STATISTICS[len(texts) :])))
        return Table(COLUMNS_OF_STATISTICS, rows, "Statistics of the data sets", NOTES_OF_STATISTICS, fold=5)


def flat_counts(counts: dict[str, Any]) -> dict[str, Any]:
    """Return nested counts as a flat dictionary, in which an underscore joins the keys of the levels.

    >>> flat_counts({"images": 3, "labels_per_image": {"mean": 1.5}})
    {'images': 3, 'labels_per_image_mean': 1.5}
    """
    flat: dict[str, Any] = {}
    for key, value in counts.items():
        flat |= {f"{key}_{part}": v for part, v in value.items()} if isinstance(value, dict) else {key: value}
    return flat


class WordVectors(TableKind):
    """A table with one row for each data set whose labels have word vectors.

    A row states to how many labels each of the `RULES` for finding a vector applies.
    """

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
        return Table(COLUMNS_OF_WORDS, rows, "Word vectors of labels", NOTES_OF_WORDS, fold=5)
