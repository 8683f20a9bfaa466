"""Metrics with and without cold images, which have no training label, at one place: one row per method."""

from typing import Any, ClassVar

import polars as pl

from vsebench.core.places import Place
from vsebench.protocols.base import load_protocol
from vsebench.rendering.kinds import TableKind
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import Cell, Column, Row, Table

GROUPS = {"all": "all", "others": "with a\ntraining label", "cold": "cold"}
SHOWN = 2  # metrics; the others are in the CSV file
NOTES = (
    "A cold image has lost its only label to the test. Methods that know images by their labels alone know nothing of "
    "it, so all of them rank its candidates by training frequency. Settings are chosen without cold images.",
)


class ColdImages(TableKind):
    """What images without a training label add to the metrics of one place, means over seeds."""

    needs: ClassVar[tuple[str, ...]] = ("cold", "datasets")

    place: str  # <dataset>/<protocol>

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        places = [place for place in outline.places if load_protocol(place.protocol).leaves_cold]
        return {f"cold-images-{place.name}": {"place": str(place)} for place in places}

    def table(self, results: Results) -> Table:
        place = Place.of(self.place)
        found = at(results.cold, place)
        metrics = [metric for metric in results.outline.metrics if metric in set(found["metric"])]
        columns = [Column("dataset", "Data set", shown=False), Column("protocol", "Protocol", shown=False)]
        columns += [Column("method", "Name", shown=False), Column("title", "Method")]
        columns.append(Column("cold_images", "Cold images", "count"))
        for number, metric in enumerate(metrics):
            for group, title in GROUPS.items():
                words = f"{metric_title(metric)},\n{title}"
                columns.append(Column(f"{metric}_{group}", words, "score", shown=number < SHOWN))
        rows = []
        for row in results.methods_of(found):
            own = found.filter(method=row)
            cells = [Cell(text) for text in (place.dataset, place.protocol, row, results.method_title(row))]
            cells.append(Cell(mean_over_seeds(own, metrics[0], "cold", "n")))
            cells += [Cell(mean_over_seeds(own, metric, group)) for metric in metrics for group in GROUPS]
            rows.append(Row(tuple(cells), apart=results.is_oracle(row)))
        return Table(
            tuple(columns),
            tuple(sorted(rows, key=lambda row: row.apart)),
            caption=f"Images without a training label: {results.place_title(place)}",
            notes=NOTES if rows else ("Every test image has a training label.",),
            fold=5,
        )


def mean_over_seeds(own: pl.DataFrame, metric: str, group: str, column: str = "value") -> float | None:
    """Return a metric of a row's images, or their number, averaged over seeds; None if no seed has such images."""
    value = own.filter(metric=metric, images=group)[column].mean()
    return None if value is None else float(value)  # type: ignore[arg-type]
