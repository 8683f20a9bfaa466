"""Draw a forest plot of tests of claims: effects with intervals, grouped by claim, and a line for no effect."""

from collections.abc import Sequence
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
# The panels: prefix of `effect_is`, title of the axis, position of no effect, and scale of the axis.
PANELS = (
    ("difference of a metric", "difference of a metric", 0.0, "linear"),
    ("ratio (", "ratio (log)", 1.0, "log"),
)


class EffectsOfClaims(FigureKind):
    """A panel of differences and a panel of ratios, with one effect for each claim of a paper and each kind of data."""

    needs = ("claims", "datasets")
    section = None

    of: str  # a paper's name

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {f"effects-of-claims-{paper.replace('_', '-')}": {"of": paper} for paper in outline.papers}

    def applies(self, outline: Outline) -> bool:
        return self.of in outline.judged

    def is_empty(self, results: Results) -> bool:
        return not any(judged_tests_of_panel(results, self.of, prefix) for prefix, *_ in PANELS)

    def figure(self, results: Results) -> Figure:
        from matplotlib.lines import Line2D

        from vsebench.rendering import drawing, style

        claims_of_panels = [
            (panel, claims) for panel in PANELS if (claims := judged_tests_of_panel(results, self.of, panel[0]))
        ]
        tests = [tests for _, claims in claims_of_panels for _, tests in claims]
        line, gap = fitting(len(tests), sum(map(len, tests)), PAGE - EDGE * (len(claims_of_panels) + 1))
        heights = [sum(gap + line * len(tests) for _, tests in claims) for _, claims in claims_of_panels]
        figure, groups = drawing.panels_of_groups(
            [1] * len(claims_of_panels), style.DOUBLE, [inches + EDGE for inches in heights]
        )
        for (axis,), (panel, claims), height in zip(groups, claims_of_panels, heights, strict=True):
            draw(axis, claims, panel, height, line, gap)
        handles = [
            Line2D([], [], color=colour, marker="o", markersize=3.5, linewidth=1, label=verdict)
            for verdict, colour in COLOURS.items()
        ]
        handles.append(Line2D([], [], **SIMULATED, color="black", linestyle="", label="on simulated data"))
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return figure

    def caption(self, results: Results) -> str:
        return (
            f"Effects on which the claims of the {paper_title(results, self.of)} are judged, one line per claim and "
            "kind of data. Each effect is the mean over data sets and protocols, with its 95 % interval. If a claim "
            "has several rivals or metrics, the weakest effect is shown. An effect to the right of the vertical line "
            "has the claimed direction. A claim that two methods are equal holds if the interval is near the line; a "
            "claim that an effect has a minimum size holds only if the interval is beyond that size. Intervals are cut "
            "at the edge of the panel. Claims without a verdict are not shown."
        )

    def alternative(self, results: Results) -> str:
        tests = [
            test for panel in PANELS for _, tests in judged_tests_of_panel(results, self.of, panel[0]) for test in tests
        ]
        counts = [f"{verdict} {sum(test['verdict'] == verdict for test in tests)}" for verdict in COLOURS]
        return f"Intervals of effects, claim by claim. Numbers of verdicts: {', '.join(counts)}."


def judged_tests_of_panel(results: Results, paper: str, prefix: str) -> list[tuple[str, list[Line]]]:
    """Return the claims in one panel, each with its tests that have a verdict, in descending order of the effects."""
    judged_tests = []
    for claim, tests in claims_of(claim_lines(results, paper)):
        with_effect = [test for test in tests if test["verdict"] in COLOURS and test["effect"] is not None]
        judged = [test for test in with_effect if test["effect_is"].startswith(prefix)]
        if judged:
            judged.sort(key=lambda test: -float(test["effect"]))
            judged_tests.append((str(claim["claim"]), judged))
    return judged_tests


def fitting(n_claims: int, n_tests: int, inches: float) -> tuple[float, float]:
    """Return the largest distance between tests and the largest gap around a claim with which all fit into `inches`.

    >>> [round(inches, 3) for inches in fitting(10, 20, 8.4)], [round(inches, 3) for inches in fitting(20, 400, 8.4)]
    ([0.06, 0.19], [0.012, 0.19])
    """
    gap = min(GAP, 0.9 * inches / n_claims)
    return min(LINE, (inches - gap * n_claims) / n_tests), gap


def draw(
    axis: Axes,
    claims: Sequence[tuple[str, list[Line]]],
    panel: tuple[str, str, float, str],
    inches: float,
    line: float,
    gap: float,
) -> None:
    """Draw the tests of all claims, the first claim on top; the vertical axis is in inches."""
    from vsebench.rendering import drawing

    _, title, no_effect, scale = panel
    top, middles, effects = 0.0, [], [no_effect]
    for _, tests in claims:
        for number, test in enumerate(tests):
            y, colour = top + gap / 2 + line * (number + 0.5), COLOURS[test["verdict"]]
            ends = [test["ci_low"], test["ci_high"]]
            if None not in ends:
                axis.plot(ends, [y, y], color=colour, linewidth=0.8, solid_capstyle="butt")
            face = "white" if test["data"] == "simulated" else colour
            axis.plot(
                test["effect"], y, color=colour, marker="o", markersize=2.2, markeredgewidth=0.5, markerfacecolor=face
            )
            effects.append(float(test["effect"]))
        height = gap + line * len(tests)
        middles.append(top + height / 2)
        top += height
        axis.axhline(top, color="0.92", linewidth=0.5)
    axis.axvline(no_effect, color="black", linewidth=0.7)
    axis.set(xlabel=title, ylim=(inches, 0))
    axis.set_yticks(middles, [fill(name, 60) for name, _ in claims], fontsize=6, linespacing=1.1)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    if scale == "log":
        effects = [effect for effect in effects if effect > 0 and isfinite(effect)]
        axis.set_xlim(min(effects) / 1.6, max(effects) * 1.6)
        drawing.logarithmic(axis.xaxis)
    else:
        margin = 0.15 * (max(effects) - min(effects) or 0.1)
        axis.set_xlim(min(effects) - margin, max(effects) + margin)
