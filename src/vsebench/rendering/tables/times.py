"""Show a paper's table of times with our times: in seconds with ratios, or in the paper's own layout."""

from collections.abc import Iterator, Mapping
from itertools import product

from vsebench.papers.base import Paper
from vsebench.papers.comparison import TIMES
from vsebench.papers.published import SECONDS
from vsebench.rendering.published_vs_ours import MEASURED, PrintedTable, lines_of, our_title, ours_of
from vsebench.rendering.results import Results
from vsebench.rendering.table import MISSING, Cell, Column, Row, Table, format_value

UNITS = {"h": 3600, "min": 60, "s": 1}  # our times are shown in the largest unit in which they are at least 1
Times = Mapping[str, Mapping[str, float]]  # our method -> the paper's data set -> seconds


class TimeBesidePublished(PrintedTable):
    """A table of the seconds of each method, and of their ratio to the seconds of a reference method."""

    needs = ("comparison",)

    about: str = "seconds and ratios"
    ratio_to: str  # the paper's name for the method with which the others are compared

    def table(self, results: Results) -> Table:
        paper, printed = self.read()
        cells = [cell for cell in printed if cell.unit in SECONDS]
        published = {cell.row: cell.number for cell in cells}
        comparisons = self.compared(results)
        columns = [Column("dataset", "Data set", shown=False), Column("method", "Method"), Column("source", "Source")]
        columns += [Column("seconds", "Seconds", "seconds", interval=True)]
        columns += [Column("ratio", f"Ratio to\n{paper.row_title(self.ratio_to)}", "mean")]
        rows = []
        for dataset, method in lines_of(cells):
            line, base, group = f"{dataset}/{method}", f"{dataset}/{self.ratio_to}", paper.task_title(dataset)
            ratio = _ratio(published[line], published.get(base))
            rows.append(Row.of(group, paper.row_title(method), "published", published[line], ratio, group=group))
            base_seconds = comparisons.filter(row=base, method=self._our_base(paper))["ours"].to_list()
            for variant, ours in ours_of(comparisons, line):
                (time,) = ours.values()
                seconds = Cell(time["ours"], time["ci_low"], time["ci_high"])
                ratio = _ratio(time["ours"], *base_seconds)
                rows.append(Row.of(group, our_title(results, variant, ours), "here", seconds, ratio, group=group))
        measured = [TIMES[column].words for column in dict.fromkeys(cell.column for cell in cells) if column in TIMES]
        notes = [f"Here: seconds {words}." for words in measured]
        notes += ["The paper's machine and ours differ, so only ratios can be compared."]
        return Table(columns, rows, self.caption(paper, MEASURED), notes, fold=5)

    def _our_base(self, paper: Paper) -> str | None:
        """Return the first of our variants of the reference method, or None if there is none."""
        row = paper.rows.get(self.ratio_to)
        return row.ours[0] if row and row.ours else None


def _ratio(time: float, base: float | None = None) -> float | None:
    return time / base if base else None


class TimeAsPrinted(PrintedTable):
    """A table of a paper's times in the paper's own layout, with our times below.

    If `accelerate` is given, the table also contains the printed speed-ups and our own.
    """

    needs = ("comparison",)

    accelerate: str | None = None  # the paper's name for the method whose speed-ups (ratio of times - 1) are printed

    def table(self, results: Results) -> Table:
        paper, printed = self.read()
        cells = [cell for cell in printed if not cell.is_words]
        timed = [cell for cell in cells if cell.unit in SECONDS]
        texts = {cell.row: f"{cell.value} {_symbol(cell.unit)}" for cell in timed}
        texts |= {cell.row: f"{cell.value} x" for cell in cells if cell.unit == "times"}
        lines = list(lines_of(timed))
        datasets = list(dict.fromkeys(dataset for dataset, _ in lines))
        columns = [Column("method", "Model", width=0.3), Column("source", "Source")]
        columns += [Column(dataset, paper.task_title(dataset)) for dataset in datasets]
        rows, tasks = [], results.tasks_of(self.compared(results))
        base = self._ours(results, self.accelerate) if self.accelerate else {}
        for method in dict.fromkeys(method for _, method in lines):
            ours = self._ours(results, method)
            published = (texts.get(f"{dataset}/{method}", MISSING) for dataset in datasets)
            rows.append(Row.of(paper.row_title(method), "published", *published, apart=True))
            for variant, times in ours.items():
                durations = (_duration(times.get(dataset)) for dataset in datasets)
                rows.append(Row.of(results.method_title(variant, *tasks), "here", *durations))
            if self.accelerate and method != self.accelerate:
                faster = (texts.get(f"{dataset}/{method}/accelerate", MISSING) for dataset in datasets)
                rows.append(Row.of("Accelerate", "published", *faster))
                rows += _accelerations(results, base, ours, datasets)
        columns_of_times = dict.fromkeys(cell.column for cell in printed if cell.column in TIMES)
        notes = [f"Here: time {TIMES[column].words}." for column in columns_of_times]
        if self.accelerate:
            notes.append(
                "Accelerate, as in the paper: the time of the model above divided by the time of "
                f"{paper.row_title(self.accelerate)}, minus 1; 0 x: equally fast."
            )
        notes.append("The paper's machine and ours differ, so only ratios can be compared.")
        return Table(columns, rows, self.caption(paper, MEASURED), notes)

    def _ours(self, results: Results, method: str) -> Times:
        """Return the seconds of each of our variants of one of the paper's methods."""
        times: dict[str, dict[str, float]] = {}
        for row in self.compared(results).iter_rows(named=True):
            dataset, _, name = row["row"].partition("/")
            if name == method:
                times.setdefault(row["method"], {})[dataset] = row["ours"]
        return times


def _accelerations(results: Results, base: Times, ours: Times, datasets: list[str]) -> Iterator[Row]:
    """Yield a row of speed-ups for each pair of a faster variant and another variant.

    `base` contains the times of our variants of the faster method, and `ours` those of our variants of another method.
    """
    for (slow, times), (fast, seconds) in product(ours.items(), base.items()):
        texts = (
            f"{times[dataset] / seconds[dataset] - 1:,.2f} x" if dataset in times and dataset in seconds else MISSING
            for dataset in datasets
        )
        title = f"Accelerate, {results.method_title(fast)} over {results.method_title(slow)}"
        yield Row.of(title, "here", *texts)


def _symbol(unit: str) -> str:
    """Return the symbol of a printed unit of time, or the unit if it has none.

    >>> _symbol("hours"), _symbol("minutes"), _symbol("weeks")
    ('h', 'min', 'weeks')
    """
    return next((symbol for symbol, seconds in UNITS.items() if SECONDS[unit] == seconds), unit)


def _duration(seconds: float | None) -> str:
    """Return a time with three digits, in the largest unit in which it is at least 1.

    >>> _duration(0.0123), _duration(90.0), _duration(7200.0), _duration(None)
    ('0.0123 s', '1.50 min', '2.00 h', '–')
    """
    if seconds is None:
        return MISSING
    symbol, size = next(((symbol, size) for symbol, size in UNITS.items() if seconds >= size), ("s", 1))
    return f"{format_value(seconds / size, 'seconds')} {symbol}"
