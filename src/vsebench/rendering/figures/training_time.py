"""Seconds per epoch of every method on every task."""

from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import format_value
from vsebench.rendering.timing import epoch_cell


class TrainingTime(FigureKind):
    """One panel per task, one dot with its range per method."""

    needs = ("timing", "datasets")
    made_for = "run"
    section = "overview"
    position = 2

    def applies(self, outline: Outline) -> bool:
        return any(not set(timed).isdisjoint(outline.trained) for timed in outline.timed.values())

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        timing = results.timing.filter(phase="epoch")
        tasks, methods = results.tasks_of(timing), results.methods_of(timing)
        width = style.SINGLE if len(tasks) == 1 else style.DOUBLE
        figure, axes = drawing.panels(len(tasks), width, 0.8 + 0.17 * len(methods), sharey=True)
        look = style.looks(results)
        for axis, task in zip(axes, tasks, strict=True):
            for height, method in enumerate(methods):
                cell = epoch_cell(at(timing, task).filter(method=method))
                if isinstance(cell.value, float) and cell.low is not None and cell.high is not None:
                    interval = (cell.value, cell.low, cell.high)
                    drawing.draw_interval(axis, height, *interval, look[method], filled=True)
            drawing.logarithmic(axis.xaxis)
            axis.set_title(drawing.panel_title(results, task))
            drawing.name_methods(axis, results, methods)
        drawing.label_edges(axes, "seconds per epoch (log)")
        return figure

    def caption(self, results: Results) -> str:
        return (
            "Seconds per training epoch on a logarithmic scale, timed while no other job of the run was running: "
            "median and range over repeats."
        )

    def alternative(self, results: Results) -> str:
        text = "Dots of seconds per epoch on a logarithmic scale, one panel per data set and protocol."
        timing = results.timing.filter(phase="epoch")
        for task in results.tasks_of(timing):
            of_task = at(timing, task)
            cells = {method: epoch_cell(of_task.filter(method=method)).value for method in results.methods_of(of_task)}
            seconds = {method: value for method, value in cells.items() if isinstance(value, float)}
            ends = {"shortest": min(seconds, key=seconds.__getitem__), "longest": max(seconds, key=seconds.__getitem__)}
            words = (
                f"{how} for {results.method_title(method)}, {format_value(seconds[method], 'seconds')} s"
                for how, method in ends.items()
            )
            text += f" {results.task_title(task)}: an epoch is {' and '.join(words)}."
        return text
