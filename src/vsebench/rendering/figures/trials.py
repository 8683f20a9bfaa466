"""The number of labels that a training step examines until it finds a negative, against epochs."""

from vsebench.rendering.history import sampled_epochs
from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at


class Trials(FigureKind):
    """One panel per task, one line per method that samples negatives until one violates the margin."""

    needs = ("history", "datasets")
    made_for = "run"
    section = "training-time"

    def applies(self, outline: Outline) -> bool:
        return bool(outline.tasks_with(*outline.searching))

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        history = sampled_epochs(results.history)
        tasks = results.tasks_of(history)
        width = style.SINGLE if len(tasks) == 1 else style.DOUBLE
        figure, axes = drawing.panels(len(tasks), width, 1.8)
        for axis, task in zip(axes, tasks, strict=True):
            drawing.draw_lines(axis, results, at(history, task), "epoch", "trials_per_step")
            drawing.logarithmic(axis.yaxis)  # a step examines between one label and all labels
            axis.set_title(drawing.panel_title(results, task))
        drawing.label_edges(axes, "epoch", "trials per step (log)")
        drawing.legend_of_lines(figure, results, results.methods_of(history))
        return figure

    def caption(self, results: Results) -> str:
        return (
            "Number of labels that a training step examines until it finds its negative, against epochs: "
            "mean over seeds, with a band from the lowest to the highest seed."
        )

    def alternative(self, results: Results) -> str:
        text = "Lines of trials per step against epochs, from the first to the last."
        history = sampled_epochs(results.history)
        for task in results.tasks_of(history):
            of_task = at(history, task)
            for method in results.methods_of(of_task):
                of_method = of_task.filter(method=method).sort("epoch")
                epochs = (of_method.filter(epoch=of_method["epoch"][end]) for end in (0, -1))
                first, last = (epoch["trials_per_step"].to_numpy().mean() for epoch in epochs)
                text += f" {results.task_title(task)}: {results.method_title(method)} from {first:.1f} to {last:.1f}."
        return text
