"""Draw accuracies with intervals: a few metrics on one task, or one metric on each task."""

from vsebench.core.tasks import Task
from vsebench.protocols.base import load_protocol
from vsebench.rendering.accuracy import remarks_on_outside
from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.results import Results, best_sentence, leading_metric


class Accuracy(FigureKind):
    """A figure of a few metrics on one task, with one panel per metric.

    A panel has a dot and an interval for each method, and a line for each oracle.
    """

    needs = ("summary", "datasets")
    made_for = "task"

    task: str  # <dataset>/<protocol>

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        accuracy = results.accuracy(Task.of(self.task))
        methods = results.competitors_of(accuracy)
        metrics = few_metrics(results.outline.metrics, [Task.of(self.task)])
        figure, axes = drawing.panels(len(metrics), style.DOUBLE, 0.75 + 0.17 * len(methods), sharey=True)
        for axis, metric in zip(axes, metrics, strict=True):
            drawing.draw_dots(axis, results, accuracy, metric, methods)
            axis.set_xlabel(metric_title(metric))
        figure.suptitle(results.task_title(Task.of(self.task)), fontsize=8)
        drawing.legend_of_dots(figure, results, accuracy)
        return figure

    def caption(self, results: Results) -> str:
        task = Task.of(self.task)
        sentences = [f"{results.task_title(task)}. Means with 95 % intervals over {results.units}."]
        if not load_protocol(task.protocol).new_images:
            sentences.append(
                "If a method was trained on a label of an image, this label is not a candidate for the image."
            )
        sentences.append("Ties count against a method.")
        sentences.append("Filled dots: the best method, and methods not significantly different from it.")
        return " ".join([*sentences, *remarks_on_outside(results, results.competitors_of(results.accuracy(task)))])

    def alternative(self, results: Results) -> str:
        metrics = ", ".join(map(metric_title, few_metrics(results.outline.metrics, [Task.of(self.task)])))
        best = best_sentence(results, Task.of(self.task))
        return f"Dots with intervals, one per method, for {metrics}. {best}".strip()


class Overview(FigureKind):
    """A figure of the leading metric (see `results.leading_metric`) on every task, with one panel per task.

    A panel has a dot and an interval for each method, and a line for each oracle.
    """

    needs = ("summary", "datasets")
    made_for = "run"
    section = "overview"
    position = 1

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        # Tasks whose methods differ, for example because only some have image features, get separate rows of panels.
        groups: dict[tuple[str, ...], list[Task]] = {}
        for task in results.tasks_of(results.summary):
            groups.setdefault(tuple(results.competitors_of(results.accuracy(task))), []).append(task)
        heights = [0.85 + 0.17 * len(methods) for methods in groups]
        figure, panels = drawing.panels_of_groups([len(tasks) for tasks in groups.values()], style.DOUBLE, heights)
        for axes, (methods, tasks) in zip(panels, groups.items(), strict=True):
            for axis, task in zip(axes, tasks, strict=True):
                drawing.draw_dots(axis, results, results.accuracy(task), leading_metric(results, task), methods, tasks)
                axis.set_title(drawing.panel_title(results, task))
                axis.set_xlabel(metric_title(leading_metric(results, task)))
        drawing.legend_of_dots(figure, results, results.summary)
        return figure

    def caption(self, results: Results) -> str:
        metric = metric_title(few_metrics(results.outline.metrics)[0])
        sentences = [
            f"{metric} of every method on every data set, with 95 % intervals over {results.units}.",
            f"If {metric} is the same for all methods on a data set, the panel shows the next metric that differs "
            "between the methods.",
            "Filled dots: the best method, and methods not significantly different from it.",
        ]
        return " ".join([*sentences, *remarks_on_outside(results, results.competitors_of(results.summary))])

    def alternative(self, results: Results) -> str:
        tasks = results.tasks_of(results.summary)
        sentences = (best_sentence(results, task) for task in tasks)
        return " ".join(["Dots with intervals, one panel per data set and protocol.", *sentences])
