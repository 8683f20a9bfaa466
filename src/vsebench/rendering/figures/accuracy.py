"""Accuracy on one task: up to three metrics of every method."""

from vsebench.core.tasks import Task
from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.results import Results, best_sentence


class Accuracy(FigureKind):
    """One panel per metric, one dot with an interval per method, each oracle as a line."""

    needs = ("summary", "datasets")
    made_for = "task"

    task: str  # <dataset>/<protocol>

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        accuracy = results.accuracy(Task.of(self.task))
        methods = results.competitors_of(accuracy)
        metrics = few_metrics(results.outline.metrics)
        figure, axes = drawing.panels(len(metrics), style.DOUBLE, 0.75 + 0.17 * len(methods), sharey=True)
        for axis, metric in zip(axes, metrics, strict=True):
            drawing.draw_dots(axis, results, accuracy, metric, methods)
            axis.set_xlabel(metric_title(metric))
        figure.suptitle(results.task_title(Task.of(self.task)), fontsize=8)
        drawing.legend_of_dots(figure, results, accuracy)
        return figure

    def caption(self, results: Results) -> str:
        return (
            f"{results.task_title(Task.of(self.task))}. Means with 95 % intervals over {results.units}; "
            "an image's labels that a method was trained on are excluded from the candidates, and ties count against "
            "the method. Filled: the best method, or not significantly different from it."
        )

    def alternative(self, results: Results) -> str:
        metrics = ", ".join(map(metric_title, few_metrics(results.outline.metrics)))
        best = best_sentence(results, Task.of(self.task))
        return f"Dots with intervals, one per method, for {metrics}. {best}".strip()
