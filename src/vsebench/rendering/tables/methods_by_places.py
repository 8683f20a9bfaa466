"""All methods on all tasks in one metric: the table for a paper with room for a single one."""

from typing import Any, ClassVar

from vsebench.core.places import Place
from vsebench.rendering.accuracy import accuracy_cells
from vsebench.rendering.kinds import Section, TableKind
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, pick
from vsebench.rendering.table import Cell, Column, Row, Table

HEADING = 14  # characters per line of a heading


class MethodsByPlaces(TableKind):
    """Methods by tasks in the headline metric; oracles follow in rows set apart."""

    needs: ClassVar[tuple[str, ...]] = ("summary", "datasets")
    section: ClassVar[Section | None] = "result"

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {"methods-by-places": {}}

    def table(self, results: Results) -> Table:
        metric = few_metrics(results.outline.metrics)[0]
        places = [place for place in results.places_of(results.summary) if _has(results, place, metric)]
        columns = [Column("method", "Name", shown=False), Column("title", "Method")]
        for place in places:
            key = f"{place.dataset}_{place.protocol}"
            columns.append(Column(key, _heading(results, place), "score", interval=True, narrow=True))
        rows = []
        for method in [*results.competitors_of(results.summary), *results.oracles_of(results.summary)]:
            by_place = [pick(results.accuracy(place), metric, method) for place in places]
            if any(by_place):
                cells = [accuracy_cells(results, numbers)[0] for numbers in by_place]
                texts = Cell(method), Cell(results.method_title(method))
                rows.append(Row((*texts, *cells), apart=results.is_oracle(method)))
        several = len(results.outline.seeds) > 1
        notes = (
            f"Mean over {len(results.outline.seeds)} seeds." if several else "One seed.",
            "Bold: best; †: not significantly different from the best (p ≥ 0.05). For the other metrics, see the "
            "tables of the single data sets. These and the CSV file contain the 95 % intervals.",
        )
        caption = f"{metric_title(metric)} of every method on every data set"
        return Table(tuple(columns), tuple(rows), caption, notes=notes, fold=6)


def _has(results: Results, place: Place, metric: str) -> bool:
    """Return whether a metric differs between methods on a task: with ten labels, recall@10 is 1 for all."""
    values = results.accuracy(place).filter(metric=metric)
    return len(values) == 1 or values["value"].n_unique() > 1


def _heading(results: Results, place: Place) -> str:
    """Return a task's title in short lines, so that six columns fit."""
    lines = [""]
    for word in [*results.dataset_title(place.dataset).split(), f"({place.protocol})"]:
        joined = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], joined] if len(joined) <= HEADING or not lines[-1] else [*lines, word]
    return "\n".join(lines)
