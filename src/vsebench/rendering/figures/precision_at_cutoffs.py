"""Precision and sibling precision of the first k labels, against k."""

import polars as pl
from pydantic import Field

from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at

QUANTITIES = {"precision": "precision@k", "sibling_precision": "sibling precision@k"}


class PrecisionAtCutoffs(FigureKind):
    """Two panels per task, or one if the data set has no table of siblings; one line per method."""

    needs = ("precision_at", "datasets")

    methods: list[str] = Field(min_length=1)  # names of methods of the run

    def applies(self, outline: Outline) -> bool:
        return bool(outline.tasks_with(*self.methods))

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        shown = results.analysis("precision_at").filter(pl.col("method").is_in(self.methods))
        drawn = [
            (task, quantity)
            for task in results.tasks_of(shown)
            for quantity in QUANTITIES
            if at(shown, task)[quantity].null_count() == 0
        ]
        figure, axes = drawing.panels(len(drawn), style.DOUBLE, 2.1, columns=2)
        for axis, (task, quantity) in zip(axes, drawn, strict=True):
            drawing.draw_lines(axis, results, at(shown, task), "cutoff", quantity)
            axis.set(xlabel="k", ylabel=QUANTITIES[quantity], ylim=(0, None))
            axis.set_xticks(range(1, 11))
            axis.set_title(drawing.panel_title(results, task))
        drawing.legend_of_lines(figure, results, results.methods_of(shown))
        return figure

    def caption(self, results: Results) -> str:
        return (
            "Precision and sibling precision of the first k labels on the test images, against k: mean over seeds, "
            "with a band from the lowest to the highest seed. Sibling precision also counts siblings of an image's "
            "labels as correct. It is shown where the data set has a table of siblings."
        )

    def alternative(self, results: Results) -> str:
        return "Lines of precision against k, one per method; one or two panels per data set and protocol."
