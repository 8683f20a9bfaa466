"""Draw how training proceeds: the validation metric and the loss, seconds per epoch, and labels tried per step."""

from itertools import product
from typing import Annotated, Literal

import polars as pl
from pydantic import Field

from vsebench.core.tasks import Task
from vsebench.rendering.kinds import Figure, FigureKind
from vsebench.rendering.marks import EPOCHS
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at
from vsebench.rendering.table import format_value
from vsebench.rendering.timing import epoch_cell


def validated_epochs(history: pl.DataFrame) -> pl.DataFrame:
    """Return the epochs that every seed of a method reached, with the training seconds up to each epoch.

    Epochs that only some seeds reached are left out, because their mean would cover only the seeds that trained longer.
    Epochs without a value of the validation metric are left out, too.

    Parameters
    ----------
    history : the rows of one task in the table `Results.history`

    Returns
    -------
    Rows of `history` with two more columns. The column `elapsed` contains the training seconds of the row's seed up to
    the end of the epoch, and `training_seconds` contains the mean of `elapsed` over seeds.
    """
    selection = history.filter(pl.col("phase") == "selection").sort("method", "seed", "epoch")
    elapsed = pl.col("seconds").cum_sum().over("method", "seed")
    n_seeds = pl.col("seed").n_unique()
    return (
        selection.with_columns(elapsed=elapsed)
        .filter(pl.col("validation").is_not_null())
        .filter(n_seeds.over("method", "epoch") == n_seeds.over("method"))
        .with_columns(training_seconds=pl.col("elapsed").mean().over("method", "epoch"))
    )


def sampled_epochs(history: pl.DataFrame) -> pl.DataFrame:
    """Return the epochs for which the number of labels tried per step was recorded.

    Only epochs of the phase `selection` are returned. If there are none, the epochs of the phase `refit` are returned.
    """
    sampled = history.filter(pl.col("trials_per_step").is_not_null())
    selection = sampled.filter(pl.col("phase") == "selection")
    return selection if len(selection) else sampled


def validation_metric(results: Results, task: Task) -> str:
    """Return the title of the metric by which the best epochs on a task were chosen.

    The title is "metric" if no metric or more than one was used.
    """
    names = {
        entry["validation_metric"]
        for entry in results.settings
        if Task(entry["dataset"], entry["protocol"]) == task and entry["validation_metric"]
    }
    return metric_title(names.pop()) if len(names) == 1 else "metric"


class Convergence(FigureKind):
    """A figure of the validation metric on one task, against epochs and against training seconds.

    Both panels have a line for each method that is trained in epochs.
    """

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
        drawing.legend_of_lines(figure, results, results.methods_of(history), results.tasks_of(history))
        return figure

    def caption(self, results: Results) -> str:
        return (
            f"{results.task_title(Task.of(self.task))}. Validation metric during tuning, against epochs and "
            "against seconds of training (without validation): mean over seeds up to the last epoch that every seed "
            "reached, with a band from the lowest to the highest value."
        )

    def alternative(self, results: Results) -> str:
        task = Task.of(self.task)
        history = validated_epochs(at(results.history, task))
        means = history.group_by("method", "epoch").agg(pl.col("validation").mean())
        top = means.filter(pl.col("validation") == pl.col("validation").max().over("method"))
        best = []
        for method in results.methods_of(top):
            numbers = top.filter(method=method).sort("epoch").row(0, named=True)
            later = " or later" if EPOCHS in results.marks(method, task) else ""
            best.append(
                f"{results.method_title(method)} {numbers['validation']:.4f} at epoch {numbers['epoch']}{later}"
            )
        metric = validation_metric(results, task)
        return f"Lines of {metric} on validation labels, one per method; the best epoch of each: {', '.join(best)}."


class ValidationAgainstTime(FigureKind):
    """A figure of the validation metric against training seconds: a panel per task, a line per method."""

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
        methods = results.methods_of(pl.concat(epochs for _, epochs in panels))
        drawing.legend_of_lines(figure, results, methods, [task for task, _ in panels])
        return figure

    def caption(self, results: Results) -> str:
        return (
            "Validation metric against seconds of training (without validation), with each method's chosen settings: "
            "mean over seeds up to the last epoch that all seeds reached, with a band from the lowest to the highest "
            "value."
        )

    def alternative(self, results: Results) -> str:
        return "Lines of the validation metric against training seconds, one per method and one panel per data set."


class CurvesOverEpochs(FigureKind):
    """A figure of the loss or the validation metric against epochs, with a row of panels for each task.

    Each panel of a row shows some of the methods.
    """

    needs = ("history", "settings", "datasets")

    quantity: Literal["loss", "validation"]  # the training loss, or the validation metric
    panels: dict[str, Annotated[list[str], Field(min_length=1)]] = Field(min_length=1)  # a panel's title -> its methods

    def applies(self, outline: Outline) -> bool:
        return bool(outline.tasks_with(*self._methods().intersection(outline.trained)))

    def is_empty(self, results: Results) -> bool:
        return self._epochs(results).is_empty()

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        epochs = self._epochs(results)
        if epochs.is_empty():
            return drawing.nothing()
        tasks, drawn = results.tasks_of(epochs), set(results.methods_of(epochs))
        panels = {title: methods for title, methods in self.panels.items() if drawn.intersection(methods)}
        number, width = len(tasks) * len(panels), style.SINGLE if len(panels) == 1 else style.DOUBLE
        sharing = "row" if self.quantity == "validation" else "none"  # losses of methods have different scales
        figure, axes = drawing.panels(number, width, 2.4, columns=len(panels), sharey=sharing)
        for axis, (task, (title, methods)) in zip(axes, product(tasks, panels.items()), strict=True):
            of_panel = at(epochs, task).filter(pl.col("method").is_in(methods))
            axis.set_visible(not of_panel.is_empty())  # a task may lack the methods of a panel
            drawing.draw_lines(axis, results, of_panel, "epoch", self.quantity)
            axis.set(xlabel="epoch", ylabel=self._label(results, task))
            axis.set_title(f"{drawing.panel_title(results, task)}\n{title}")
        drawing.legend_of_lines(figure, results, results.methods_of(epochs), tasks)
        return figure

    def caption(self, results: Results) -> str:
        shown = "Mean loss over an epoch's steps" if self.quantity == "loss" else "Validation metric after each epoch"
        return (
            f"{shown}, in fits without the validation images: mean over seeds up to the last epoch that "
            "every seed reached, with a band from the lowest to the highest value."
        )

    def alternative(self, results: Results) -> str:
        shown = "loss" if self.quantity == "loss" else "validation metric"
        text = (
            f"Lines of the {shown} against epochs, one per method. The numbers are the values at the first and the "
            "last epoch."
        )
        epochs = self._epochs(results)
        means = epochs.group_by("dataset", "protocol", "method", "epoch").agg(pl.col(self.quantity).mean())
        for task in results.tasks_of(means):
            for method in results.methods_of(at(means, task)):
                values = at(means, task).filter(method=method).sort("epoch")[self.quantity]
                ends = f"{results.method_title(method)} from {values[0]:.4f} to {values[-1]:.4f}"
                text += f" {results.task_title(task)}: {ends}."
        return text

    def _methods(self) -> set[str]:
        return set().union(*self.panels.values())

    def _epochs(self, results: Results) -> pl.DataFrame:
        """Return the epochs to draw for all tasks."""
        drawn = pl.col("method").is_in(self._methods()) & pl.col(self.quantity).is_not_null()
        history = results.history.filter(drawn)
        return pl.concat([validated_epochs(at(history, task)) for task in results.outline.tasks])

    def _label(self, results: Results, task: Task) -> str:
        return "loss" if self.quantity == "loss" else f"{validation_metric(results, task)} (validation)"


class TrainingTime(FigureKind):
    """A figure of the seconds per training epoch, with one panel per task.

    A panel has a dot and a range for each method that was timed on the task.
    """

    needs = ("timing", "datasets")
    made_for = "run"
    section = "overview"
    position = 2

    def applies(self, outline: Outline) -> bool:
        return any(not set(timed).isdisjoint(outline.trained) for timed in outline.timed.values())

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        timing = results.timing.filter(phase="epoch")
        timed = {task: results.methods_of(at(timing, task)) for task in results.tasks_of(timing)}
        width = style.SINGLE if len(timed) == 1 else style.DOUBLE
        same = len(set(map(tuple, timed.values()))) == 1
        if same:  # a row of panels shares the names of the methods
            height = 1.1 + drawing.LINE * len(next(iter(timed.values())))
            figure, axes = drawing.panels(len(timed), width, height, sharex=True, sharey=True)
            lowest = axes[-drawing.COLUMNS :]
        else:
            figure, axes, lowest = drawing.stacks([len(methods) for methods in timed.values()], width)
        look = style.looks(results)
        for axis, (task, methods) in zip(axes, timed.items(), strict=True):
            for height, method in enumerate(methods):
                cell = epoch_cell(at(timing, task).filter(method=method))
                if isinstance(cell.value, float) and cell.low is not None and cell.high is not None:
                    interval = (cell.value, cell.low, cell.high)
                    drawing.draw_interval(axis, height, *interval, look[method], filled=True)
            axis.set_title(drawing.panel_title(results, task))
            drawing.name_methods(axis, results, methods, *(timed if same else [task]))
        drawing.logarithmic(axes[0].xaxis)
        for axis in lowest:
            axis.set_xlabel("seconds per epoch (log)")
            axis.tick_params(labelbottom=True)
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
                f"{how} for {results.method_title(method)} ({format_value(seconds[method], 'seconds')} s)"
                for how, method in ends.items()
            )
            text += f" {results.task_title(task)}: an epoch is {' and '.join(words)}."
        return text


class Trials(FigureKind):
    """A figure of the number of labels tried per training step, against epochs.

    There is one panel per task, and one line for each method that samples labels until a negative violates the margin.
    """

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
        figure, axes = drawing.panels(len(tasks), width, 1.9, columns=3)
        for axis, task in zip(axes, tasks, strict=True):
            drawing.draw_lines(axis, results, at(history, task), "epoch", "trials_per_step")
            drawing.logarithmic(axis.yaxis)  # a step examines at least one label, at most all
            axis.set_title(drawing.panel_title(results, task))
            axis.set(xlabel="epoch", ylabel="trials per step (log)")
        drawing.legend_of_lines(figure, results, results.methods_of(history), results.tasks_of(history))
        return figure

    def caption(self, results: Results) -> str:
        return (
            "Number of labels that a training step examines to find its negative, against epochs: "
            "mean over seeds, with a band from the lowest to the highest value."
        )

    def alternative(self, results: Results) -> str:
        text = (
            "Lines of trials per step against epochs, one per method. The numbers are the values at the first and the "
            "last epoch."
        )
        history = sampled_epochs(results.history)
        for task in results.tasks_of(history):
            of_task = at(history, task)
            for method in results.methods_of(of_task):
                of_method = of_task.filter(method=method).sort("epoch")
                epochs = (of_method.filter(epoch=of_method["epoch"][end]) for end in (0, -1))
                first, last = (epoch["trials_per_step"].to_numpy().mean() for epoch in epochs)
                text += f" {results.task_title(task)}: {results.method_title(method)} from {first:.1f} to {last:.1f}."
        return text
