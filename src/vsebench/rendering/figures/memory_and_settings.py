"""Draw the peak memory of training, and how a metric changes if one setting of a method varies."""

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl
from pydantic import Field

from vsebench.core.schemas import SWEEPS
from vsebench.core.tasks import Task
from vsebench.core.yaml_files import Strict
from vsebench.rendering.kinds import Axes, Figure, FigureKind
from vsebench.rendering.metrics import metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at

MOST_ROWS = 4  # maximum number of rows of panels on a page
MEMORY = "peak memory (MiB)"


class SettingAxis(Strict):
    """The horizontal axis of a panel, which shows the values of one setting."""

    title: str
    scale: Literal["linear", "log2", "symlog"] = "linear"  # symlog: linear from 0 to 0.01, then logarithmic


class MemoryAndSettings(FigureKind):
    """A figure of the methods' peak memory, and of how a metric of one method depends on its settings.

    There is a row of panels for each task on which `method` was timed. The first panel of a row shows the memory of all
    methods. Each other panel shows the metric of `method` against one setting. If the rows do not fit on one page, all
    tasks share one row.
    """

    needs = ("timing", "sweeps", "datasets")

    method: str  # the method whose settings are varied
    metric: str  # computed on the test labels
    settings: dict[str, SettingAxis] = Field(min_length=1)

    def applies(self, outline: Outline) -> bool:
        return self.method in outline.trained and any(self.method in timed for timed in outline.timed.values())

    def figure(self, results: Results) -> Figure:
        timing = results.timing.filter(phase="epoch")
        tasks = results.tasks_of(timing.filter(method=self.method))
        timing = pl.concat([at(timing, task) for task in tasks])
        draw = self._in_one_row if len(tasks) > MOST_ROWS else self._in_rows
        return draw(results, tasks, timing)

    def caption(self, results: Results) -> str:
        if not self._varied(self._sweeps(results)):
            return "Peak memory of each method's training process, median over repeats. This run varies no setting."
        return (
            "Left: peak memory of each method's training process, median over repeats. Other panels: "
            f"{metric_title(self.metric)} on the test labels against each setting of "
            f"{results.method_title(self.method)} that the run varies. The other settings keep their chosen values or, "
            "if the run tunes settings, are tuned again for each value. Mean over seeds, with a band from the lowest "
            "to the highest value. If the data sets share one row of panels, there is no band, and the means of each "
            "data set are divided by the largest of them. White markers: for at least one seed, a limit stopped "
            "training at this value."
        )

    def alternative(self, results: Results) -> str:
        return (
            "Rows of panels: the first panel shows the peak memory of each method, the others show lines of "
            f"{metric_title(self.metric)} against each setting."
        )

    def _sweeps(self, results: Results) -> pl.DataFrame:
        sweeps = pl.DataFrame(schema=SWEEPS) if results.sweeps is None else results.sweeps
        return sweeps.filter(method=self.method, metric=self.metric)

    def _varied(self, sweeps: pl.DataFrame) -> list[str]:
        return [setting for setting in self.settings if setting in sweeps["parameter"]]

    def _in_rows(self, results: Results, tasks: Sequence[Task], timing: pl.DataFrame) -> Figure:
        from matplotlib.figure import Figure

        from vsebench.rendering import drawing, style

        sweeps, methods = self._sweeps(results), results.methods_of(timing)
        varied = self._varied(sweeps)
        figure = Figure(figsize=(style.DOUBLE, len(tasks) * (0.75 + 0.16 * max(len(methods), 5))))
        ratios = [1.25, *([1.0] * len(varied))]
        grid = figure.subplots(len(tasks), 1 + len(varied), squeeze=False, width_ratios=ratios)
        for axes, task in zip(grid, tasks, strict=True):
            draw_memory(axes[0], results, at(timing, task), methods)
            axes[0].set_title(drawing.panel_title(results, task))
            for axis, setting in zip(axes[1:], varied, strict=True):
                values = at(sweeps, task).filter(parameter=setting)
                axis.set_visible(not values.is_empty())  # a setting may be varied on only some of the tasks
                self._draw_setting(axis, results, values)
                self._label(axis, setting)
        grid[-1][0].set_xlabel(MEMORY)
        return figure

    def _in_one_row(self, results: Results, tasks: Sequence[Task], timing: pl.DataFrame) -> Figure:
        """Draw all tasks in one row of panels, with a different marker for each task.

        In the panel of a setting, the means of each task are divided by the largest of them.
        """
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D

        from vsebench.rendering import drawing, style

        sweeps, methods = self._sweeps(results), results.methods_of(timing)
        varied = self._varied(sweeps)
        figure = Figure(figsize=(style.DOUBLE, 1.1 + 0.17 * len(methods) + 0.14 * len(tasks)))
        ratios = [1.25, *([1.0] * len(varied))]
        memory, *panels = figure.subplots(1, 1 + len(varied), squeeze=False, width_ratios=ratios)[0]
        handles = []
        for n, task in enumerate(tasks):
            look: dict[str, Any] = {
                "color": style.COLOURS[n % len(style.COLOURS)],
                "marker": style.MARKERS[n % len(style.MARKERS)],
            }
            peaks = [peak_memory(at(timing, task), method) for method in methods]
            memory.plot(peaks, range(len(methods)), linestyle="none", **look)
            for axis, setting in zip(panels, varied, strict=True):
                values = over_seeds(at(sweeps, task).filter(parameter=setting))
                if not values.is_empty():
                    share = values["mean"] / values["mean"].max()
                    axis.plot(values["value"], share, **look)
                    draw_stopped(axis, values["value"], share, values["stopped"], look["marker"])
            handles.append(Line2D([], [], **look, label=results.short_task_title(task)))
        drawing.name_methods(memory, results, methods, *tasks)
        drawing.logarithmic(memory.xaxis)
        memory.set_xlabel(MEMORY)
        for axis, setting in zip(panels, varied, strict=True):
            self._label(axis, setting)
            axis.set_title(f"{metric_title(self.metric)}\nshare of best")
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
        return figure

    def _draw_setting(self, axis: Axes, results: Results, sweep: pl.DataFrame) -> None:
        from matplotlib.ticker import MaxNLocator

        from vsebench.rendering import style

        look = style.looks(results)[self.method]
        values = over_seeds(sweep)
        axis.fill_between(values["value"], values["low"], values["high"], color=look.colour, alpha=0.2, linewidth=0)
        axis.plot(values["value"], values["mean"], color=look.colour, marker=look.marker)
        draw_stopped(axis, values["value"], values["mean"], values["stopped"], look.marker)
        axis.set_title(metric_title(self.metric))
        axis.yaxis.set_major_locator(MaxNLocator(4))

    def _label(self, axis: Axes, setting: str) -> None:
        shown = self.settings[setting]
        if shown.scale == "log2":
            axis.set_xscale("log", base=2)
        elif shown.scale == "symlog":
            axis.set_xscale("symlog", linthresh=0.01)
            axis.set_xlim(left=-0.001)
        axis.set_xlabel(shown.title)


def draw_memory(axis: Axes, results: Results, timing: pl.DataFrame, methods: Sequence[str]) -> None:
    """Draw the peak memory of each method as a bar."""
    from matplotlib.ticker import MaxNLocator

    from vsebench.rendering import drawing, style

    look = style.looks(results)
    for height, method in enumerate(methods):
        axis.barh(height, peak_memory(timing, method), height=0.62, color=look[method].colour)
    drawing.name_methods(axis, results, methods, *results.tasks_of(timing))
    axis.xaxis.set_major_locator(MaxNLocator(4))


def peak_memory(timing: pl.DataFrame, method: str) -> float:
    """Return a method's peak memory in training in MiB (median over repeats), or NaN if it was not measured."""
    peak = timing.filter(method=method)["peak_rss_bytes"].median()
    return peak / 2**20 if isinstance(peak, float) else float("nan")


def over_seeds(sweep: pl.DataFrame) -> pl.DataFrame:
    """Return the mean, minimum and maximum of a metric over seeds for each value of a setting.

    `sweep` contains the values on one task. The column `stopped` states whether a limit stopped one of the fits.
    """
    test, stopped = pl.col("test"), pl.col("at_limit").fill_null(value=False).any()
    return sweep.group_by("value").agg(mean=test.mean(), low=test.min(), high=test.max(), stopped=stopped).sort("value")


def draw_stopped(axis: Axes, values: pl.Series, heights: pl.Series, stopped: pl.Series, marker: str) -> None:
    """Draw a white marker at each value for which a limit stopped a fit."""
    style: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "white", "markeredgecolor": "black", "zorder": 3}
    axis.plot(values.filter(stopped), heights.filter(stopped), marker=marker, **style)
