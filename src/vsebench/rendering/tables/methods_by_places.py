"""All methods on all data sets in one metric: the table for a paper that has room for one."""

from typing import Any, ClassVar

from vsebench.core.places import Place
from vsebench.rendering.accuracy import accuracy_cells
from vsebench.rendering.kinds import Section, TableKind
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, pick
from vsebench.rendering.table import Cell, Column, Row, Table

HEADING = 14  # characters of a heading's line


class MethodsByPlaces(TableKind):
    """Methods by places in the headline metric; oracles are set apart below."""

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
            found = [pick(results.accuracy(place), metric, method) for place in places]
            if any(found):
                cells = [accuracy_cells(results, numbers)[0] for numbers in found]
                texts = Cell(method), Cell(results.method_title(method))
                rows.append(Row((*texts, *cells), apart=results.is_oracle(method)))
        several = len(results.outline.seeds) > 1
        notes = (
            f"Mean over {len(results.outline.seeds)} seeds." if several else "One seed.",
            "Bold: best; †: not significantly different from the best (p ≥ 0.05). The tables of single data sets have "
            "the other metrics and, as the CSV file has, the 95 % intervals.",
        )
        caption = f"{metric_title(metric)} of every method on every data set"
        return Table(tuple(columns), tuple(rows), caption, notes=notes, fold=6)


def _has(results: Results, place: Place, metric: str) -> bool:
    """Return whether a metric tells the methods at a place apart: a recall of ten of ten labels is 1 for all."""
    found = results.accuracy(place).filter(metric=metric)
    return len(found) == 1 or found["value"].n_unique() > 1


def _heading(results: Results, place: Place) -> str:
    """Return a place's title in short lines, so that six fit side by side."""
    lines = [""]
    for word in [*results.dataset_title(place.dataset).split(), f"({place.protocol})"]:
        joined = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], joined] if len(joined) <= HEADING or not lines[-1] else [*lines, word]
    return "\n".join(lines)
