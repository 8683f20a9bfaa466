"""How the predicted thresholds of a label go with the difficulty of its images, label by label."""

from typing import TYPE_CHECKING, ClassVar

import polars as pl
from pydantic import Field

from vsebench.core.places import Entry
from vsebench.rendering.kinds import FigureKind
from vsebench.rendering.results import Results, at

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ThresholdsAndDifficulty(FigureKind):
    """One panel per place: the correlation of each label, mean over seeds, in the order of its size."""

    needs: ClassVar[tuple[str, ...]] = ("thresholds_and_difficulty", "datasets")

    entry: str  # as "row/decision"
    references: list[str] = Field(min_length=1)  # rows whose scores are log odds; the first that a place has counts

    def rows_read(self) -> list[str]:
        return [self.entry, *self.references]

    def figure(self, results: Results) -> "Figure":
        from vsebench.rendering import drawing, style

        entry = Entry.of(self.entry)
        shown = results.analysis("thresholds_and_difficulty").filter(method=entry.row, decision=entry.decision)
        places = results.places_of(shown)
        if not places:
            return drawing.nothing("This run has none of the rows of this figure")
        look = style.looks(results)[entry.row]
        figure, axes = drawing.panels(len(places), style.DOUBLE, 2.0, columns=3)
        for axis, place in zip(axes, places, strict=True):
            own = at(shown, place)
            reference = next(row for row in self.references if row in set(own["reference"]))
            by_label = own.filter(reference=reference).group_by("label").agg(pl.col("correlation").mean())
            values = sorted(by_label["correlation"].to_list())
            axis.plot(values, range(len(values)), linestyle="", marker=look.marker, color=look.colour, markersize=3,
                      markeredgecolor="white", markeredgewidth=0.3)  # fmt: skip
            axis.axvline(0, color="0.5", linewidth=0.7)
            axis.set(xlabel=f"correlation, mean {sum(values) / len(values):.2f}", xlim=(-1, 1), yticks=[])
            axis.set_title(drawing.panel_title(results, place))
        return figure

    def caption(self, results: Results) -> str:
        rows = [results.method_title(row) for row in self.references if row in results.outline.rows]
        return (
            "Spearman correlation of the thresholds that are predicted for the images of a label with their "
            "difficulty, one dot per label with ten test images or more, mean over seeds. The difficulty is 1 minus "
            f"the probability of the label by {' or '.join(rows) or 'a row that this run has not'}. The paper shows "
            "images in the order of their thresholds instead."
        )

    def alternative(self, results: Results) -> str:
        return "Dots of the correlation of each label, sorted; one panel per data set and protocol."
