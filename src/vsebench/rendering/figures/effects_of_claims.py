"""Forest plot of the claims: mean effects with intervals, and the line of no effect."""

from collections.abc import Sequence
from math import isfinite
from textwrap import fill
from typing import Any

from vsebench.papers.verdict import FAILS, HOLDS, UNDECIDED
from vsebench.rendering.claims import Line, claim_lines, claims_of
from vsebench.rendering.kinds import Axes, Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results

LINE = 0.06  # inches between two kinds of data of a claim
GAP = 0.13  # inches around a claim's effects
COLOURS = {HOLDS: "#18733a", FAILS: "#b3261e", UNDECIDED: "#6b7280"}
SIMULATED: dict[str, Any] = {"marker": "o", "markersize": 3.5, "markerfacecolor": "white", "markeredgewidth": 0.7}
# The panels: prefix of `effect_is`, title of the axis, position of no effect, and scale of the axis.
PANELS = (
    ("difference of a metric", "difference of a metric", 0.0, "linear"),
    ("ratio (", "ratio (log)", 1.0, "log"),
)


class EffectsOfClaims(FigureKind):
    """A panel of differences and a panel of ratios, with one effect per claim and kind of data."""

    needs = ("claims", "datasets")
    section = None

    @classmethod
    def instances(cls, outline: Outline) -> dict[str, dict[str, Any]]:
        return {"effects-of-claims": {}} if outline.papers else {}

    def figure(self, results: Results) -> Figure:
        from matplotlib.lines import Line2D

        from vsebench.rendering import drawing, style

        claims_of_panels = [(panel, claims) for panel in PANELS if (claims := judged_tests_of_panel(results, panel[0]))]
        if not claims_of_panels:
            return drawing.nothing("This run has no claim with an effect and an interval")
        heights = [sum(height_of(tests) for _, tests in claims) for _, claims in claims_of_panels]
        figure, groups = drawing.panels_of_groups(
            [1] * len(claims_of_panels), style.DOUBLE, [inches + 0.45 for inches in heights]
        )
        for (axis,), (panel, claims), height in zip(groups, claims_of_panels, heights, strict=True):
            draw(axis, claims, panel, height)
        handles = [
            Line2D([], [], color=colour, marker="o", markersize=3.5, linewidth=1, label=verdict)
            for verdict, colour in COLOURS.items()
        ]
        handles.append(Line2D([], [], **SIMULATED, color="black", linestyle="", label="on simulated data"))
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return figure

    def caption(self, results: Results) -> str:
        return (
            "Effects of the papers' claims, with 95 % intervals: the mean over data sets and protocols, one line per "
            "claim and kind of data. Of several rivals and metrics, the weakest is shown. Right of the vertical line, "
            "the effect has the claimed direction. A claim of equality holds near the line, a claim of a minimum size "
            "only beyond that size. Intervals are cut at the edge of "
            "the panel. Claims without a verdict are not shown."
        )

    def alternative(self, results: Results) -> str:
        tests = [test for panel in PANELS for _, tests in judged_tests_of_panel(results, panel[0]) for test in tests]
        counts = [f"{sum(test['verdict'] == verdict for test in tests)} {verdict}" for verdict in COLOURS]
        return f"Intervals of effects, claim by claim: {', '.join(counts)}."


def judged_tests_of_panel(results: Results, prefix: str) -> list[tuple[str, list[Line]]]:
    """Return each claim's name and its judged effects of one panel, by decreasing effect."""
    judged_tests = []
    for claim, tests in claims_of(claim_lines(results)):
        with_effect = [test for test in tests if test["verdict"] in COLOURS and test["effect"] is not None]
        judged = [test for test in with_effect if test["effect_is"].startswith(prefix)]
        if judged:
            judged.sort(key=lambda test: -float(test["effect"]))
            judged_tests.append((claim, judged))
    papers = {claim["paper"] for claim, _ in judged_tests}
    prefixes = {name: f"{results.outline.papers.get(name, name)}: " if len(papers) > 1 else "" for name in papers}
    return [(prefixes[claim["paper"]] + claim["claim"], judged) for claim, judged in judged_tests]


def height_of(tests: Sequence[Line]) -> float:
    """Return the height of a claim's tests in inches."""
    return GAP + LINE * len(tests)


def draw(
    axis: Axes, claims: Sequence[tuple[str, list[Line]]], panel: tuple[str, str, float, str], inches: float
) -> None:
    """Draw the tests of all claims, the first claim on top; the vertical axis is in inches."""
    _, title, no_effect, scale = panel
    top, middles, effects = 0.0, [], [no_effect]
    for _, tests in claims:
        for number, test in enumerate(tests):
            y, colour = top + GAP / 2 + LINE * (number + 0.5), COLOURS[test["verdict"]]
            ends = [test["ci_low"], test["ci_high"]]
            if None not in ends:
                axis.plot(ends, [y, y], color=colour, linewidth=0.8, solid_capstyle="butt")
            face = "white" if test["data"] == "simulated" else colour
            axis.plot(
                test["effect"], y, color=colour, marker="o", markersize=2.2, markeredgewidth=0.5, markerfacecolor=face
            )
            effects.append(float(test["effect"]))
        middles.append(top + height_of(tests) / 2)
        top += height_of(tests)
        axis.axhline(top, color="0.92", linewidth=0.5)
    axis.axvline(no_effect, color="black", linewidth=0.7)
    axis.set(xscale=scale, xlabel=title, ylim=(inches, 0))
    axis.set_yticks(middles, [fill(name, 60) for name, _ in claims], fontsize=5.5, linespacing=1.2)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    if scale == "log":
        effects = [effect for effect in effects if effect > 0 and isfinite(effect)]
        axis.set_xlim(min(effects) / 1.6, max(effects) * 1.6)
    else:
        margin = 0.15 * (max(effects) - min(effects) or 0.1)
        axis.set_xlim(min(effects) - margin, max(effects) + margin)
