"""The style of figures (widths, fonts, colours, markers and dashes), and the saving of figures."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from vsebench.core.storage import replacing
from vsebench.rendering.results import Results

SINGLE = 3.33  # inches: the width of one column of a two-column paper
DOUBLE = 7.0  # inches: the width of both columns
GREY = "0.45"

RC: Any = {  # Any, because Matplotlib's stubs require each key as a literal
    "font.family": "sans-serif",
    # Matplotlib ships the first font, so figures are the same everywhere. Browsers may use the second (just as wide).
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.size": 1.5,
    "figure.constrained_layout.use": True,
    "figure.dpi": 300,  # the resolution at which the layout measures text
    "pdf.fonttype": 42,  # TrueType, because publishers refuse Type 3 fonts
    "ps.fonttype": 42,
    "svg.fonttype": "none",  # keep text as text, which is smaller than outlines
    "svg.hashsalt": "vsebench",
    "savefig.dpi": 300,
    "savefig.facecolor": "white",
}
# Each colour has a contrast of at least 2.7 : 1 on white. Markers and dashes distinguish methods without colour.
COLOURS = [
    *("#0173b2", "#c77c02", "#029e73", "#d55e00", "#cc78bc", "#332288"),
    *("#999933", "#882255", "#3fa7d6", "#7a4f2a", "#44aa99"),
]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "h", "<", ">"]
DASHES: list[Any] = [(), (4, 1.2), (1.2, 1), (5, 1, 1.2, 1), (2.5, 1), (5, 1, 1.2, 1, 1.2, 1), (7, 1.5)]
CONTROLS: list[Any] = [(1, 1), (3, 2)]  # dashes
ORACLES: list[Any] = [(3, 2), (1, 1), (6, 2, 1, 2)]  # dashes
# The files contain no dates, so that the same results give the same bytes.
METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


@dataclass(frozen=True)
class Look:
    """The colour, marker and dashes with which every figure draws a method."""

    colour: str
    marker: str
    dashes: Any


def looks(results: Results) -> dict[str, Look]:
    """Return the look of each method of the run.

    The looks depend only on the outline, so a method looks the same in all figures.
    """
    outline = results.outline
    look = {
        method: Look(COLOURS[n % len(COLOURS)], MARKERS[n % len(MARKERS)], DASHES[n % len(DASHES)])
        for n, method in enumerate(outline.variants_of_role("paper", "baseline", "external"))
    }
    for n, method in enumerate(outline.variants_of_role("control")):
        markers, dashes = ["*", "p", *MARKERS], [*CONTROLS, *DASHES]
        look[method] = Look(GREY, markers[n % len(markers)], dashes[n % len(dashes)])
    for n, method in enumerate(outline.variants_of_role("oracle")):
        look[method] = Look("black", "_", ORACLES[n % len(ORACLES)])
    return look


def style() -> Any:
    """Return a context manager that sets the style while a figure is made and saved."""
    return mpl.rc_context(RC)


def save(figure: Figure, out: Path) -> None:
    """Write a figure to the files `out`.pdf, `out`.svg and `out`.png, all with the same layout."""
    if figure.axes and (engine := figure.get_layout_engine()):
        engine.execute(figure)
        figure.set_layout_engine("none")  # keep this layout; otherwise, each format would get a different one
    for suffix, metadata in METADATA.items():
        with replacing(out.with_name(f"{out.name}.{suffix}")) as temporary:
            figure.savefig(temporary, format=suffix, metadata=metadata)
