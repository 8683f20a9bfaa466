"""Correlation between the predicted thresholds of a label and the difficulty of its images, for each label."""

import polars as pl
from pydantic import Field

from vsebench.core.tasks import Entry
from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at


class ThresholdsAndDifficulty(FigureKind):
    """One panel per task: the correlation for each label, mean over seeds, in ascending order."""

    needs = ("thresholds_and_difficulty", "datasets")

    entry: str  # a "method/decision"
    references: list[str] = Field(min_length=1)  # methods whose scores are log odds; a task uses the first that it has

    def variants_read(self) -> list[str]:
        return [self.entry, *self.references]

    def applies(self, outline: Outline) -> bool:
        return bool(set(outline.tasks_with(self.entry)) & set(outline.tasks_with(*self.references)))

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        entry = Entry.of(self.entry)
        shown = results.analysis("thresholds_and_difficulty").filter(
            method=entry.variant, decision=entry.decision, form="raw"
        )
        tasks = results.tasks_of(shown)
        look = style.looks(results)[entry.variant]
        figure, axes = drawing.panels(len(tasks), style.DOUBLE, 2.0, columns=3)
        for axis, task in zip(axes, tasks, strict=True):
            of_task = at(shown, task)
            reference = next(method for method in self.references if method in set(of_task["reference"]))
            by_label = of_task.filter(reference=reference).group_by("label").agg(pl.col("correlation").mean())
            values = sorted(by_label["correlation"].to_list())
            axis.plot(values, range(len(values)), linestyle="", marker=look.marker, color=look.colour, markersize=3,
                      markeredgecolor="white", markeredgewidth=0.3)  # fmt: skip
            axis.axvline(0, color="0.5", linewidth=0.7)
            axis.set(xlabel=f"correlation, mean {sum(values) / len(values):.2f}", xlim=(-1, 1), yticks=[])
            axis.set_title(drawing.panel_title(results, task))
        return figure

    def caption(self, results: Results) -> str:
        references = [results.method_title(method) for method in self.references if method in results.outline.variants]
        return (
            "Spearman correlation between the thresholds predicted for the images of a label and the images' "
            "difficulty; one dot per label with ten test images or more, mean over seeds. The difficulty is 1 minus "
            f"the probability of the label according to {' or '.join(references) or 'a method that this run lacks'}. "
            "The level of an image's scores is free, and so are these thresholds; the claim is judged on forms that "
            "do not depend on it. The paper shows images in the order of their thresholds instead."
        )

    def alternative(self, results: Results) -> str:
        return "Dots of the correlation for each label, sorted; one panel per data set and protocol."
