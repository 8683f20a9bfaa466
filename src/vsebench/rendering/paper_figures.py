"""Stage `paper-figure`: a figure of a VSE paper, drawn from our results, as PDF, SVG and PNG."""

import argparse
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from vsebench.core.storage import read_parquet
from vsebench.rendering.figures import name_methods, nothing, panel_title, trials_figure
from vsebench.rendering.names import PAPER_FIGURES, Pair
from vsebench.rendering.results import Metric, Results, add_common_arguments, metric_title, of_pair, open_results
from vsebench.rendering.style import COLOURS, DOUBLE, MARKERS, looks, save, style

METRIC: Metric = ("pre", 5)  # the one that the VSE-fs paper shows
METHOD = "vse_fs"
PARAMETERS = {"beta_0": r"$\beta_0$", "gamma": r"$\gamma$", "alpha": r"$\alpha$"}
MOST_ROWS = 4
SWEEP_COLUMNS = ("dataset", "protocol", "method", "seed", "parameter", "value", "metric", "cutoff", "test")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    parser.add_argument("name", choices=PAPER_FIGURES)
    add_common_arguments(parser)
    parser.add_argument("--sweeps", type=Path, help="sweeps.parquet")
    parser.add_argument("--out", type=Path, required=True, help="file to write, without .pdf, .svg, .png")


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    results = open_results(arguments)
    sweeps = read_parquet(arguments.sweeps) if arguments.sweeps else pl.DataFrame(schema=list(SWEEP_COLUMNS))
    with style():
        save(draw(arguments.name, results, sweeps), arguments.out)


def draw(name: str, results: Results, sweeps: pl.DataFrame) -> Figure:
    """Return one of the PAPER_FIGURES."""
    return trials_figure(results) if name == "vse_ens_figure1" else memory_and_settings(results, sweeps)


def memory_and_settings(results: Results, sweeps: pl.DataFrame) -> Figure:
    """Draw for each data set the peak memory of training, and a metric against each setting of VSE-fs (Fig. 2).

    A data set and protocol takes a row of panels; more of them than fit on a page share one row.
    """
    timing = results.timing.filter(pl.col("phase") == "epoch")
    pairs = results.pairs_of(timing)
    if not pairs:
        return nothing("No method of this run trains in epochs")
    metric, cutoff = METRIC
    swept = sweeps.filter(pl.col("method") == METHOD, pl.col("metric") == metric, pl.col("cutoff") == cutoff)
    varied = [parameter for parameter in PARAMETERS if parameter in swept["parameter"]]
    methods = results.methods_of(timing)
    if len(pairs) > MOST_ROWS:
        return in_one_row(results, pairs, timing, swept, varied)
    figure = Figure(figsize=(DOUBLE, len(pairs) * (0.75 + 0.16 * max(len(methods), 5))))
    ratios = [1.25, *([1.0] * len(varied))]
    grid = figure.subplots(len(pairs), 1 + len(varied), squeeze=False, width_ratios=ratios)
    for axes, pair in zip(grid, pairs, strict=True):
        draw_memory(axes[0], results, of_pair(timing, pair), methods)
        axes[0].set_title(panel_title(results, pair))
        for axis, parameter in zip(axes[1:], varied, strict=True):
            draw_setting(axis, results, of_pair(swept, pair).filter(pl.col("parameter") == parameter), parameter)
    grid[-1][0].set_xlabel("peak memory (MiB)")
    return figure


def in_one_row(
    results: Results, pairs: list[Pair], timing: pl.DataFrame, swept: pl.DataFrame, varied: list[str]
) -> Figure:
    """Draw the same with a mark for each data set and protocol, and the metric as a share of its best mean."""
    methods = results.methods_of(timing)
    figure = Figure(figsize=(DOUBLE, 1.1 + 0.17 * len(methods) + 0.14 * len(pairs)))
    ratios = [1.25, *([1.0] * len(varied))]
    memory, *settings = figure.subplots(1, 1 + len(varied), squeeze=False, width_ratios=ratios)[0]
    handles = []
    for n, pair in enumerate(pairs):
        look: dict[str, Any] = {"color": COLOURS[n % len(COLOURS)], "marker": MARKERS[n % len(MARKERS)]}
        peaks = [peak_memory(of_pair(timing, pair), method) for method in methods]
        memory.plot(peaks, range(len(methods)), linestyle="none", **look)
        for axis, parameter in zip(settings, varied, strict=True):
            values = over_seeds(of_pair(swept, pair).filter(pl.col("parameter") == parameter))
            axis.plot(values["value"], values["mean"] / values["mean"].max(), **look)
        title = f"{results.dataset_title(pair[0])}, protocol {pair[1]}"
        handles.append(Line2D([], [], **look, label=title))
    name_methods(memory, results, methods)
    memory.set_xscale("log")
    memory.set_xlabel("peak memory (MiB)")
    for axis, parameter in zip(settings, varied, strict=True):
        label_setting(axis, parameter)
        axis.set_title(f"{metric_title(METRIC)}, share of best")
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def peak_memory(timing: pl.DataFrame, method: str) -> float:
    """Return the most memory that a method's training process held, MiB, median over repeats; NaN if not measured."""
    peak = timing.filter(pl.col("method") == method)["peak_rss_bytes"].median()
    return peak / 2**20 if isinstance(peak, float) else float("nan")


def over_seeds(sweep: pl.DataFrame) -> pl.DataFrame:
    """Return mean, low and high of a sweep for each value."""
    values = sweep.group_by("value").agg(
        mean=pl.col("test").mean(), low=pl.col("test").min(), high=pl.col("test").max()
    )
    return values.sort("value")


def draw_memory(axis: Axes, results: Results, timing: pl.DataFrame, methods: list[str]) -> None:
    """Draw a bar a method."""
    look = looks(results, methods)
    for place, method in enumerate(methods):
        axis.barh(place, peak_memory(timing, method), height=0.62, color=look[method].colour)
    name_methods(axis, results, methods)
    axis.xaxis.set_major_locator(MaxNLocator(4))


def draw_setting(axis: Axes, results: Results, sweep: pl.DataFrame, parameter: str) -> None:
    """Draw the metric against the values of one setting: mean over seeds, with the range of the seeds."""
    look = looks(results, [METHOD])[METHOD]
    values = over_seeds(sweep)
    axis.fill_between(values["value"], values["low"], values["high"], color=look.colour, alpha=0.2, linewidth=0)
    axis.plot(values["value"], values["mean"], color=look.colour, marker=look.marker)
    label_setting(axis, parameter)
    axis.set_title(metric_title(METRIC))
    axis.yaxis.set_major_locator(MaxNLocator(4))


def label_setting(axis: Axes, parameter: str) -> None:
    """Name a setting's axis, and choose its scale."""
    if parameter == "beta_0":
        axis.set_xscale("log", base=2)
    elif parameter == "gamma":
        axis.set_xscale("symlog", linthresh=0.01)
        axis.set_xlim(left=-0.001)
    axis.set_xlabel(PARAMETERS[parameter])
