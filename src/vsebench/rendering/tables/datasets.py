"""Statistics of the data sets: one row per data set."""

from typing import Any

from vsebench.rendering.kinds import TableKind
from vsebench.rendering.results import Results
from vsebench.rendering.table import Column, Row, Table

COLUMNS = (
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
NOTES = (
    "Pairs are distinct (image, label) pairs. Occurrences count a label once for each time that an image has it.",
    "Labels per image: mean, median and maximum of distinct labels over all images.",
)


class Datasets(TableKind):
    """The counts of images, labels and pairs of each data set."""

    needs = ("datasets",)
    made_for = "run"
    section = "data"

    def table(self, results: Results) -> Table:
        rows = []
        for name, entry in results.datasets.items():
            texts = [name, results.dataset_title(name), "simulated" if results.is_simulated(name) else "real"]
            counts = flat_counts(entry["counts"])
            rows.append(Row.of(*texts, *(counts.get(column.key) for column in COLUMNS[len(texts) :])))
        return Table(COLUMNS, rows, "Statistics of the data sets", NOTES, fold=5)


def flat_counts(counts: dict[str, Any]) -> dict[str, Any]:
    """Return the counts without nesting, with the keys joined by an underscore.

    >>> flat_counts({"images": 3, "labels_per_image": {"mean": 1.5}})
    {'images': 3, 'labels_per_image_mean': 1.5}
    """
    flat: dict[str, Any] = {}
    for key, value in counts.items():
        flat |= {f"{key}_{part}": v for part, v in value.items()} if isinstance(value, dict) else {key: value}
    return flat
