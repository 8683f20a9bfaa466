"""Precision against recall over all pairs of an image and a label, by raw and by normalised scores."""

import polars as pl
from pydantic import Field

from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at

FORMS = {False: "raw scores", True: "scores minus their log-sum-exp"}


class PooledPrecision(FigureKind):
    """Two panels per task: raw scores, and scores normalised per image; one line per method."""

    needs = ("pooled_precision", "datasets")

    methods: list[str] = Field(min_length=1)  # names of methods of the run

    def applies(self, outline: Outline) -> bool:
        return bool(outline.tasks_with(*self.methods))

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        shown = results.analysis("pooled_precision").filter(pl.col("method").is_in(self.methods))
        tasks = results.tasks_of(shown)
        drawn = [(task, normalised) for task in tasks for normalised in FORMS]
        figure, axes = drawing.panels(len(drawn), style.DOUBLE, 2.1, columns=2)
        for axis, (task, normalised) in zip(axes, drawn, strict=True):
            drawing.draw_lines(axis, results, at(shown, task).filter(normalised=normalised), "recall", "precision")
            axis.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1))
            axis.set_title(f"{results.dataset_title(task.dataset)}\n{FORMS[normalised]}")
        drawing.legend_of_lines(figure, results, results.methods_of(shown))
        return figure

    def caption(self, results: Results) -> str:
        shown = results.analysis("pooled_precision").filter(pl.col("method").is_in(self.methods))
        return (
            "Precision against recall over all pairs of a test image and a label, mean over seeds with a band from the "
            "lowest to the highest. Left: raw scores are compared across images, as in the paper, although a ranking "
            "loss does not determine the level of an image's scores. Right: the log of the sum of their exponentials "
            f"is subtracted from each image's scores. {self.averages(results, shown)}"
        ).strip()

    def averages(self, results: Results, shown: pl.DataFrame) -> str:
        """Return the average precision of every curve, in one sentence per task."""
        sentences = []
        for task in results.tasks_of(shown):
            means = at(shown, task).group_by("method", "normalised").agg(pl.col("average_precision").mean())
            average_of = {(method, normalised): value for method, normalised, value in means.iter_rows()}
            numbers = (
                f"{results.method_title(method)} {average_of[method, False]:.3f} and {average_of[method, True]:.3f}"
                for method in results.methods_of(means)
            )
            where = results.task_title(task)
            sentences.append(f"Average precision, left and right, on {where}: {', '.join(numbers)}.")
        return " ".join(sentences)

    def alternative(self, results: Results) -> str:
        return "Curves of precision against recall, one per method; two panels per data set and protocol."
