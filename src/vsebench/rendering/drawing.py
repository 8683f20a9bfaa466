"""Elements of figures: panels, dots with intervals, lines over epochs, and their legends."""

import math
from collections.abc import Collection, Sequence
from textwrap import fill
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from vsebench.core.tasks import Task
from vsebench.rendering.marks import meanings
from vsebench.rendering.results import Results, near_best, pick
from vsebench.rendering.style import SINGLE, Look, looks

COLUMNS = 4  # number of panels per row in a figure as wide as both columns of a page
LINE = 0.17  # height in inches of one line of a panel: a dot, with the name of the method at the left
# Sizes in the legend of lines, in inches: a line or a dot with the space around it, a character, and a row.
SPACE_OF_LINE, SPACE_OF_DOT, CHARACTER, HEIGHT_OF_ROW = 0.5, 0.3, 0.055, 0.135
LONG_LABELS = 0.001  # below this number, labels of logarithmic axes are long
FEW_POINTS = 10  # each point of a line with at most this number of points gets a marker
NOTE_CHARACTERS, NOTE_LINE = 20, 0.11  # characters per inch, and inches per line, in the explanation of marks
DOT: dict[str, Any] = {"marker": "o", "color": "black", "linestyle": "none", "markersize": 3.8}


def panels(
    number: int, width: float, height: float, columns: int = COLUMNS, **options: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a grid of `number` panels, and the list of these panels.

    The grid has at most `columns` columns, and its last row may be shorter. The figure is `width` inches wide, and each
    row of panels is `height` inches high. `options` are passed to `Figure.subplots`.
    """
    columns = min(columns, number)
    rows = -(-number // columns)
    figure = Figure(figsize=(width, rows * height))
    axes = list(figure.subplots(rows, columns, squeeze=False, **options).flat)
    for axis in axes[number:]:
        axis.remove()
    return figure, axes[:number]


def panels_of_groups(numbers: Sequence[int], width: float, heights: Sequence[float]) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with one grid of panels for each group, and the list of panels of each group.

    The grids are one below the other. The panels of a group share the vertical axis. `numbers` contains the number of
    panels of each group, and `heights` the height of one row of panels in each group, in inches.
    """
    columns = min(COLUMNS, max(numbers))
    rows = [-(-number // columns) for number in numbers]
    ratios = [height for height, count in zip(heights, rows, strict=True) for _ in range(count)]
    figure = Figure(figsize=(width, sum(ratios)))
    grid = figure.add_gridspec(len(ratios), columns, height_ratios=ratios)
    groups: list[list[Axes]] = []
    for group, number in enumerate(numbers):
        axes: list[Axes] = []
        for panel in range(number):
            cell = grid[sum(rows[:group]) + panel // columns, panel % columns]
            axes.append(figure.add_subplot(cell, sharey=axes[0] if axes else None))
            axes[-1].tick_params(labelleft=panel % columns == 0)
        groups.append(axes)
    return figure, groups


def stacks(numbers: Sequence[int], width: float) -> tuple[Figure, list[Axes], list[Axes]]:
    """Return a figure with two columns of panels, the list of all its panels, and the lowest panel of each column.

    `numbers` contains the number of lines of each panel (see `LINE`), which determines the panel's height. The panels
    are added one by one, each to the column that is shorter so far. All panels share the horizontal axis.
    """
    columns: list[list[int]] = [[], []]
    for number in range(len(numbers)):
        min(columns, key=lambda column: sum(numbers[n] for n in column)).append(number)
    heights = [sum(0.5 + LINE * numbers[n] for n in column) for column in columns]
    figure = Figure(figsize=(width, 0.5 + max(heights)))
    cells = figure.add_gridspec(1, len(columns))
    axes: dict[int, Axes] = {}
    for side, column in enumerate(columns):
        grid = cells[0, side].subgridspec(len(column), 1, height_ratios=[numbers[n] for n in column])
        for place, number in enumerate(column):
            axes[number] = figure.add_subplot(grid[place, 0], sharex=axes.get(0))
            axes[number].tick_params(labelbottom=False)
    return figure, [axes[number] for number in range(len(numbers))], [axes[column[-1]] for column in columns]


def nothing(reason: str = "Nothing to draw in this run") -> Figure:
    """Return a figure that only states why nothing is drawn; the report omits the figure (`FigureKind.is_empty`)."""
    figure = Figure(figsize=(SINGLE, 1))
    figure.text(0.5, 0.5, reason, ha="center", va="center")
    return figure


def panel_title(results: Results, task: Task) -> str:
    """Return a panel's title, with line breaks so that it fits a quarter of the width of a page."""
    return fill(results.short_title(task.dataset), 26) + f"\nprotocol {task.protocol}"


def simulated_share(results: Results, datasets: Collection[str]) -> str:
    """Return a suffix for a title that says whether all or some data are simulated; empty if none are."""
    simulated = [results.is_simulated(dataset) for dataset in datasets]
    if not any(simulated):
        return ""
    return ", all data simulated" if all(simulated) else ", part of the data simulated"


def draw_dots(
    axis: Axes,
    results: Results,
    accuracy: pl.DataFrame,
    metric: str,
    methods: Sequence[str],
    tasks: Sequence[Task] = (),
) -> None:
    """Draw each method's mean as a dot with an interval, and each oracle's mean as a line.

    A dot is filled if the method is the best or not significantly different from the best. `accuracy` is the part of
    `summary` for one task. If several panels share the names of the methods, `tasks` lists the tasks of these panels.
    """
    look = looks(results)
    for height, method in enumerate(methods):
        numbers = pick(accuracy, metric, method)
        if numbers is not None:
            interval = (numbers["value"], numbers["ci_low"], numbers["ci_high"])
            draw_interval(axis, height, *interval, look[method], filled=numbers["best"] or near_best(numbers))
    for oracle in results.oracles_of(accuracy):
        numbers = pick(accuracy, metric, oracle)
        if numbers is not None:
            axis.axvline(numbers["value"], **oracle_style(look[oracle]))
    axis.set_xlim(left=0)
    axis.margins(x=0.08)
    axis.xaxis.set_major_locator(MaxNLocator(4))
    name_methods(axis, results, methods, *(tasks or results.tasks_of(accuracy)))


def oracle_style(look: Look) -> dict[str, Any]:
    """Return the options with which Matplotlib draws the line of an oracle."""
    return {"color": look.colour, "linestyle": (0, look.dashes), "linewidth": 0.9}


def draw_interval(axis: Axes, height: float, value: float, low: float, high: float, look: Look, filled: bool) -> None:
    """Draw a dot at (`value`, `height`), and a horizontal interval from `low` to `high`."""
    axis.errorbar(
        value,
        height,
        xerr=[[max(0.0, value - low)], [max(0.0, high - value)]],
        color=look.colour,
        marker=look.marker,
        markersize=3.8,
        markerfacecolor=look.colour if filled else "white",
        capsize=1.8,
        elinewidth=0.9,
        capthick=0.9,
    )


def name_methods(axis: Axes, results: Results, methods: Sequence[str], *tasks: Task) -> None:
    """Label the vertical axis with the methods' titles and the marks (such as ‡) of their fits on the tasks.

    The first method is on top.
    """
    axis.set_yticks(range(len(methods)), [results.method_title(method, *tasks, short=True) for method in methods])
    axis.set_ylim(len(methods) - 0.4, -0.6)
    axis.grid(visible=False, axis="x", which="minor")


def legend_of_dots(figure: Figure, results: Results, accuracy: pl.DataFrame) -> None:
    """Draw the legend of dots and oracles below the panels; `accuracy` is the part of `summary` that is drawn."""
    handles = [
        Line2D([], [], **DOT, label="best, or not significantly different"),
        Line2D([], [], **DOT, markerfacecolor="white", label="significantly worse"),
    ]
    look = looks(results)
    for oracle in results.oracles_of(accuracy):
        handles.append(Line2D([], [], **oracle_style(look[oracle]), label=results.method_title(oracle, short=True)))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(3, len(handles)))


def draw_lines(axis: Axes, results: Results, frame: pl.DataFrame, x: str, y: str) -> None:
    """Draw one line per method: the mean of column `y` over seeds, against column `x`.

    A band around the line extends from the lowest to the highest value among the seeds. `frame` has a column `method`,
    and one row per method, seed and value of column `x`.
    """
    import seaborn as sns  # imported here because it takes a second and only figures with lines need it

    methods, look = results.methods_of(frame), looks(results)
    sns.lineplot(
        data=frame.select("method", x, y).to_dict(as_series=False),
        x=x,
        y=y,
        hue="method",
        style="method",
        hue_order=methods,
        style_order=methods,
        palette={method: look[method].colour for method in methods},
        markers={method: look[method].marker for method in methods},
        dashes={method: look[method].dashes for method in methods},
        errorbar=("pi", 100),
        err_kws={"linewidth": 0},
        markevery=0.13,
        markeredgewidth=0.4,
        legend=False,
        ax=axis,
    )
    for line in axis.get_lines():
        if np.size(line.get_xdata()) <= FEW_POINTS:  # with `markevery`, some points could lack a marker
            line.set_markevery(None)
    if x == "epoch":
        axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def line_style(look: Look) -> dict[str, Any]:
    """Return the options with which Matplotlib draws the line of a method with this look."""
    return {
        "color": look.colour,
        "marker": look.marker,
        "markeredgecolor": "white",
        "markeredgewidth": 0.4,
        "linestyle": (0, look.dashes) if look.dashes else "-",
    }


def legend_of_lines(
    figure: Figure, results: Results, methods: Sequence[str], tasks: Sequence[Task], dots: bool = False
) -> None:
    """Draw the legend of lines below the panels; with `dots`, the legend shows only the markers of the lines.

    Each method's title is followed by the marks (such as ‡) of its fits on the tasks.
    """
    look, changes = looks(results), {"linestyle": "", "markersize": 6} if dots else {}
    styles = {method: line_style(look[method]) | changes for method in methods}
    titles = {method: results.method_title(method, *tasks, short=True) for method in methods}
    handles = [Line2D([], [], **options, label=titles[method]) for method, options in styles.items()]
    most = min(len(handles), 4 if figure.get_figwidth() > SINGLE else 2)
    space = SPACE_OF_DOT if dots else SPACE_OF_LINE
    columns = columns_that_fit(list(titles.values()), most, figure.get_figwidth(), space)
    more_rows = math.ceil(len(handles) / columns) - math.ceil(len(handles) / most)
    figure.set_figheight(figure.get_figheight() + HEIGHT_OF_ROW * more_rows)
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=1.2 if dots else 3.2)


def columns_that_fit(titles: Sequence[str], most: int, width: float, space: float) -> int:
    """Return the largest number of columns, up to `most`, with which a legend fits into `width` inches.

    `space` is the width of a line or dot in the legend, with the space around it.
    """
    for columns in range(most, 1, -1):
        parts = np.array_split([len(title) for title in titles], columns)  # as Matplotlib fills the columns
        if sum(space + CHARACTER * part.max() for part in parts) <= width:
            return columns
    return 1


def explain_marks(figure: Figure) -> None:
    """Explain the marks (such as ‡) in a figure's texts by a note above the legend.

    Without a legend, the note is at the lower edge. The figure becomes higher by the height of the note, so that panels
    keep their height.
    """
    texts = meanings(text.get_text() for text in figure.findobj(Text) if isinstance(text, Text))
    if not texts:
        return
    note = fill(" ".join(texts), round(NOTE_CHARACTERS * figure.get_figwidth()))
    legend = figure.legends[0] if figure.legends else figure.legend(handles=[], loc="outside lower center")
    legend.set_title(note, prop=FontProperties(size=6))
    figure.set_figheight(figure.get_figheight() + NOTE_LINE * (1 + note.count("\n")))


def logarithmic(*scales: Axis) -> None:
    """Make axes logarithmic.

    Labels are powers of ten if the range covers two decades or more, and plain numbers otherwise. Call this after
    drawing, because the labels depend on the range.
    """
    for scale in scales:
        scale.axes.set(**{f"{scale.axis_name}scale": "log"})  # type: ignore[attr-defined]
        low, high = scale.get_view_interval()
        scale.set_minor_locator(LogLocator(subs="auto", numticks=20))
        scale.set_minor_formatter(NullFormatter())
        if high >= 100 * low:
            scale.set_major_locator(LogLocator(numticks=20))
            continue
        # Adjacent ticks at 1, 2, 5, 10, ... differ by a factor of at most 2.5. Labels such as 0.0004 are long.
        few = MaxNLocator(4 if low >= LONG_LABELS else 3)
        scale.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=20) if high > 2.5**2 * low else few)
        scale.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
