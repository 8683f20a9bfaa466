"""A leaderboard: a page that compares the methods of several packs, and shows what has changed since older packs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from vsebench.core.errors import UserError
from vsebench.core.schemas import SUMMARY
from vsebench.core.storage import read_json, read_table
from vsebench.core.tasks import Task
from vsebench.evaluation.metrics.base import load_metric
from vsebench.packs.comparison import Comparison, compare, not_in_packs
from vsebench.packs.manifest import Shown
from vsebench.packs.runs import Run
from vsebench.rendering.choices import count, how_chosen
from vsebench.rendering.marks import marks_of, meanings, split
from vsebench.rendering.metrics import few_metrics, metric_form, metric_title
from vsebench.rendering.page.page import template
from vsebench.rendering.table import Cell, Column, Row, Table

RANKS = (
    "Rank 1 is the best. The interval of a rank contains all ranks that are possible if two methods whose 95 % "
    "intervals overlap can be in either order. The mean rank and the ends of its interval are means over the tasks "
    "with real data on which the method was run, or over the simulated tasks if no task has real data. Methods with "
    "more of these tasks come first, because mean ranks over different tasks cannot be compared.",
    "A task is a data set under a protocol with particular splits. Packs with different splits have separate columns.",
    "Oracles use test information, so they are not shown.",
)
Numbers = Mapping[str, Any]  # a row of summary.parquet


@dataclass(frozen=True)
class Contestant:
    """A method of a pack."""

    run: int  # the index of its run
    method: str
    shown: Shown


@dataclass(frozen=True)
class BoardTask:
    """A task, with the runs that have the same splits of this task."""

    task: Task
    runs: dict[int, Run]  # index of the run -> the run
    title: str

    @property
    def simulated(self) -> bool:
        """Whether the data set is simulated."""
        return next(iter(self.runs.values())).manifest.datasets[self.task.dataset].simulated

    @cached_property
    def fits(self) -> dict[tuple[int, str], list[dict[str, Any]]]:
        """Map (index of the run, method) to the method's entries in settings.json, one per seed."""
        fits: dict[tuple[int, str], list[dict[str, Any]]] = {}
        for number, run in self.runs.items():
            for fit in read_json(run.folder / "settings.json"):
                if (fit["dataset"], fit["protocol"]) == (self.task.dataset, self.task.protocol):
                    fits.setdefault((number, fit["method"]), []).append(fit)
        return fits

    def marks(self, each: Contestant) -> str:
        """Return the marks that state which limits the fits of a method reached (see `rendering/marks.py`)."""
        return marks_of(self.fits.get((each.run, each.method), ()))

    @cached_property
    def metrics(self) -> list[str]:
        """The ranking metrics that all runs of the task have."""
        first, *others = (run.manifest.metrics for run in self.runs.values())
        return [name for name in first if all(name in metrics for metrics in others)]

    @cached_property
    def metric(self) -> str:
        """The headline metric; if the runs of the task have no quality metric in common, raise a `UserError`."""
        of_quality = [name for name in self.metrics if load_metric(name).sign]
        if not of_quality:
            packs = ", ".join(str(run.path) for run in self.runs.values())
            raise UserError(f"{packs} have no quality metric in common for {self.task}; leave out one of them")
        return few_metrics(of_quality)[0]

    def numbers(self, metric: str) -> dict[tuple[int, str], Numbers]:
        """Map (index of the run, method) to the row of summary.parquet for a metric."""
        found: dict[tuple[int, str], Numbers] = {}
        for number, run in self.runs.items():
            summary = read_table(run.folder / "summary.parquet", SUMMARY)
            rows = summary.filter(dataset=self.task.dataset, protocol=self.task.protocol, decision="", metric=metric)
            found |= {(number, row["method"]): row for row in rows.iter_rows(named=True)}
        return found


def leaderboard(runs: Sequence[Run], earlier: Sequence[Run] = ()) -> str:
    """Return the leaderboard as an HTML page.

    Parameters
    ----------
    runs : the runs whose methods are ranked
    earlier : older results of some of these runs, to show what has changed; runs are matched by name
    """
    tasks = tasks_of(runs)
    contestants = contestants_of(runs)
    data = {name: data for run in runs for name, data in run.manifest.datasets.items()}
    return template("leaderboard.html.j2").render(
        ranks=rank_table(tasks, contestants, runs),
        values=value_table(tasks, contestants, runs),
        numbers=chart(tasks, contestants, runs),
        simulated=[each.title for each in data.values() if each.simulated],
        changes=[change_of(old, newer_of(old, runs), number) for number, old in enumerate(earlier)],
        packs=[(f"{name} ({run.path.name})", described(run)) for name, run in zip(names_of(runs), runs, strict=True)],
        downloads={},
        pictures={},
    )


def tasks_of(runs: Sequence[Run]) -> list[BoardTask]:
    """Return the tasks of all runs, those with real data first; runs with the same splits share one task."""
    groups: list[tuple[Task, dict[int, Run]]] = []
    for number, run in enumerate(runs):
        for task, packed in run.manifest.of_tasks.items():
            fitting = (
                members
                for other, members in groups
                if other == task
                and all(agree(packed.splits, run.manifest.tasks[str(task)].splits) for run in members.values())
            )
            members = next(fitting, None)
            if members is None:
                groups.append((task, {number: run}))
            else:
                members[number] = run
    names = names_of(runs)
    tasks = [BoardTask(task, members, title_of(task, members, groups, names)) for task, members in groups]
    return sorted(tasks, key=lambda task: task.simulated)


def agree(first: Mapping[int, str], second: Mapping[int, str]) -> bool:
    """Return whether two runs have a seed in common, and the same split for each common seed."""
    shared = [seed for seed in first if seed in second]
    return bool(shared) and all(first[seed] == second[seed] for seed in shared)


def names_of(runs: Sequence[Run]) -> list[str]:
    """Return a different name for each run: the name of its pack or configuration.

    If several runs have the same name, each of these names gets a prefix: the name of the folder that contains the pack
    or the results. Names that are still equal get numbers.
    """
    short = [run.path.stem if run.path.is_file() else run.manifest.name for run in runs]
    names = [
        f"{run.path.resolve().parent.name}/{name}" if short.count(name) > 1 else name
        for name, run in zip(short, runs, strict=True)
    ]
    numbers = [f" {names[: at + 1].count(name)}" if names.count(name) > 1 else "" for at, name in enumerate(names)]
    return [name + number for name, number in zip(names, numbers, strict=True)]


def title_of(
    task: Task,
    members: Mapping[int, Run],
    groups: Sequence[tuple[Task, Mapping[int, Run]]],
    names: Sequence[str],
) -> str:
    """Return the title of a task, with the names of its runs if other runs have different splits of this task."""
    run = next(iter(members.values()))
    data = run.manifest.datasets[task.dataset]
    title = data.title + (" (simulated)" if data.simulated and "simulated" not in data.title.lower() else "")
    several = sum(other == task for other, _ in groups) > 1
    of_runs = f" ({', '.join(names[number] for number in members)})" if several else ""
    return f"{title[:1].upper()}{title[1:]}, {task.protocol}{of_runs}"


def contestants_of(runs: Sequence[Run]) -> list[Contestant]:
    """Return the methods of all runs except the oracles."""
    return [
        Contestant(number, method, shown)
        for number, run in enumerate(runs)
        for method, shown in run.manifest.methods.items()
        if shown.role != "oracle"
    ]


def titles_of(contestants: Sequence[Contestant], runs: Sequence[Run]) -> list[str]:
    """Return the title of each method, with the name of its run if several runs have the method."""
    methods, names = [each.method for each in contestants], names_of(runs)
    return [
        each.shown.title + (f" ({names[each.run]})" if methods.count(each.method) > 1 else "") for each in contestants
    ]


def ranked(task: BoardTask, contestants: Sequence[Contestant]) -> dict[int, tuple[int, int, int]]:
    """Return the rank of each method on a task, with its best and worst possible ranks.

    The keys of the result are indices into `contestants`. Methods that were not run on the task are left out. If the
    95 % intervals of two methods overlap, both orders of the two are possible.
    """
    numbers, sign = task.numbers(task.metric), load_metric(task.metric).sign
    found = {
        index: [*sorted(sign * row[key] for key in ("ci_low", "ci_high")), sign * row["value"]]
        for index, each in enumerate(contestants)
        if (row := numbers.get((each.run, each.method))) is not None
    }
    ranks = {}
    for index, (low, high, value) in found.items():
        better = sum(other[2] > value for other in found.values())
        surely_better = sum(other[0] > high for other in found.values())
        surely_worse = sum(other[1] < low for other in found.values())
        ranks[index] = better + 1, surely_better + 1, len(found) - surely_worse
    return ranks


def standings(
    tasks: Sequence[BoardTask], of_tasks: Sequence[Mapping[int, tuple[int, int, int]]]
) -> list[tuple[int, int, list[float]]]:
    """Return the index of each method, the number of tasks that count for it, and its mean ranks.

    Only tasks with real data count, if there are any. The mean ranks are the means over these tasks of the rank, of the
    best possible rank and of the worst possible rank. Methods with more such tasks come first. Methods with equally
    many tasks are in the order of their mean ranks. `of_tasks` contains the result of `ranked` for each task.
    """
    only_simulated = all(task.simulated for task in tasks)
    found = []
    for index in sorted(set().union(*of_tasks)):
        ranks = [
            at_task[index]
            for task, at_task in zip(tasks, of_tasks, strict=True)
            if index in at_task and (only_simulated or not task.simulated)
        ]
        found.append((index, len(ranks), [sum(values) / len(ranks) for values in zip(*ranks, strict=True)]))
    return sorted(found, key=lambda each: (-each[1], each[2]))


def rank_table(tasks: Sequence[BoardTask], contestants: Sequence[Contestant], runs: Sequence[Run]) -> Table:
    """Return the table of ranks, in the order of `standings`."""
    of_tasks = [ranked(task, contestants) for task in tasks]
    titles, rows = titles_of(contestants, runs), []
    for index, number, means in standings(tasks, of_tasks):
        cells = [
            Cell(*at_task[index], marks=task.marks(contestants[index])) if index in at_task else Cell()
            for task, at_task in zip(tasks, of_tasks, strict=True)
        ]
        mean = Cell(means[0], means[1], means[2]) if means else Cell()
        rows.append(Row.of(titles[index], number, mean, *cells))
    columns = [Column("method", "Method"), Column("tasks", "Tasks of\nthe mean", "count")]
    columns.append(Column("mean_rank", "Mean rank", "mean", interval=True))
    columns += [
        Column(f"rank_{number}", f"{task.title}: {metric_title(task.metric)}", "count", interval=True)
        for number, task in enumerate(tasks)
    ]
    notes = (*RANKS, *meanings(cell.marks for row in rows for cell in row.cells))
    return Table(columns, rows, f"Ranks of {count(len(rows), 'method')} on {count(len(tasks), 'task')}", notes)


def value_table(tasks: Sequence[BoardTask], contestants: Sequence[Contestant], runs: Sequence[Run]) -> Table:
    """Return the table of the headline metric of each task, with 95 % intervals, in the order of `rank_table`."""
    of_tasks = [ranked(task, contestants) for task in tasks]
    numbers_of = [task.numbers(task.metric) for task in tasks]
    titles, rows = titles_of(contestants, runs), []
    for index, *_ in standings(tasks, of_tasks):
        each, cells = contestants[index], []
        for task, numbers, ranks in zip(tasks, numbers_of, of_tasks, strict=True):
            row = numbers.get((each.run, each.method))
            best = index in ranks and ranks[index][0] == 1
            marks = task.marks(each)
            cells.append(Cell(row["value"], row["ci_low"], row["ci_high"], bold=best, marks=marks) if row else Cell())
        rows.append(Row.of(titles[index], settings_of(each, tasks), *cells))
    columns = [Column("method", "Method"), Column("settings", "Settings")]
    columns += [
        Column(f"value_{number}", f"{task.title}: {metric_title(task.metric)}", metric_form(task.metric), interval=True)
        for number, task in enumerate(tasks)
    ]
    notes = tuple(meanings(cell.marks for row in rows for cell in row.cells))
    return Table(columns, rows, "Values with 95 % intervals; the best value of each column is bold", notes)


def settings_of(each: Contestant, tasks: Sequence[BoardTask]) -> str:
    """Return how the settings of a method were chosen; "" if there is nothing to choose.

    If the settings were chosen in the same way on several tasks, the text names this way only once.
    """
    fits = (task.fits[each.run, each.method] for task in tasks if (each.run, each.method) in task.fits)
    ways = (how_chosen(of_task) for of_task in fits)
    tuned = f"settings: {each.shown.tuned}" if each.shown.tuned else None
    return "; ".join(dict.fromkeys(filter(None, [tuned, *ways])))


def chart(tasks: Sequence[BoardTask], contestants: Sequence[Contestant], runs: Sequence[Run]) -> dict[str, Any]:
    """Return the data of the interactive chart, in the format of `rendering.page.explore`.

    The data contain no training times, because packs are not compared by time.
    """
    from matplotlib.colors import to_hex

    from vsebench.rendering.style import COLOURS, GREY, MARKERS  # imports Matplotlib

    metrics = list(dict.fromkeys(metric for task in tasks for metric in task.metrics))
    titles = titles_of(contestants, runs)
    values = []
    for number, task in enumerate(tasks):
        for metric in task.metrics:
            numbers = task.numbers(metric)
            for index, each in enumerate(contestants):
                if row := numbers.get((each.run, each.method)):
                    ends = [round(row[key], 5) for key in ("value", "ci_low", "ci_high")]
                    values.append([number, metrics.index(metric), index, *ends, 0])
    marked = [
        [number, index, marks, split(marks)[1]]
        for number, task in enumerate(tasks)
        for index, each in enumerate(contestants)
        if (marks := task.marks(each))
    ]
    return {
        "tasks": [
            {"id": f"{task.task.name}-{number}", "title": task.title, "metric": metrics.index(task.metric)}
            for number, task in enumerate(tasks)
        ],
        "metrics": [metric_title(metric) for metric in metrics],
        "signs": [load_metric(metric).sign for metric in metrics],
        "methods": [
            {
                "id": f"{each.method}@{each.run}",
                "title": title,
                "role": each.shown.role,
                "colour": to_hex(GREY if each.shown.role == "control" else COLOURS[index % len(COLOURS)]),
                "marker": "*" if each.shown.role == "control" else MARKERS[index % len(MARKERS)],
            }
            for index, (each, title) in enumerate(zip(contestants, titles, strict=True))
        ],
        "values": values,
        "seconds": [],
        "marks": marked,
    }


def newer_of(old: Run, runs: Sequence[Run]) -> Run:
    """Return the newer results of the run whose older results are `old`; runs are matched by name."""
    for run in runs:
        if run.manifest.name == old.manifest.name:
            return run
    names = ", ".join(run.manifest.name for run in runs)
    raise UserError(
        f"--since: {old.path} belongs to the run {old.manifest.name}, but the page shows only {names}; "
        "name an older pack of a run on the page"
    )


def change_of(old: Run, new: Run, number: int) -> dict[str, Any]:
    """Return what changed between older and newer results of a run: the headline metric, verdicts and settings."""
    common = [name for name in new.manifest.metrics if name in old.manifest.metrics and not not_in_packs(name)]
    comparison = compare(old, new, few_metrics(common)[:1])
    lists = [("Not compared", comparison.refused), ("In one run only", comparison.only)]
    lists += [("Changed verdicts", comparison.verdicts), ("Changed settings", comparison.settings)]
    return {
        "id": f"table-changes-{number}",
        "title": f"{new.path.name} since {old.path.name}",
        "table": Table(CHANGES, list(changed_rows(comparison, new)), "Differences, new minus old, with 95 % intervals"),
        "lists": lists,
    }


CHANGES = (
    Column("task", "Task"),
    Column("method", "Method"),
    Column("metric", "Metric"),
    Column("before", "Before", "score"),
    Column("now", "Now", "score"),
    Column("difference", "Difference", "effect", interval=True),
    Column("p", "p, corrected", "p"),
)


def changed_rows(comparison: Comparison, new: Run) -> Iterator[Row]:
    """Yield a row for each method whose values differ, the largest difference first."""
    changed = comparison.differences.filter(pl.col("difference") != 0).sort(pl.col("difference").abs(), descending=True)
    for row in changed.iter_rows(named=True):
        yield Row.of(
            f"{row['dataset']}/{row['protocol']}",
            new.manifest.methods[row["method"]].title,
            metric_title(row["metric"]),
            row["first"],
            row["second"],
            Cell(row["difference"], row["ci_low"], row["ci_high"]),
            row["p_adjusted"],
        )


def described(run: Run) -> str:
    """Return a line that describes a pack."""
    made = run.manifest
    seeds = ", ".join(map(str, sorted({seed for task in made.tasks.values() for seed in task.splits})))
    tasks, methods = count(len(made.tasks), "task"), count(len(made.methods), "method")
    return f"{made.name}: {tasks}, {methods}, seeds {seeds}; vsebench {made.vsebench}, commit {made.commit}"
