"""The headline metric against the seconds of training: which methods no other one beats in both."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from vsebench.core.places import Place
from vsebench.rendering.kinds import FigureKind
from vsebench.rendering.metrics import few_metrics, metric_title
from vsebench.rendering.outline import Outline
from vsebench.rendering.page.headline import leading_metric
from vsebench.rendering.results import Results, at, pick
from vsebench.rendering.timing import chosen_epochs, training_seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Point = tuple[float, float]  # seconds and metric


class AccuracyAgainstTime(FigureKind):
    """One panel per place, one dot per method; a line joins those on the front."""

    needs: ClassVar[tuple[str, ...]] = ("summary", "timing", "settings", "datasets")

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {"accuracy-against-time": {}}

    def figure(self, results: Results) -> "Figure":
        from vsebench.rendering import drawing, style

        found = {place: points(results, place) for place in results.places_of(results.timing)}
        found = {place: of_place for place, of_place in found.items() if of_place}
        if not found:
            return drawing.nothing("No method of this run was timed")
        width = style.SINGLE if len(found) == 1 else style.DOUBLE
        figure, axes = drawing.panels(len(found), width, 2.4, columns=min(len(found), 3))
        look = style.looks(results)
        for axis, (place, of_place) in zip(axes, found.items(), strict=True):
            for row, (seconds, value) in of_place.items():
                dot = drawing.line_style(look[row]) | {"linestyle": "", "markersize": 6}
                axis.plot(seconds, value, **dot, clip_on=False, zorder=3)
            ends = sorted(of_place[row] for row in front(of_place))
            axis.plot(*zip(*ends, strict=True), color=style.GREY, linewidth=0.8, zorder=1, drawstyle="steps-post")
            axis.set(xscale="log", xlabel="training seconds (log)")
            axis.set_ylabel(metric_title(leading_metric(results, place)))
            drawing.whole_decades(axis)
            axis.set_title(drawing.panel_title(results, place))
        rows = {row for of_place in found.values() for row in of_place}
        drawing.legend_of_lines(figure, results, [row for row in results.outline.rows if row in rows], dots=True)
        return figure

    def caption(self, results: Results) -> str:
        metric = metric_title(few_metrics(results.outline.metrics)[0])
        return (
            f"{metric}, or the next metric that tells the methods apart, against the seconds of training on one core "
            "with the chosen settings. The line joins the methods that no other method beats in both. Methods that are "
            "not timed are not shown."
        )

    def alternative(self, results: Results) -> str:
        sentences = []
        for place in results.places_of(results.timing):
            found = points(results, place)
            names = ", ".join(results.method_title(row) for row in front(found))
            sentences += [f"{results.place_title(place)}: no other method beats {names} in both."] if found else []
        return " ".join(["Dots of accuracy against training seconds, one panel per data set and protocol.", *sentences])


def points(results: Results, place: Place) -> dict[str, Point]:
    """Return the training seconds and the leading metric of each competitor at a place that was timed."""
    accuracy, timing = results.accuracy(place), at(results.timing, place)
    metric = leading_metric(results, place)
    found = {}
    for row in results.competitors_of(accuracy):
        seconds = training_seconds(timing.filter(method=row), chosen_epochs(results, place, row))
        numbers = pick(accuracy, metric, row)
        if seconds is not None and numbers is not None:
            found[row] = (seconds, float(numbers["value"]))
    return found


def front(found: Mapping[str, Point]) -> list[str]:
    """Return the rows that no other row beats: none is at least as fast and more accurate, or as accurate and faster.

    >>> front({"slow": (9.0, 0.5), "fast": (1.0, 0.4), "worse": (2.0, 0.3), "slower": (9.5, 0.5)})
    ['slow', 'fast']
    """

    def beaten(row: str) -> bool:
        seconds, value = found[row]
        return any(other[0] <= seconds and other[1] >= value and other != (seconds, value) for other in found.values())

    return [row for row in found if not beaten(row)]
