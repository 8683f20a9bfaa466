"""The validation metric of some methods against seconds of training."""

import polars as pl
from pydantic import Field

from vsebench.rendering.history import validated_epochs, validation_metric
from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at


class ValidationAgainstTime(FigureKind):
    """One panel per task, one line per method."""

    needs = ("history", "settings", "datasets")

    methods: list[str] = Field(min_length=1)  # names of methods of the run

    def applies(self, outline: Outline) -> bool:
        return bool(outline.tasks_with(*set(self.methods).intersection(outline.trained)))

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        history = results.history.filter(pl.col("method").is_in(self.methods))
        panels = [(task, validated_epochs(at(history, task))) for task in results.tasks_of(history)]
        panels = [(task, epochs) for task, epochs in panels if len(epochs)]
        width = style.SINGLE if len(panels) == 1 else style.DOUBLE
        figure, axes = drawing.panels(len(panels), width, 2.2, columns=2)
        for axis, (task, epochs) in zip(axes, panels, strict=True):
            drawing.draw_lines(axis, results, epochs, "training_seconds", "validation")
            axis.set_xlabel("training seconds (log)")
            axis.set_ylabel(f"{validation_metric(results, task)} (validation)")
            drawing.logarithmic(axis.xaxis)
            axis.set_title(drawing.panel_title(results, task))
        drawing.legend_of_lines(figure, results, results.methods_of(pl.concat(epochs for _, epochs in panels)))
        return figure

    def caption(self, results: Results) -> str:
        return (
            "Validation metric against seconds of training (without validation), with each method's chosen settings: "
            "mean over seeds up to the epoch that every seed reached, with a band from the lowest to the highest seed."
        )

    def alternative(self, results: Results) -> str:
        return "Lines of the validation metric against training seconds, one per method and one panel per data set."
