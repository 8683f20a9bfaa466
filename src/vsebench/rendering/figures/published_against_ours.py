"""Draw our numbers against the published numbers, with one panel for each paper and unit."""

import polars as pl

from vsebench.rendering.kinds import Axes, Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results

UNITS = {"1": "metric", "seconds": "seconds (log)"}


class PublishedAgainstOurs(FigureKind):
    """A figure with one dot for each published number that can be compared with ours.

    If a dot lies on the diagonal, our number equals the published number.
    """

    needs = ("comparison", "datasets")
    made_for = "run"
    section = "claims"

    def applies(self, outline: Outline) -> bool:
        return any(outline.compared.values())

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        numbers_of = results.comparison.partition_by("paper", "unit", maintain_order=True, as_dict=True)
        panels = dict(sorted(numbers_of.items(), key=lambda entry: entry[0][1] == "seconds"))  # metrics first
        width = style.SINGLE if len(panels) == 1 else style.DOUBLE
        figure, axes = drawing.panels(len(panels), width, 2.6, columns=2 if len(panels) == 4 else 3)
        for axis, ((paper, unit), numbers) in zip(axes, panels.items(), strict=True):
            draw(axis, results, numbers, in_seconds=unit == "seconds")
            title = results.outline.papers.get(str(paper), str(paper))
            axis.set(xlabel=f"published {UNITS[str(unit)]}", ylabel=f"ours, {UNITS[str(unit)]}", title=title)
        methods, tasks = results.methods_of(results.comparison), results.tasks_of(results.comparison)
        drawing.legend_of_lines(figure, results, methods, tasks, dots=True)
        return figure

    def caption(self, results: Results) -> str:
        return (
            "The papers' printed numbers and ours, on the same data and protocol: one dot per printed number, with the "
            "95 % interval of our number (for seconds, the range over seeds or repeats). On the diagonal, both numbers "
            "are equal; above it, our number is larger. Seconds were measured on different machines."
        )

    def alternative(self, results: Results) -> str:
        metrics = results.comparison.filter(unit="1")
        inside = len(metrics.filter(verdict="inside"))
        return (
            "Dots of published numbers against ours, with a diagonal. "
            f"{inside} of {len(metrics)} published values of metrics lie in our intervals."
        )


def draw(axis: Axes, results: Results, numbers: pl.DataFrame, in_seconds: bool) -> None:
    """Draw the diagonal, and a dot with an interval for each row of `numbers`.

    `numbers` contains one paper's comparisons in one unit. If `in_seconds` is true, both axes are logarithmic.
    """
    from vsebench.rendering import drawing, style

    look = style.looks(results)
    for row in numbers.iter_rows(named=True):
        below, above = max(0.0, row["ours"] - row["ci_low"]), max(0.0, row["ci_high"] - row["ours"])
        dot = drawing.line_style(look[row["method"]]) | {"linestyle": "", "elinewidth": 0.7}
        axis.errorbar(row["published"], row["ours"], yerr=[[below], [above]], **dot)
    both = [*numbers["published"], *numbers["ours"]]
    ends = [min(both) / 1.5, max(both) * 1.5] if in_seconds else [0.0, max(both) * 1.05]
    axis.plot(ends, ends, color=style.GREY, linewidth=0.8, zorder=1)
    axis.set(xlim=ends, ylim=ends, aspect="equal")
    if in_seconds:
        drawing.logarithmic(axis.xaxis, axis.yaxis)
