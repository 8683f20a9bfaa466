"""Draw a forest plot of tests of claims: effects with intervals, grouped by claim, and a line at "no effect"."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from textwrap import fill
from typing import Any

from vsebench.papers.verdict import FAILS, HOLDS, UNDECIDED
from vsebench.rendering.claims import Line, claim_lines, claims_of, paper_title
from vsebench.rendering.kinds import Axes, Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results

PAGE = 8.4  # maximum height of the figure in inches, on a page with a caption
EDGE = 0.45  # space in inches below a panel for its axis, and at the bottom for the legend
LINE = 0.06  # maximum distance between two tests of a claim, in inches
GAP = 0.19  # space around a claim's tests in inches, for two lines of text
COLOURS = {HOLDS: "#18733a", FAILS: "#b3261e", UNDECIDED: "#6b7280"}
SIMULATED: dict[str, Any] = {"marker": "o", "markersize": 3.5, "markerfacecolor": "white", "markeredgewidth": 0.7}
BOUND: dict[str, Any] = {"marker": "|", "color": "black", "linestyle": "", "markersize": 5, "markeredgewidth": 0.8}


@dataclass(frozen=True)
class Panel:
    """A panel of effects that have the same scale and are claimed to be large."""

    effects: tuple[str, ...]  # beginnings of `effect_is`, a column of the table of claims
    title: str  # the title of the axis
    no_effect: float
    logarithmic: bool


DIFFERENCES = Panel(("difference of a metric", "difference of sibling precision"), "difference of a metric", 0.0, False)
RATIOS = Panel(
    (
        "ratio (",
        "ratio of bytes",
        "ratio by the formulas",
        "ratio of the share of",
    ),
    "ratio (log)",
    1.0,
    True,
)
PANELS = (DIFFERENCES, RATIOS)


class EffectsOfClaims(FigureKind):
    """A forest plot of the effects on which the claims of one paper are judged.

    One panel shows differences and another shows ratios. A panel has one effect for each claim and each kind of data.
    """

    needs = ("claims", "datasets")
    section = None

    of: str  # a paper's name

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {f"effects-of-claims-{paper.replace('_', '-')}": {"of": paper} for paper in outline.papers}

    def applies(self, outline: Outline) -> bool:
        return self.of in outline.judged

    def is_empty(self, results: Results) -> bool:
        return not any(judged_tests_of_panel(results, self.of, panel) for panel in PANELS)

    def figure(self, results: Results) -> Figure:
        from matplotlib.lines import Line2D

        from vsebench.rendering import drawing, style

        claims_of_panels = [
            (panel, claims) for panel in PANELS if (claims := judged_tests_of_panel(results, self.of, panel))
        ]
        tests = [tests for _, claims in claims_of_panels for _, tests in claims]
        line, gap = fitting(len(tests), sum(map(len, tests)), PAGE - EDGE * (len(claims_of_panels) + 1))
        heights = [sum(gap + line * len(tests) for _, tests in claims) for _, claims in claims_of_panels]
        figure, groups = drawing.panels_of_groups(
            [1] * len(claims_of_panels), style.DOUBLE, [inches + EDGE for inches in heights]
        )
        figure.set_figheight(figure.get_figheight() + EDGE)
        for (axis,), (panel, claims), height in zip(groups, claims_of_panels, heights, strict=True):
            draw(axis, claims, panel, height, line, gap)
        handles = [
            Line2D([], [], color=colour, marker="o", markersize=3.5, linewidth=1, label=verdict)
            for verdict, colour in COLOURS.items()
        ]
        handles.append(Line2D([], [], **SIMULATED, color="black", linestyle="", label="on simulated data"))
        if any(bounds_of(test) for of_claim in tests for test in of_claim):
            handles.append(Line2D([], [], **BOUND, label="bound"))
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return figure

    def caption(self, results: Results) -> str:
        return (
            f"Effects on which the claims of the {paper_title(results, self.of)} are judged, one line per claim and "
            "kind of data. Each effect is the mean over data sets and protocols, with its 95 % interval, if its width "
            "is known. If a claim has several rivals or metrics, the weakest effect is shown. An effect to the right "
            "of the vertical line has the claimed direction. If a claim has other bounds than this line, strokes mark "
            "them: the claim holds only if the interval is above a minimum, below a maximum, or between the two. "
            f"Intervals are cut at the edge of the panel. {self._share_of_claims(results)}"
        )

    def _share_of_claims(self, results: Results) -> str:
        """Return a sentence on how many of the claims with a verdict are shown."""
        drawn = {claim for panel in PANELS for claim, _ in judged_tests_of_panel(results, self.of, panel)}
        judged = {line["claim"] for line in claim_lines(results, self.of) if line["verdict"] in COLOURS}
        if drawn == judged:
            return "All claims with a verdict are shown."
        return (
            f"{len(drawn)} of the {len(judged)} claims with a verdict are shown; the effects of the others are neither "
            "differences of a metric nor ratios that are claimed to be large."
        )

    def alternative(self, results: Results) -> str:
        tests = [
            test for panel in PANELS for _, tests in judged_tests_of_panel(results, self.of, panel) for test in tests
        ]
        counts = [f"{verdict} {sum(test['verdict'] == verdict for test in tests)}" for verdict in COLOURS]
        return f"Intervals of effects, claim by claim. Numbers of verdicts: {', '.join(counts)}."


def judged_tests_of_panel(results: Results, paper: str, panel: Panel) -> list[tuple[str, list[Line]]]:
    """Return the claims of a paper that one panel shows, each with its tests.

    Only tests with a verdict and an effect are returned. The tests of a claim are sorted by effect, the largest first.
    """
    judged_tests = []
    for claim, tests in claims_of(claim_lines(results, paper)):
        with_effect = [test for test in tests if test["verdict"] in COLOURS and test["effect"] is not None]
        judged = [test for test in with_effect if test["effect_is"].startswith(panel.effects)]
        if judged:
            judged.sort(key=lambda test: -float(test["effect"]))
            judged_tests.append((str(claim["claim"]), judged))
    return judged_tests


def fitting(n_claims: int, n_tests: int, inches: float) -> tuple[float, float]:
    """Return the distance between tests and the gap around the tests of a claim, in inches.

    All tests then fit into a height of `inches`. The distance is at most `LINE`, and the gap is at most `GAP`.

    >>> [round(inches, 3) for inches in fitting(10, 20, 8.4)], [round(inches, 3) for inches in fitting(20, 400, 8.4)]
    ([0.06, 0.19], [0.012, 0.19])
    """
    gap = min(GAP, 0.9 * inches / n_claims)
    return min(LINE, (inches - gap * n_claims) / n_tests), gap


def bounds_of(test: Line) -> list[float]:
    """Return the bounds of a test that the figure shows.

    A bound is left out if its absolute value is 0 or 1, which means "no effect" or the largest possible difference.
    """
    bounds = (test["bound_low"], test["bound_high"])
    return [bound for bound in bounds if bound is not None and abs(bound) not in (0, 1)]


def draw(
    axis: Axes, claims: Sequence[tuple[str, list[Line]]], panel: Panel, inches: float, line: float, gap: float
) -> None:
    """Draw the tests of all claims in one panel, the first claim on top.

    The unit of the vertical axis is one inch. The panel is `inches` high, `line` is the distance between two tests, and
    `gap` is the space around the tests of a claim.
    """
    top, middles = 0.0, []
    for _, tests in claims:
        for number, test in enumerate(tests):
            draw_test(axis, test, top + gap / 2 + line * (number + 0.5))
        height = gap + line * len(tests)
        middles.append(top + height / 2)
        top += height
        axis.axhline(top, color="0.92", linewidth=0.5)
    axis.axvline(panel.no_effect, color="black", linewidth=0.7)
    axis.set(xlabel=panel.title, ylim=(inches, 0))
    axis.set_yticks(middles, [fill(name, 60) for name, _ in claims], fontsize=6, linespacing=1.1)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    # Effects and bounds are inside the panel; an interval can be cut.
    scale(axis, panel, [value for _, tests in claims for test in tests for value in (test["effect"], *bounds_of(test))])


def draw_test(axis: Axes, test: Line, y: float) -> None:
    """Draw the effect of a test with its interval, and the bounds by which the test is judged."""
    colour, ends = COLOURS[test["verdict"]], [test["ci_low"], test["ci_high"]]
    if None not in ends:
        axis.plot(ends, [y, y], color=colour, linewidth=0.8, solid_capstyle="butt")
    face = "white" if test["data"] == "simulated" else colour
    axis.plot(test["effect"], y, color=colour, marker="o", markersize=2.2, markeredgewidth=0.5, markerfacecolor=face)
    for bound in bounds_of(test):
        axis.plot(bound, y, **BOUND)


def scale(axis: Axes, panel: Panel, values: Sequence[float]) -> None:
    """Set the scale and the limits of the horizontal axis.

    The limits include the line at "no effect" and all `values` that the scale can show.
    """
    from vsebench.rendering import drawing

    values = [panel.no_effect, *values]
    if panel.logarithmic:
        values = [value for value in values if value > 0 and isfinite(value)]
        axis.set_xlim(min(values) / 1.6, max(values) * 1.6)
        drawing.logarithmic(axis.xaxis)
    else:
        margin = 0.15 * (max(values) - min(values) or 0.1)
        axis.set_xlim(min(values) - margin, max(values) + margin)
