"""Figures of the benchmarks: ratios, growth and peak memory."""

from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from benchmarks.clock import named
from benchmarks.goals import TITLES
from benchmarks.report import METHODS
from benchmarks.results import Tables
from vsebench.rendering.drawing import nothing, panels
from vsebench.rendering.style import COLOURS, DASHES, DOUBLE, GREY, MARKERS, SINGLE, save, style

GROWTH = ("factors", "labels", "pairs")
RATIOS = list(TITLES)
EPOCHS = ["iteration", "ials_iteration", "bpr_epoch", "warp_epoch", "ens_epoch"]


def write(tables: Tables, folder: Path) -> None:
    """Write every figure as PDF, SVG and PNG."""
    with style():
        save(ratios_figure(tables["comparisons"]), folder / "benchmarks-ratios")
        save(growth_figure(tables["growth"], tables["comparisons"]), folder / "benchmarks-growth")
        save(memory_figure(tables["memory"]), folder / "benchmarks-memory")


def ratios_figure(comparisons: pl.DataFrame) -> Figure:
    """Draw each ratio with its range.

    Each size has a panel, and each number of threads has a colour.
    """
    rows = comparisons.filter(pl.col("what").is_in(RATIOS))
    if rows.is_empty():
        return nothing("Nothing was compared")
    sizes = rows["size"].unique(maintain_order=True).to_list()
    threads = rows["threads"].unique().sort().to_list()
    pairs = rows.select("what", "ours", "peer").unique(maintain_order=True).rows()
    figure, axes = panels(len(sizes), DOUBLE, 0.9 + 0.24 * len(pairs), sharey=True)
    for axis, size in zip(axes, sizes, strict=True):
        for number, count in enumerate(threads):
            chosen = rows.filter(pl.col("size") == size, pl.col("threads") == count).iter_rows(named=True)
            draw_ratios(axis, pairs, list(chosen), number, named(count, "thread"))
        axis.axvline(1, color=GREY, linewidth=0.9)
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_xlabel("seconds of the peer / ours (log)")
        axis.set_title(f"simulated {size}")
    axes[0].set_yticks(range(len(pairs)), [label(*pair) for pair in pairs])
    axes[0].set_ylim(len(pairs) - 0.4, -0.6)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(threads))
    return figure


def label(what: str, ours: str, peer: str) -> str:
    """Return the name of a comparison, for the axis."""
    return f"{ours} / {peer}" + (", to 95 %" if what == "time_to_95" else "")


def draw_ratios(axis: Axes, pairs: list[tuple[str, ...]], rows: list[dict[str, float]], number: int, name: str) -> None:
    """Draw the medians and ranges for one number of threads."""
    medians = [row["ratio_median"] for row in rows]
    axis.errorbar(
        medians,
        [pairs.index((str(row["what"]), str(row["ours"]), str(row["peer"]))) + 0.22 * number for row in rows],
        xerr=[
            [row["ratio_median"] - row["ratio_min"] for row in rows],
            [row["ratio_max"] - row["ratio_median"] for row in rows],
        ],
        color=COLOURS[number],
        marker=MARKERS[number],
        linestyle="none",
        capsize=1.8,
        elinewidth=0.9,
        label=name,
    )


def growth_figure(growth: pl.DataFrame, comparisons: pl.DataFrame) -> Figure:
    """Draw the seconds of an epoch against factors, labels, pairs and threads, on logarithmic axes."""
    if growth.is_empty():
        return nothing("Growth was not measured")
    figure, axes = panels(len(GROWTH) + 1, DOUBLE, 2.3)
    medians = growth.group_by("method", "variable", "size", maintain_order=True).agg(pl.col("seconds").median())
    methods = growth["method"].unique(maintain_order=True).to_list()
    for axis, variable in zip(axes, GROWTH, strict=False):
        for number, method in enumerate(methods):
            line = medians.filter(method=method, variable=variable).sort("size")
            draw_line(axis, number, line["size"].to_list(), line["seconds"].to_list(), METHODS[method])
        shown = medians.filter(variable=variable)["size"].unique().sort().to_list()
        mark(axis, shown if len(shown) < 5 else shown[::2], variable)
    draw_threads(axes[-1], comparisons, [METHODS[method] for method in methods])
    axes[0].set_ylabel("seconds per epoch (log)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(methods))
    return figure


def draw_line(axis: Axes, number: int, sizes: list[float], seconds: list[float], name: str) -> None:
    """Draw the line of a method on logarithmic axes; `number` selects its colour, marker and dashes."""
    dashes = (0, DASHES[number]) if DASHES[number] else "-"
    axis.plot(sizes, seconds, color=COLOURS[number], marker=MARKERS[number], linestyle=dashes, label=name)
    axis.set(xscale="log", yscale="log")


def draw_threads(axis: Axes, comparisons: pl.DataFrame, titles: list[str]) -> None:
    """Draw the seconds of epochs against the number of threads, for the first size that was compared."""
    epochs = comparisons.filter(pl.col("what").is_in(EPOCHS))
    epochs = epochs.filter(pl.col("size") == epochs["size"].first())
    # The peer of VSE-ens is our own Opt-AUC, which the table already contains.
    sides = [
        rows.select("threads", title=pl.col(side).str.split(",").list.first(), seconds=f"seconds_{side}")
        for side, rows in (("ours", epochs), ("peer", epochs.filter(pl.col("what") != "ens_epoch")))
    ]
    medians = pl.concat(sides).group_by("title", "threads").agg(pl.col("seconds").median()).sort("threads")
    for number, title in enumerate(titles):
        line = medians.filter(title=title)
        draw_line(axis, number, line["threads"].to_list(), line["seconds"].to_list(), title)
    mark(axis, medians["threads"].unique().sort().to_list(), "threads")


def mark(axis: Axes, sizes: list[int], name: str) -> None:
    """Label the horizontal axis and its ticks, where k stands for thousands."""
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xticks(sizes, [f"{size / 1000:g}k" if size >= 1000 else str(size) for size in sizes])
    axis.set_xlabel(f"{name} (log)")


def memory_figure(memory: pl.DataFrame) -> Figure:
    """Draw each contestant's peak memory, its memory before the data are read, and the size of embeddings and pairs."""
    if memory.is_empty():
        return nothing("Memory was not measured")
    figure, (axis,) = panels(1, SINGLE, 0.9 + 0.17 * len(memory))
    positions = range(len(memory))
    peak, before, data = ((memory[name] / 2**20).to_list() for name in ("peak_bytes", "start_bytes", "data_bytes"))
    axis.barh(positions, peak, color=COLOURS[0], height=0.6, label="peak")
    axis.barh(positions, before, color=COLOURS[1], height=0.6, label="before the data")
    axis.plot(data, positions, color="black", marker="|", markersize=9, linestyle="none", label="embeddings and pairs")
    names = memory.select(pl.concat_str("contestant", "size", separator=", ")).to_series().to_list()
    axis.set_yticks(positions, names)
    axis.grid(visible=False, axis="y")
    axis.invert_yaxis()
    axis.set_xlabel("MiB")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
