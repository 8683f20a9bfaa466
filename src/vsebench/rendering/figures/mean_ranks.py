"""Critical-difference diagram: the methods' mean ranks over data sets (Demsar, 2006)."""

from vsebench.rendering.kinds import Axes, Figure, FigureKind
from vsebench.rendering.mean_ranks import MeanRanks, common_methods, mean_ranks
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results

METRIC = "ndcg@10"  # used if the run has it, otherwise the headline metric


class MeanRanksFigure(FigureKind):
    """An axis of mean ranks with the methods' names at its sides, and bars over methods that do not differ."""

    needs = ("metrics", "datasets")
    made_for = "run"
    section = "overview"
    position = 3

    def applies(self, outline: Outline) -> bool:
        return common_methods({task: outline.competitors(task) for task in outline.tasks}) is not None

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        metric, ranking = ranked_by(results), ranking_of(results)
        bars, half = len(ranking.groups), -(-len(ranking.methods) // 2)
        figure, (axis,) = drawing.panels(1, style.DOUBLE, 0.75 + 0.17 * half + 0.07 * bars)
        share = drawing.simulated_share(results, ranking.datasets)
        axis.set_title(f"{metric_title(metric)}, {len(ranking.datasets)} data sets{share}")
        draw_diagram(axis, ranking, [results.method_title(method) for method in ranking.methods])
        return figure

    def caption(self, results: Results) -> str:
        datasets = "; ".join(map(results.dataset_title, ranking_of(results).datasets))
        return (
            f"Mean rank of each method in {metric_title(ranked_by(results))} (mean over seeds) over {datasets}; 1 is "
            "best. A bar joins methods whose mean ranks differ by less than Nemenyi's critical difference (alpha "
            "0.05). Protocols of one data set are averaged first. Data sets that lack one of these methods are left "
            "out."
        )

    def alternative(self, results: Results) -> str:
        ranking = ranking_of(results)
        ranks = zip(ranking.methods, ranking.ranks, strict=True)
        names = ", ".join(f"{results.method_title(method)} {rank:.2f}" for method, rank in ranks)
        return f"An axis of mean ranks, with bars over methods that do not differ: {names}."


def ranking_of(results: Results) -> MeanRanks:
    """Return the mean ranks of the competitors."""
    return mean_ranks(results.metrics, ranked_by(results), results.competitors_of(results.metrics))


def ranked_by(results: Results) -> str:
    """Return the metric by which the methods are ranked."""
    metrics = results.outline.metrics
    return METRIC if METRIC in metrics else few_metrics(metrics)[0]


def draw_diagram(axis: Axes, ranking: MeanRanks, titles: list[str]) -> None:
    """Draw axis, bars and names, with the better half of the methods on the left."""
    k, bars = len(titles), len(ranking.groups)
    half, width = -(-k // 2), k - 1
    axis.set_axis_off()
    axis.set_xlim(1 - 0.42 * width, k + 0.42 * width)
    axis.set_ylim(-(1.2 + 0.45 * bars + half), 2.6)
    draw_axis(axis, k, ranking.critical_difference)
    for n, (first, last) in enumerate(ranking.groups):
        low, high = ranking.ranks[first] - 0.02 * width, ranking.ranks[last] + 0.02 * width
        axis.plot([low, high], [-0.4 - 0.45 * n] * 2, color="black", linewidth=2.4, solid_capstyle="butt")
    for index, (title, rank) in enumerate(zip(titles, ranking.ranks, strict=True)):
        left = index < half
        y = -(1.0 + 0.45 * bars) - (index if left else k - 1 - index)
        edge = 1 - 0.03 * width if left else k + 0.03 * width
        axis.plot([rank, rank, edge], [0, y, y], color="0.35", linewidth=0.7)
        text = f"{title}  {rank:.2f}" if left else f"{rank:.2f}  {title}"
        axis.text(edge + (-0.01 if left else 0.01) * width, y, text, ha="right" if left else "left", va="center")


def draw_axis(axis: Axes, k: int, difference: float) -> None:
    """Draw the axis of ranks, and the critical difference above it."""
    axis.plot([1, k], [0, 0], color="black", linewidth=0.8)
    for rank in range(1, k + 1):
        axis.plot([rank, rank], [0, 0.25], color="black", linewidth=0.8)
        axis.text(rank, 0.4, str(rank), ha="center", va="bottom")
    axis.plot([1, 1 + difference], [1.7, 1.7], color="black", linewidth=1.2, marker="|", markersize=5)
    axis.text(1 + difference / 2, 1.85, f"critical difference {difference:.2f}", ha="center", va="bottom")
