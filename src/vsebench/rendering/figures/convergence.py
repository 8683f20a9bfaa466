"""Convergence on one task: the validation metric against epochs and against seconds of training."""

import polars as pl

from vsebench.core.tasks import Task
from vsebench.rendering.history import validated_epochs, validation_metric
from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at


class Convergence(FigureKind):
    """Two panels with one line per method that is trained by epochs."""

    needs = ("history", "settings", "datasets")
    made_for = "task"

    task: str  # <dataset>/<protocol>

    def applies(self, outline: Outline) -> bool:
        return not set(outline.entries[self.task]).isdisjoint(outline.trained)

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        task = Task.of(self.task)
        title = results.task_title(task)
        history = validated_epochs(at(results.history, task))
        figure, (left, right) = drawing.panels(2, style.DOUBLE, 2.6, sharey=True)
        drawing.draw_lines(left, results, history, "epoch", "validation")
        drawing.draw_lines(right, results, history, "training_seconds", "validation")
        left.set(xlabel="epoch", ylabel=f"{validation_metric(results, task)} (validation)")
        right.set(xlabel="training seconds", ylabel="")
        ends = history.group_by("method").agg(pl.col("training_seconds").max())["training_seconds"].to_numpy()
        if ends.max() > 5 * ends.min():
            drawing.logarithmic(right.xaxis)
            right.set_xlabel("training seconds (log scale)")
        figure.suptitle(title, fontsize=8)
        drawing.legend_of_lines(figure, results, results.methods_of(history))
        return figure

    def caption(self, results: Results) -> str:
        return (
            f"{results.task_title(Task.of(self.task))}. Validation metric during tuning, against epochs and "
            "against seconds of training (without validation): mean over seeds up to the epoch that every seed "
            "reached, with a band from the lowest to the highest seed."
        )

    def alternative(self, results: Results) -> str:
        task = Task.of(self.task)
        history = validated_epochs(at(results.history, task))
        means = history.group_by("method", "epoch").agg(pl.col("validation").mean())
        top = means.filter(pl.col("validation") == pl.col("validation").max().over("method"))
        best = []
        for method in results.methods_of(top):
            numbers = top.filter(method=method).sort("epoch").row(0, named=True)
            best.append(f"{results.method_title(method)} {numbers['validation']:.4f} at epoch {numbers['epoch']}")
        metric = validation_metric(results, task)
        return f"Lines of {metric} on validation labels, one per method; the best epoch of each: {', '.join(best)}."
