"""Compare two runs: differences of metrics, with paired intervals, and changes of verdicts and settings."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from vsebench.core.csv_files import read_csv
from vsebench.core.errors import UserError
from vsebench.core.schemas import CLAIMS
from vsebench.core.storage import read_json
from vsebench.core.tasks import Case, Entry, Task
from vsebench.evaluation.estimates import Estimates
from vsebench.evaluation.measuring import Measured, Ranked, measure, measure_sets
from vsebench.evaluation.metrics.base import ListMetric, load_metric, needs_frequencies
from vsebench.evaluation.reading import learnt_of, n_candidates_of, read_ranked, read_sets
from vsebench.evaluation.significance import Values, adjust
from vsebench.evaluation.spread import Spread, deviations
from vsebench.packs.runs import Run

RESAMPLES = 1000
DIFFERENCES = {
    "dataset": pl.String,
    "protocol": pl.String,
    "method": pl.String,
    "decision": pl.String,  # empty for metrics of the ranking
    "metric": pl.String,
    "first": pl.Float64,  # mean over the seeds that both runs have
    "second": pl.Float64,
    "difference": pl.Float64,  # second minus first
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "p_adjusted": pl.Float64,  # corrected for the number of rows of the comparison
    "n_seeds": pl.Int32,
}
# Keys of an entry of settings.json that state how a model was fitted, and their names in the lists of changes.
FITTED = {
    "settings": "settings",
    "epochs": "epochs",
    "choice": "choice of settings",
    "n_configurations": "number of configurations",
}

SettingsOfFits = Mapping[tuple[str, str, str, int], dict[str, Any]]  # the result of `settings_in`


@dataclass(frozen=True)
class Comparison:
    """The differences between two runs.

    Attributes
    ----------
    differences : a table with the columns `DIFFERENCES`, with tasks in the order of the first run
    refused : lines that state which tasks and metrics are not compared although both runs have them, and why
    only : lines that name the tasks, methods and metrics that only one of the runs has
    verdicts : a line for each claim whose verdict differs
    settings : a line for each setting that differs, with the task, the method and the seeds
    """

    differences: pl.DataFrame
    refused: list[str]
    only: list[str]
    verdicts: list[str]
    settings: list[str]


def compare(first: Run, second: Run, metrics: Sequence[str] | None = None) -> Comparison:
    """Compare two runs on the tasks, methods and seeds that both have.

    Parameters
    ----------
    metrics : the metrics to compare; if None, all metrics that both runs have and that can be computed from packs

    Raises
    ------
    UserError
        The runs have no task in common, a run lacks one of `metrics`, or packs lack what one of `metrics` needs.
    """
    shared = [task for task in first.manifest.of_tasks if str(task) in second.manifest.tasks]
    if not shared:
        raise UserError(f"{first.path} and {second.path}: the runs have no task in common; name other runs")
    check_metrics(first, second, metrics)
    rows: list[dict[str, Any]] = []
    refused = [] if metrics else [*not_computed(first, second)]
    for task in shared:
        if reason := why_not(task, first, second):
            refused.append(f"{task}: not compared: {reason}")
            continue
        of_rankings = chosen(first.manifest.metrics, second.manifest.metrics, metrics)
        of_sets = chosen(first.manifest.decision_metrics, second.manifest.decision_metrics, metrics)
        of_task = list(rows_of(task, first, second, of_rankings, of_sets))
        refused += without_values(task, of_task, of_rankings, of_sets)
        rows += of_task
    return Comparison(
        differences=corrected(rows),
        refused=refused,
        only=list(only_in_one(first, second)),
        verdicts=changed_verdicts(first.folder, second.folder),
        settings=changed_settings(first.folder, second.folder),
    )


def check_metrics(first: Run, second: Run, metrics: Sequence[str] | None) -> None:
    """Raise a `UserError` if a run lacks a metric that the user has named, or if packs lack what the metric needs."""
    for run in (first, second):
        measured = [*run.manifest.metrics, *run.manifest.decision_metrics]
        for name in metrics or ():
            if name not in measured:
                raise UserError(f"--metrics: {name} is not in {run.path}; the metrics there are {', '.join(measured)}")
            if lacking := not_in_packs(name):
                raise UserError(f"--metrics: {name} cannot be compared, because packs lack {lacking}; leave it out")


def not_computed(first: Run, second: Run) -> Iterator[str]:
    """Yield a line for each metric that both runs have but that cannot be computed from packs."""
    for name in first.manifest.metrics:
        if name in second.manifest.metrics and (lacking := not_in_packs(name)):
            yield f"{name}: not compared: packs lack {lacking}"


def not_in_packs(metric: str) -> str | None:
    """Return what packs lack to compute a metric; None if they lack nothing."""
    if isinstance(load_metric(metric), ListMetric):
        return "the siblings of labels"
    return "the number of training images of each label" if needs_frequencies([metric]) else None


def chosen(first: Sequence[str], second: Sequence[str], metrics: Sequence[str] | None) -> list[str]:
    """Return the metrics that two runs have in common and that can be computed from packs.

    `first` and `second` are the metrics of the runs. If `metrics` is given, only metrics that it contains are returned.
    """
    both = [name for name in first if name in second and (metrics is None or name in metrics)]
    return [name for name in both if not not_in_packs(name)]


def why_not(task: Task, first: Run, second: Run) -> str | None:
    """Return why a task cannot be compared (different splits, or no common seed); None if it can."""
    ours, theirs = (run.manifest.tasks[str(task)].splits for run in (first, second))
    seeds = [seed for seed in ours if seed in theirs]
    if not seeds:
        return f"the runs have no seed in common ({first.path}: {_list(ours)}; {second.path}: {_list(theirs)})"
    other = [seed for seed in seeds if ours[seed] != theirs[seed]]
    if other:
        hashes = f"{ours[other[0]][:12]} in {first.path}, {theirs[other[0]][:12]} in {second.path}"
        return f"the splits differ (seed {other[0]}: {hashes}), so the methods learnt from different labels"
    return None


def rows_of(task: Task, first: Run, second: Run, rankings: list[str], sets: list[str]) -> Iterator[dict[str, Any]]:
    """Yield a row for each method and metric of a task."""
    theirs = second.manifest.entries(task)
    pairs: dict[Entry, dict[int, list[Measured]]] = {}
    for entry, seeds in first.manifest.entries(task).items():
        metrics = sets if entry.decision else rankings
        both = [seed for seed in seeds if seed in theirs.get(entry, ())]
        if both and metrics:
            cases = {seed: Case(task, entry.variant, seed) for seed in both}
            pairs[entry] = {seed: measured(case, entry, (first, second), metrics) for seed, case in cases.items()}
    settings = settings_in(first.folder), settings_in(second.folder)
    for entry, of_entry in pairs.items():
        metrics = sets if entry.decision else rankings
        spreads = spreads_of(entry.variant, task, list(of_entry), settings)
        n_labels = n_candidates_of(Case(task, entry.variant, next(iter(of_entry))), first.folder)
        alike = {name: of_name for name, of_name in pairs.items() if bool(name.decision) == bool(entry.decision)}
        keys = {"dataset": task.dataset, "protocol": task.protocol, "method": entry.variant, "decision": entry.decision}
        for column, metric in enumerate(metrics):
            peers: dict[Hashable, Values] = {
                name: np.array([of_name[seed][0].values[column] for seed in of_entry])
                for name, of_name in alike.items()
                if of_entry.keys() <= of_name.keys()
            }
            if numbers := difference(list(of_entry.values()), column, metric, peers, spreads, n_labels):
                yield keys | {"metric": metric} | numbers


def without_values(task: Task, rows: Sequence[dict[str, Any]], rankings: list[str], sets: list[str]) -> Iterator[str]:
    """Yield a line for each metric that has no value on a task, although other metrics of its kind have values.

    `rows` are the rows of the task, `rankings` are the metrics of rankings, and `sets` are the metrics of decisions.
    """
    for metrics, of_sets in ((rankings, False), (sets, True)):
        compared = {row["metric"] for row in rows if bool(row["decision"]) == of_sets}
        if compared:
            yield from (
                f"{task}: {name}: not compared: this metric has no value on the task"
                for name in metrics
                if name not in compared
            )


def measured(case: Case, entry: Entry, runs: Sequence[Run], metrics: list[str]) -> list[Measured]:
    """Return the metrics of a case in both runs; each bootstrap resample has the same images in both."""
    if entry.decision:
        return measure_sets([read_sets(case, entry.decision, run.folder) for run in runs], metrics, RESAMPLES)
    ranked = [read_ranked(case, run.folder) for run in runs]
    check_same_labels(ranked, case, runs)
    folder = runs[0].folder
    return measure(ranked, metrics, n_candidates_of(case, folder), RESAMPLES, learnt=learnt_of(case, folder))


def check_same_labels(ranked: Sequence[Ranked], case: Case, runs: Sequence[Run]) -> None:
    """Raise a `UserError` if the held-out labels of the runs differ.

    They can differ even if the hashes of the splits are equal, because the hashes do not cover the test labels.
    """
    ours, theirs = (model.ranks.select("image", "label") for model in ranked)
    if not ours.equals(theirs):
        raise UserError(f"{case}: the held-out labels of {runs[0].path} and {runs[1].path} differ, so the data differ")


def spreads_of(variant: str, task: Task, seeds: Sequence[int], settings: Sequence[SettingsOfFits]) -> dict[str, Spread]:
    """Return how much metrics vary in the "first" and the "second" run due to the choice of a method's settings.

    If both runs chose the same settings for all `seeds`, their choices are not the reason for a difference, and the
    result is empty.
    """
    first, second = ([chosen_at(of_run, task, variant, seed) for seed in seeds] for of_run in settings)
    if first == second:
        return {}
    entries = (of_run[task.dataset, task.protocol, variant, seeds[0]] for of_run in settings)
    return {run: entry.get("spread", {}) for run, entry in zip(("first", "second"), entries, strict=True)}


def chosen_at(settings: SettingsOfFits, task: Task, variant: str, seed: int) -> list[Any]:
    """Return the settings of a method and, if it is an ensemble, those of its members."""
    keys = task.dataset, task.protocol
    entry = settings[*keys, variant, seed]
    members = entry["settings"] if entry["choice"] == "weights" else {}
    return [entry["settings"], *(settings[*keys, member, seed]["settings"] for member in members)]


def difference(
    by_seed: Sequence[Sequence[Measured]],
    column: int,
    metric: str,
    peers: Mapping[Hashable, Values],
    spreads: Mapping[str, Spread],
    n_labels: int,
) -> dict[str, Any]:
    """Return the values of a metric in both runs, and their difference with its interval and p-value.

    The difference is second minus first. If a value could not be computed, the result is empty.

    Parameters
    ----------
    by_seed : the metrics of a method in both runs, for each seed
    column, metric : the index and the name of the metric
    peers : method -> the values of the metric in the first run, (n_seeds,); used to estimate the variance between seeds
    spreads : how much metrics vary in the "first" and the "second" run due to the choice of settings
    n_labels : the number of candidates, on which the largest possible difference can depend
    """
    values = np.array([[model.values[column] for model in models] for models in by_seed])
    if np.isnan(values).any():
        return {}
    samples = np.stack([np.stack([model.samples[:, column] for model in models], axis=1) for models in by_seed])
    n_units = min(int(model.n[column]) for models in by_seed for model in models)
    choices = deviations(metric, ("first", "second"), spreads, values.mean(axis=0))
    estimates = Estimates(values, samples, n_units, peers, choices)
    largest = load_metric(metric).bound(n_labels)
    of_pair = estimates.minus(0, [1])
    (low,), (high,) = np.clip(of_pair.interval(), -largest, largest)
    return {
        "first": float(estimates.means[0]),
        "second": float(estimates.means[1]),
        "difference": float(of_pair.value[0]),
        "ci_low": float(low),
        "ci_high": float(high),
        "p": float(of_pair.p_value()[0]),
        "n_seeds": len(by_seed),
    }


def corrected(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Return the table of differences, with p-values that are corrected for the number of rows."""
    adjusted = adjust({number: row["p"] for number, row in enumerate(rows)})
    lines = [row | {"p_adjusted": adjusted[number]} for number, row in enumerate(rows)]
    return pl.DataFrame([{key: line[key] for key in DIFFERENCES} for line in lines], schema=DIFFERENCES)


def only_in_one(first: Run, second: Run) -> Iterator[str]:
    """Yield lines that name the tasks, methods and metrics that only one of two runs has."""
    for run, other in ((first, second), (second, first)):
        ours, theirs = run.manifest, other.manifest
        if tasks := [name for name in ours.tasks if name not in theirs.tasks]:
            yield f"only in {run.path}: {', '.join(tasks)}"
        for name, task in ours.tasks.items():
            if name in theirs.tasks and (
                more := [each for each in task.methods if each not in theirs.tasks[name].methods]
            ):
                yield f"only in {run.path}, {name}: {', '.join(more)}"
        both = [*theirs.metrics, *theirs.decision_metrics]
        if metrics := [name for name in [*ours.metrics, *ours.decision_metrics] if name not in both]:
            yield f"only in {run.path}: {', '.join(metrics)}"


def changed_verdicts(first: Path, second: Path) -> list[str]:
    """Return a line for each claim whose verdict differs on the same kind of data."""
    ours, theirs = verdicts_in(first), verdicts_in(second)
    return [
        f"{paper}, {claim} ({data or 'no data'}): {verdict} -> {theirs[paper, claim, data]}"
        for (paper, claim, data), verdict in ours.items()
        if theirs.get((paper, claim, data), verdict) != verdict
    ]


def verdicts_in(folder: Path) -> dict[tuple[str, str, str | None], str]:
    """Map (paper, claim, kind of data) to the verdict; the result is empty if the run has no claims.csv."""
    path = folder / "claims.csv"
    if not path.is_file():
        return {}
    try:
        claims = pl.read_csv(read_csv(path), schema_overrides=CLAIMS).filter(pl.col("level") == "claim")
        return {
            (paper, claim, data): verdict
            for paper, claim, data, verdict in claims.select("paper", "claim", "data", "verdict").iter_rows()
        }
    except pl.exceptions.PolarsError as error:
        raise UserError(f"{path}: not a readable list of claims ({' '.join(str(error).split())})") from None


def changed_settings(first: Path, second: Path) -> list[str]:
    """Return a line for each difference in the settings or epochs of a method, or in the choice of settings.

    The line names the task, the method and the seeds.
    """
    ours, theirs = settings_in(first), settings_in(second)
    changes: dict[tuple[str, str], list[int]] = {}
    for key, entry in ours.items():
        if key not in theirs:
            continue
        before, after = (
            {name: value for part in FITTED for name, value in _flat(part, each)} for each in (entry, theirs[key])
        )
        for name in dict.fromkeys([*before, *after]):
            if before.get(name) != after.get(name):
                change = f"{name} {before.get(name)} -> {after.get(name)}"
                changes.setdefault((f"{key[0]}/{key[1]}, {key[2]}", change), []).append(key[3])
    return [f"{method}: {change} (seeds {_list(seeds)})" for (method, change), seeds in changes.items()]


def settings_in(folder: Path) -> SettingsOfFits:
    """Map (data set, protocol, method, seed) to the entry in settings.json."""
    entries = read_json(folder / "settings.json")
    return {(each["dataset"], each["protocol"], each["method"], each["seed"]): each for each in entries}


def _flat(part: str, entry: dict[str, Any]) -> list[tuple[str, Any]]:
    value = entry.get(part)
    return list(value.items()) if isinstance(value, dict) else [(FITTED[part], value)]


def _list(values: Sequence[int] | dict[int, str]) -> str:
    return ", ".join(map(str, values))
