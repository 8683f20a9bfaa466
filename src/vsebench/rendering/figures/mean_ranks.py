"""Critical-difference diagram: the methods' mean ranks over data sets and seeds (Demsar, 2006)."""

from typing import TYPE_CHECKING, Any, ClassVar

from vsebench.rendering.kinds import FigureKind, Section
from vsebench.rendering.mean_ranks import MeanRanks, mean_ranks
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METRIC = "ndcg@10"  # shown if the run has it, else its headline metric


class MeanRanksFigure(FigureKind):
    """An axis of mean ranks, the methods' names at its sides, and bars over those that do not differ."""

    needs: ClassVar[tuple[str, ...]] = ("metrics", "datasets")
    section: ClassVar[Section | None] = "overview"
    position: ClassVar[int] = 3

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {"mean-ranks": {}}

    def figure(self, results: Results) -> "Figure":
        from vsebench.rendering import drawing, style

        metric = ranked_by(results)
        found = mean_ranks(results.metrics, metric, results.competitors_of(results.metrics))
        if isinstance(found, str):
            return drawing.nothing(found)
        bars, half = len(found.groups), -(-len(found.methods) // 2)
        figure, (axis,) = drawing.panels(1, style.DOUBLE, 0.75 + 0.17 * half + 0.07 * bars)
        axis.set_title(f"{metric_title(metric)}, {found.blocks} blocks{drawing.simulated_share(results)}")
        draw_diagram(axis, found, [results.method_title(method) for method in found.methods])
        return figure

    def caption(self, results: Results) -> str:
        return (
            f"Mean rank of each method in {metric_title(ranked_by(results))} over data sets and seeds; 1 is best. A "
            "bar joins methods whose mean ranks differ by less than Nemenyi's critical difference (alpha 0.05). Seeds "
            "of a data set share its images, so the blocks are not independent and the critical difference is a lower "
            "bound."
        )

    def alternative(self, results: Results) -> str:
        found = mean_ranks(results.metrics, ranked_by(results), results.competitors_of(results.metrics))
        if isinstance(found, str):
            return f"{found}."
        names = [
            f"{results.method_title(row)} {rank:.2f}" for row, rank in zip(found.methods, found.ranks, strict=True)
        ]
        return f"An axis of mean ranks, with bars over methods that do not differ: {', '.join(names)}."


def ranked_by(results: Results) -> str:
    """Return the metric by which the methods are ranked."""
    metrics = results.outline.metrics
    return METRIC if METRIC in metrics else few_metrics(metrics)[0]


def draw_diagram(axis: "Axes", found: MeanRanks, titles: list[str]) -> None:
    """Draw axis, bars and names; the better half of the methods is named on the left."""
    k, bars = len(titles), len(found.groups)
    half, width = -(-k // 2), k - 1
    axis.set_axis_off()
    axis.set_xlim(1 - 0.42 * width, k + 0.42 * width)
    axis.set_ylim(-(1.2 + 0.45 * bars + half), 2.6)
    draw_axis(axis, k, found.critical_difference)
    for n, (first, last) in enumerate(found.groups):
        low, high = found.ranks[first] - 0.02 * width, found.ranks[last] + 0.02 * width
        axis.plot([low, high], [-0.4 - 0.45 * n] * 2, color="black", linewidth=2.4, solid_capstyle="butt")
    for place, (title, rank) in enumerate(zip(titles, found.ranks, strict=True)):
        left = place < half
        y = -(1.0 + 0.45 * bars) - (place if left else k - 1 - place)
        edge = 1 - 0.03 * width if left else k + 0.03 * width
        axis.plot([rank, rank, edge], [0, y, y], color="0.35", linewidth=0.7)
        text = f"{title}  {rank:.2f}" if left else f"{rank:.2f}  {title}"
        axis.text(edge + (-0.01 if left else 0.01) * width, y, text, ha="right" if left else "left", va="center")


def draw_axis(axis: "Axes", k: int, difference: float) -> None:
    """Draw the axis of ranks, and the critical difference above it."""
    axis.plot([1, k], [0, 0], color="black", linewidth=0.8)
    for rank in range(1, k + 1):
        axis.plot([rank, rank], [0, 0.25], color="black", linewidth=0.8)
        axis.text(rank, 0.4, str(rank), ha="center", va="bottom")
    axis.plot([1, 1 + difference], [1.7, 1.7], color="black", linewidth=1.2, marker="|", markersize=5)
    axis.text(1 + difference / 2, 1.85, f"critical difference {difference:.2f}", ha="center", va="bottom")
