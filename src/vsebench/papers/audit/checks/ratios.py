"""Checks of improvements and speed-ups, which follow from two other printed numbers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from vsebench.papers.audit.findings import Finding, judge, report
from vsebench.papers.audit.printed import Interval, decimals, roughly, rounded
from vsebench.papers.published import PrintedCell, PrintedCells

TIMES = r"\w+_time"
WAYS = ("ratio", "ratio - 1")


def improvements(cells: PrintedCells) -> Iterator[Finding]:
    """Check each gain of a paper's own method over a baseline.

    The gain is 100 (own / baseline - 1) percent, where `own` and `baseline` are the methods' values of a metric.
    """
    for cell in cells.numbers(r".+@\d+"):
        if cell.row.endswith("/improve") and cell.unit == "percent":
            own = cells.find(cell.paper, f"{cell.dataset}/{cell.paper}", cell.column)
            baseline = cells.find(cell.paper, cell.row.removesuffix("/improve"), cell.column)
            if own and baseline:
                gain = (rounded(own.value) / rounded(baseline.value) - 1) * 100
                yield judge("improvement", cell, [own, baseline], gain, "100 (own / baseline - 1)")


@dataclass(frozen=True)
class Speedup:
    """A printed speed-up, the time of the slower method, and the time of the faster method."""

    cell: PrintedCell
    slow: PrintedCell
    fast: PrintedCell

    @property
    def ratio(self) -> Interval:
        return rounded(self.slow.value) / rounded(self.fast.value)

    def recomputed(self, way: str) -> Interval:
        return self.ratio - WAYS.index(way)

    def fits(self, way: str) -> bool:
        return rounded(self.cell.value).meets(self.recomputed(way))


def speedups(cells: PrintedCells) -> Iterator[Finding]:
    """Check each speed-up of a paper's own method, using the definition that fits most of the paper's speed-ups.

    "5 times" can mean that the ratio of times is 5, or that it is 6 (5 times more). A paper that uses the second
    definition is reported, because its speed-ups look smaller than those of other papers.
    """
    for paper in cells.papers:
        speedups_of_paper = list(_speedups(cells, paper))
        if not speedups_of_paper:
            continue
        fitting = {way: sum(speedup.fits(way) for speedup in speedups_of_paper) for way in WAYS}
        usual = max(WAYS, key=lambda way: fitting[way])
        for speedup in speedups_of_paper:
            yield _judge_speedup(speedup, usual)
        yield _definition_of_speedups(speedups_of_paper, usual, fitting)
    for cell in cells.numbers(r"time_over_\w+"):
        yield from _times_as_long(cells, cell)


def _definition_of_speedups(speedups_of_paper: list[Speedup], usual: str, fitting: dict[str, int]) -> Finding:
    """Return a finding on how a paper defines its speed-ups."""
    condition = '"n times" means a ratio of times; read as a gain (an "improvement"), it is the ratio minus 1'
    explanation = "n times as fast means that the ratio of the times is n"
    if usual != WAYS[0]:
        explanation += f", but {fitting[usual]} of these {len(speedups_of_paper)} numbers are the ratio minus 1"
    recomputed = f"{fitting[WAYS[0]]} of {len(speedups_of_paper)} are ratios"
    cells = [speedup.cell for speedup in speedups_of_paper]
    summary = f"{cells[0].table} speedup (all {len(speedups_of_paper)})"
    return report("counting", cells, usual, recomputed, usual == WAYS[0], explanation, condition, summary)


def _speedups(cells: PrintedCells, paper: str) -> Iterator[Speedup]:
    times = [cell for cell in cells.numbers(TIMES) if cell.paper == paper and not cell.in_text]
    for cell in cells.numbers("speedup"):
        baseline = cell.method.removesuffix("/accelerate")
        slow, fast = (
            next((time for time in times if (time.row, time.protocol) == (row, cell.protocol)), None)
            for row in (f"{cell.dataset}/{baseline}", f"{cell.dataset}/{paper}")
        )
        if cell.paper == paper and slow and fast and slow.unit == fast.unit:
            yield Speedup(cell, slow, fast)


def _judge_speedup(speedup: Speedup, usual: str) -> Finding:
    rule = f"{usual} of the times, as in most speed-ups of this paper"
    finding = judge("speed-up", speedup.cell, [speedup.slow, speedup.fast], speedup.recomputed(usual), rule)
    if speedup.fits(usual):
        return finding
    alternative = next(way for way in WAYS if way != usual)
    value = speedup.recomputed(alternative).show(decimals(speedup.cell.value) + 1)
    fit = "fits" if speedup.fits(alternative) else "does not fit either"
    return replace(finding, explanation=f"{finding.explanation}; the {alternative}, {value}, {fit}")


def _times_as_long(cells: PrintedCells, cell: PrintedCell) -> Iterator[Finding]:
    """Check a number that the text gives in the form "<method> takes n times as long as <fast method>"."""
    fast_method = cell.column.removeprefix("time_over_")
    for time in cells.numbers(TIMES):
        if time.paper == cell.paper and time.row == cell.row and time.protocol == cell.protocol and not time.in_text:
            fast = cells.find(cell.paper, f"{cell.dataset}/{fast_method}", time.column, time.table)
            if fast and fast.unit == time.unit:
                ratio = rounded(time.value) / rounded(fast.value)
                yield judge("speed-up", cell, [time, fast], ratio, "ratio of the times", roughly(cell.value))
