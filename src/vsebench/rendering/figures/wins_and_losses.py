"""Wins and losses: how often one method ranks the same images better than another, over places and seeds."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from vsebench.rendering.kinds import FigureKind
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.page.headline import leading_metric
from vsebench.rendering.results import Results, at

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WRITTEN = 20  # methods: with more of them the squares are too small for numbers


class WinsAndLosses(FigureKind):
    """A square per pair of methods: the share of comparisons that the method of the line wins."""

    needs: ClassVar[tuple[str, ...]] = ("metrics", "summary", "datasets")

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {"wins-and-losses": {}}

    def figure(self, results: Results) -> "Figure":
        from vsebench.rendering import drawing, style

        methods, wins, comparisons = counted(results)
        if len(methods) < 2:
            return drawing.nothing("Wins and losses need two methods at the same place")
        size = min(style.DOUBLE, 1.9 + 0.21 * len(methods))
        figure, (axis,) = drawing.panels(1, size, size - 0.4)
        with np.errstate(invalid="ignore"):
            share = wins / comparisons
        image = axis.imshow(np.ma.masked_invalid(share), cmap="PuOr", vmin=-0.1, vmax=1.1)
        if len(methods) > WRITTEN:
            figure.colorbar(
                image, ax=axis, boundaries=np.linspace(0, 1, 50), ticks=[0, 0.5, 1], shrink=0.3, label="share"
            )
        titles = [results.method_title(method) for method in methods]
        axis.set_xticks(range(len(methods)), titles, rotation=90, fontsize=6)
        axis.set_yticks(range(len(methods)), titles, fontsize=6)
        axis.tick_params(length=0)
        axis.grid(visible=False)
        axis.spines[:].set_visible(False)
        axis.set_title("Wins" + drawing.simulated_share(results))
        axis.set_xlabel("over this method")
        axis.set_ylabel("wins of this method")
        for line, column in zip(*np.nonzero(comparisons if len(methods) <= WRITTEN else []), strict=True):
            dark = not 0.2 < share[line, column] < 0.8
            text = f"{wins[line, column]:g}/{comparisons[line, column]:g}"
            axis.text(column, line, text, ha="center", va="center", fontsize=4.2, color="white" if dark else "black")
        return figure

    def caption(self, results: Results) -> str:
        metric = metric_title(few_metrics(results.outline.metrics)[0])
        return (
            f"How often the method of a line has a higher {metric}, or the next metric that tells the methods apart, "
            "than the method of a column, of all data sets, protocols and seeds that have both; a tie is half a win. "
            "The method with the most wins comes first. These are counts: the tables tell which differences are real."
        )

    def alternative(self, results: Results) -> str:
        methods, wins, comparisons = counted(results)
        if len(methods) < 2:
            return "There are no two methods at the same place to compare."
        won, all_of = wins[0].sum(), comparisons[0].sum()
        return (
            f"Squares of wins for each pair of methods. {results.method_title(methods[0])} wins {won:g} of {all_of:g}."
        )


def counted(results: Results) -> tuple[list[str], "np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]:
    """Count wins over places and seeds.

    Returns
    -------
    methods : the competitors that are compared with another one, the one with the largest share of wins first
    wins, comparisons : (n_methods, n_methods) float64, of the method of a line over that of a column
    """
    rows = results.competitors_of(results.metrics)
    wins, comparisons = np.zeros((2, len(rows), len(rows)))
    for place in results.places_of(results.metrics):
        of_place = at(results.metrics, place).filter(metric=leading_metric(results, place), decision="")
        for _, of_seed in of_place.group_by("seed"):
            values = dict(of_seed.filter(pl.col("method").is_in(rows)).select("method", "value").iter_rows())
            there = np.array([row in values for row in rows])
            value = np.array([values.get(row, 0.0) for row in rows])
            both = there[:, None] & there & ~np.eye(len(rows), dtype=bool)
            comparisons += both
            wins += both * ((value[:, None] > value) + 0.5 * (value[:, None] == value))
    compared = np.flatnonzero(comparisons.sum(axis=1))
    order = compared[np.argsort(-wins[compared].sum(axis=1) / comparisons[compared].sum(axis=1), kind="stable")]
    return [rows[number] for number in order], wins[np.ix_(order, order)], comparisons[np.ix_(order, order)]
