"""Stage `figure`: draw a figure as PDF, SVG and PNG."""

import argparse
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import polars as pl
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from vsebench.core.places import CEILING
from vsebench.rendering.mean_ranks import mean_ranks_figure
from vsebench.rendering.names import Pair, figure_names, split_name
from vsebench.rendering.results import (
    Metric,
    Results,
    add_common_arguments,
    metric_title,
    near_best,
    of_pair,
    open_results,
    pick,
)
from vsebench.rendering.style import DOUBLE, SINGLE, Look, looks, save, style
from vsebench.rendering.tables import epoch_cell

ACCURACY: tuple[Metric, ...] = (("rec", 10), ("map", 10), ("ndcg", 10))
COLUMNS = 4  # panels side by side in a figure of both columns' width


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    parser.add_argument(
        "name", help="overview, mean-ranks, training-time, trials, {accuracy,convergence}-<dataset>-<protocol>"
    )
    add_common_arguments(parser)
    parser.add_argument("--out", type=Path, required=True, help="file to write, without .pdf, .svg, .png")


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    with style():
        save(draw(open_results(arguments), arguments.name), arguments.out)


def draw(results: Results, name: str) -> Figure:
    """Return the figure of this name (see `figure_names`)."""
    kind, pair = split_name(name, results.pairs, figure_names(results.pairs))
    if pair is not None:
        return {"accuracy": accuracy_figure, "convergence": convergence_figure}[kind](results, pair)
    single = {"overview": overview_figure, "training-time": training_time_figure, "trials": trials_figure}
    return (single | {"mean-ranks": ranks_figure})[kind](results)


def panels(
    number: int, width: float, height: float, columns: int = COLUMNS, **options: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a grid of panels, the last row filled as far as there are panels."""
    columns = min(columns, number)
    rows = -(-number // columns)
    figure = Figure(figsize=(width, rows * height))
    axes = list(figure.subplots(rows, columns, squeeze=False, **options).flat)
    for axis in axes[number:]:
        axis.remove()
    return figure, axes[:number]


def panel_title(results: Results, pair: Pair) -> str:
    """Return a panel's title on lines that fit a quarter of a page."""
    return fill(results.dataset_title(pair[0]), 26) + f"\nprotocol {pair[1]}"


def label_edges(axes: list[Axes], x: str, y: str = "") -> None:
    """Label the lowest panel of each column and the first of each row."""
    columns = min(COLUMNS, len(axes))
    for place, axis in enumerate(axes):
        axis.set_xlabel(x if place + columns >= len(axes) else "")
        axis.set_ylabel(y if place % columns == 0 else "")


def nothing(message: str) -> Figure:
    """Return a figure that says why it shows nothing."""
    figure = Figure(figsize=(SINGLE, 1))
    figure.text(0.5, 0.5, fill(message, 48), ha="center", va="center")
    return figure


# Accuracy: a dot and an interval a method, the ceiling as a line


def accuracy_figure(results: Results, pair: Pair) -> Figure:
    """Draw three metrics of the methods on one data set."""
    accuracy = results.accuracy(pair)
    methods = [method for method in results.methods_of(accuracy) if method != CEILING]
    figure, axes = panels(len(ACCURACY), DOUBLE, 0.75 + 0.17 * len(methods), sharey=True)
    for axis, metric in zip(axes, ACCURACY, strict=True):
        draw_dots(axis, results, accuracy, metric, methods)
        axis.set_xlabel(metric_title(metric))
    figure.suptitle(results.pair_title(pair), fontsize=8)
    legend_of_accuracy(figure, results, has_ceiling=CEILING in accuracy["method"])
    return figure


def overview_figure(results: Results) -> Figure:
    """Draw Rec@10 of the methods on every data set."""
    methods = [method for method in results.methods_of(results.summary) if method != CEILING]
    figure, axes = panels(len(results.pairs), DOUBLE, 0.85 + 0.17 * len(methods), sharey=True)
    for axis, pair in zip(axes, results.pairs, strict=True):
        draw_dots(axis, results, results.accuracy(pair), ACCURACY[0], methods)
        axis.set_title(panel_title(results, pair))
    label_edges(axes, metric_title(ACCURACY[0]))
    legend_of_accuracy(figure, results, has_ceiling=CEILING in results.summary["method"])
    return figure


def draw_dots(axis: Axes, results: Results, accuracy: pl.DataFrame, metric: Metric, methods: list[str]) -> None:
    """Draw each method's mean and interval; filled is the best and whatever is not significantly worse."""
    look = looks(results, methods)
    for place, method in enumerate(methods):
        row = pick(accuracy, metric, method)
        if row is not None:
            draw_interval(
                axis, place, row["value"], row["ci_low"], row["ci_high"], look[method], row["best"] or near_best(row)
            )
    ceiling = pick(accuracy, metric, CEILING)
    if ceiling is not None:
        axis.axvline(ceiling["value"], color=look[CEILING].colour, linestyle=(0, look[CEILING].dashes), linewidth=0.9)
    axis.set_xlim(left=0)
    axis.margins(x=0.08)
    axis.xaxis.set_major_locator(MaxNLocator(4))
    name_methods(axis, results, methods)


def draw_interval(axis: Axes, place: int, value: float, low: float, high: float, look: Look, filled: bool) -> None:
    """Draw a dot and its interval."""
    axis.errorbar(
        value,
        place,
        xerr=[[max(0.0, value - low)], [max(0.0, high - value)]],
        color=look.colour,
        marker=look.marker,
        markersize=3.8,
        markerfacecolor=look.colour if filled else "white",
        capsize=1.8,
        elinewidth=0.9,
        capthick=0.9,
    )


def name_methods(axis: Axes, results: Results, methods: list[str]) -> None:
    """Put the methods' titles beside the axis, the first on top."""
    axis.set_yticks(range(len(methods)), [results.method_title(method) for method in methods])
    axis.set_ylim(len(methods) - 0.4, -0.6)
    axis.grid(visible=False, axis="x", which="minor")


def legend_of_accuracy(figure: Figure, results: Results, has_ceiling: bool) -> None:
    """Explain the marks below the panels."""
    dot: dict[str, Any] = {"marker": "o", "color": "black", "linestyle": "none", "markersize": 3.8}
    handles = [
        Line2D([], [], **dot, label="best, or not significantly different"),
        Line2D([], [], **dot, markerfacecolor="white", label="significantly worse"),
    ]
    if has_ceiling:
        look = looks(results, [])[CEILING]
        label = f"{results.method_title(CEILING)} (ceiling)"
        dashes = (0, look.dashes)
        handles.append(Line2D([], [], color=look.colour, linestyle=dashes, linewidth=0.9, label=label))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def ranks_figure(results: Results) -> Figure:
    """Draw the methods' mean ranks, or say why there are none."""
    return mean_ranks_figure(results) or nothing("Mean ranks need two methods, and two data sets or seeds")


# Lines: one a method, the mean over the seeds with their range


def convergence_figure(results: Results, pair: Pair) -> Figure:
    """Draw the validation metric against epochs and against training seconds."""
    history = validation_history(of_pair(results.history, pair))
    if history.is_empty():
        return nothing(f"{results.pair_title(pair)}: no method of this run was validated epoch by epoch")
    figure, (left, right) = panels(2, DOUBLE, 2.6, sharey=True)
    draw_lines(left, results, history, "epoch", "validation")
    draw_lines(right, results, history, "training_seconds", "validation")
    left.set(xlabel="epoch", ylabel=f"{validation_metric(results, pair)} (validation)")
    right.set(xlabel="training seconds", ylabel="")
    ends = history.group_by("method").agg(pl.col("training_seconds").max())["training_seconds"].to_numpy()
    if ends.max() > 5 * ends.min():
        right.set_xscale("log")
        right.set_xlabel("training seconds (log scale)")
    figure.suptitle(results.pair_title(pair), fontsize=8)
    legend_of_lines(figure, results, results.methods_of(history))
    return figure


def validation_history(history: pl.DataFrame) -> pl.DataFrame:
    """Return the validated epochs that every seed reached, with the training seconds up to each (mean over seeds).

    Past the end of the first seed to stop, a mean would be one over the lucky seeds.
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


def trials_figure(results: Results) -> Figure:
    """Draw how many labels a step looks at before it takes one as the negative, against epochs."""
    history = trials_history(results.history)
    if history.is_empty():
        return nothing("No method of this run samples negatives")
    pairs = results.pairs_of(history)
    width = SINGLE if len(pairs) == 1 else DOUBLE
    figure, axes = panels(len(pairs), width, 1.8)
    for axis, pair in zip(axes, pairs, strict=True):
        draw_lines(axis, results, of_pair(history, pair), "epoch", "trials_per_step")
        axis.set_yscale("log")  # from one draw to all labels
        axis.set_title(panel_title(results, pair))
    label_edges(axes, "epoch", "trials per step (log)")
    legend_of_lines(figure, results, results.methods_of(history))
    return figure


def trials_history(history: pl.DataFrame) -> pl.DataFrame:
    """Return the epochs with trials; those of the refit only where the choice of epochs recorded none."""
    sampled = history.filter(pl.col("trials_per_step").is_not_null())
    selection = sampled.filter(pl.col("phase") == "selection")
    return selection if len(selection) else sampled


def draw_lines(axis: Axes, results: Results, frame: pl.DataFrame, x: str, y: str) -> None:
    """Draw a line a method: the mean over seeds, with a band from the lowest to the highest seed."""
    methods = results.methods_of(frame)
    look = looks(results, methods)
    sns.lineplot(
        data=frame.select("method", x, y).to_dict(as_series=False),
        x=x,
        y=y,
        hue="method",
        style="method",
        hue_order=methods,
        style_order=methods,
        palette={method: look[method].colour for method in methods},
        markers={method: look[method].marker for method in methods},
        dashes={method: look[method].dashes for method in methods},
        errorbar=("pi", 100),
        err_kws={"linewidth": 0},
        markevery=0.13,
        markeredgewidth=0.4,
        legend=False,
        ax=axis,
    )
    if x == "epoch":
        axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def legend_of_lines(figure: Figure, results: Results, methods: list[str]) -> None:
    """Name the lines below the panels."""
    look = looks(results, methods)
    handles = [
        Line2D(
            [],
            [],
            color=look[method].colour,
            marker=look[method].marker,
            markeredgecolor="white",
            markeredgewidth=0.4,
            linestyle=(0, look[method].dashes) if look[method].dashes else "-",
            label=results.method_title(method),
        )
        for method in methods
    ]
    columns = min(len(handles), 4 if figure.get_figwidth() > SINGLE else 2)
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=3.2)


def validation_metric(results: Results, pair: Pair) -> str:
    """Return the title of the metric that the epochs were chosen by."""
    names = {
        entry["validation_metric"]
        for entry in results.settings
        if (entry["dataset"], entry["protocol"]) == pair and entry.get("validation_metric")
    }
    if len(names) != 1:
        return "metric"
    name, _, cutoff = names.pop().partition("@")
    return metric_title((name, int(cutoff) if cutoff else None))


# Training time


def training_time_figure(results: Results) -> Figure:
    """Draw the seconds of an epoch of each method on every data set."""
    timing = results.timing.filter(pl.col("phase") == "epoch")
    if timing.is_empty():
        return nothing("No method of this run trains in epochs")
    pairs, methods = results.pairs_of(timing), results.methods_of(timing)
    width = SINGLE if len(pairs) == 1 else DOUBLE
    figure, axes = panels(len(pairs), width, 0.8 + 0.17 * len(methods), sharey=True)
    look = looks(results, methods)
    for axis, pair in zip(axes, pairs, strict=True):
        for place, method in enumerate(methods):
            rows = of_pair(timing, pair).filter(pl.col("method") == method)
            draw_threads(axis, place, rows, look[method])
        axis.set_xscale("log")
        whole_decades(axis)
        axis.set_title(panel_title(results, pair))
        name_methods(axis, results, methods)
    label_edges(axes, "seconds an epoch (log)")
    return figure


def draw_threads(axis: Axes, place: int, timing: pl.DataFrame, look: Look) -> None:
    """Draw the median with its range, filled for the fewest threads and open for more."""
    counts = timing["threads"].unique().sort().to_list()
    for threads in counts:
        cell = epoch_cell(timing.filter(pl.col("threads") == threads))
        if isinstance(cell.value, float) and cell.low is not None and cell.high is not None:
            draw_interval(axis, place, cell.value, cell.low, cell.high, look, filled=threads == counts[0])


def whole_decades(axis: Axes) -> None:
    """Widen a logarithmic axis to powers of ten and label each, so that it has at least two labels."""
    axis.xaxis.set_major_locator(LogLocator(numticks=20))
    axis.xaxis.set_minor_locator(NullLocator())
    low, high = axis.dataLim.intervalx
    if np.isfinite([low, high]).all() and low > 0:
        axis.set_xlim(10 ** np.floor(np.log10(low * 0.95)), 10 ** np.ceil(np.log10(high * 1.05)))
