"""The claims of the papers, tested on the results of a run.

Effects and their tests:

accuracy, setting
    difference of a metric; paired bootstrap over images and seeds
time_to_converge, time_of_epoch, memory, trials_grow
    ratio; paired t-test and interval on its logarithm, over seeds or over repeats, of which there are few
growth
    exponent of an epoch's time; the claim holds if its 95 % interval lies between the claimed bounds, and fails if it
    lies outside them; it is measured on simulated data, as only there a size can be varied alone

p-values are Holm-corrected over the claims of a paper. A claim holds or fails if it is significant at 5 %, and is
undecided otherwise. Simulated data says nothing about accuracy and speed on the papers' data: the effect is shown, the
verdict is `not testable here`, which also stands where the run has not what a claim needs.
"""

import argparse
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field
from scipy.special import stdtr, stdtrit  # scipy.stats has the same and takes a second more to import

from vsebench.core.configuration import Family, Strict, check, read_yaml
from vsebench.core.places import Run
from vsebench.core.storage import read_json, read_parquet, replacing
from vsebench.evaluation.convergence import to_best_epoch
from vsebench.evaluation.growth import exponents
from vsebench.evaluation.metrics import INTERVAL, METRICS, values
from vsebench.evaluation.summary import holm, p_value, resample

Verdict = Literal["holds", "fails", "undecided", "not testable here"]
UNTESTABLE: Verdict = "not testable here"
SIGNIFICANT = 0.05
SETTING_METRIC = "ndcg@10"
COLUMNS = {
    "paper": pl.String,
    "claim": pl.String,
    "where": pl.String,
    "dataset": pl.String,
    "protocol": pl.String,
    "simulated": pl.Boolean,
    "method": pl.String,
    "rival": pl.String,
    "metric": pl.String,
    "effect": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "p_adjusted": pl.Float64,
    "verdict": pl.String,
}


Bounds = Annotated[list[float], Field(min_length=2, max_length=2)]  # lowest and highest


class Claim(Strict):
    """One claim of a paper (`config/claims.yaml`)."""

    claim: str
    where: str
    test: Literal["accuracy", "time_to_converge", "time_of_epoch", "trials_grow", "memory", "growth", "setting"]
    method: str
    families: list[Family] = Field(default_factory=list)
    rivals: list[str] = Field(default_factory=list)
    metrics: list[str] = Field(default_factory=list)
    variable: str | None = None  # growth
    between: Bounds | None = None  # growth
    parameter: str | None = None  # setting
    better: Bounds | None = None  # setting: the values that are claimed to be better
    worse: Bounds | None = None


@dataclass(frozen=True)
class Finding:
    """The effect of one claim at one place; `p` is None where the verdict does not rest on it."""

    effect: float
    low: float
    high: float
    p: float | None
    neutral: float  # the effect of no difference


@dataclass(frozen=True)
class Evidence:
    """The results that claims are tested on."""

    results: Path
    seeds: list[int]
    resamples: int
    timing: pl.DataFrame
    history: pl.DataFrame
    sweeps: pl.DataFrame | None
    scaling: pl.DataFrame | None
    compared: dict[tuple[str, ...], dict[str, Finding]] = field(default_factory=dict)

    def ranks(self, dataset: str, protocol: str, method: str, name: str = "ranks") -> list[pl.DataFrame]:
        """Return the ranks of one method, a table a seed."""
        runs = [Run(dataset, protocol, method, seed) for seed in self.seeds]
        return [read_parquet(run.folder(self.results) / f"{name}.parquet") for run in runs]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--claims", type=Path, required=True, help="claims.yaml")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--runs", nargs="+", required=True, help="dataset/protocol/row, all that the run has")
    parser.add_argument("--seeds", nargs="+", type=int, required=True)
    parser.add_argument("--bootstrap", type=int, required=True, help="number of resamples")
    parser.add_argument("--sweeps", type=Path, help="sweeps.parquet")
    parser.add_argument("--scaling", type=Path, help="scaling.parquet")
    parser.add_argument("--out", type=Path, required=True, help="claims.csv")


def run(arguments: argparse.Namespace) -> None:
    evidence = Evidence(
        arguments.results, arguments.seeds, arguments.bootstrap,
        read_parquet(arguments.results / "timing.parquet"), read_parquet(arguments.results / "history.parquet"),
        read_parquet(arguments.sweeps) if arguments.sweeps else None,
        read_parquet(arguments.scaling) if arguments.scaling else None,
    )  # fmt: skip
    datasets = {entry["name"]: entry for entry in read_json(arguments.results / "datasets.json")}
    runs = [run.split("/") for run in arguments.runs]
    rows = []
    for paper, claims in read_claims(arguments.claims).items():
        tested = [row for claim in claims for row in examine(claim, evidence, datasets, runs)]
        rows += [{"paper": paper} | row for row in with_verdicts(tested)]
    with replacing(arguments.out) as temporary:
        pl.DataFrame(rows, schema=COLUMNS).write_csv(temporary)


def read_claims(path: Path) -> dict[str, list[Claim]]:
    """Read and check the claims of each paper."""
    content = read_yaml(path)
    return {
        paper: [check(Claim, claim, f"{path}: {paper}: claim {n}") for n, claim in enumerate(claims, start=1)]
        for paper, claims in content.items()
    }


def examine(claim: Claim, evidence: Evidence, datasets: dict[str, Any], runs: list[list[str]]) -> list[dict[str, Any]]:
    """Test a claim wherever the run can; returns a row each, or one without an effect."""
    common = {"claim": claim.claim, "where": claim.where, "method": claim.method, "test": claim}
    rows = []
    for case in cases(claim, datasets, runs):
        finding = TESTS[claim.test](evidence, claim, case)
        if finding is not None:
            rows.append(common | case | {"finding": finding})
    return rows or [common]


def cases(claim: Claim, datasets: dict[str, Any], runs: list[list[str]]) -> Iterator[dict[str, Any]]:
    """Yield what a claim can be tested on: data set, protocol, rival and metric."""
    if claim.test == "growth":
        yield {"metric": f"time ~ {claim.variable}"}
        return
    for dataset, protocol in dict.fromkeys((dataset, protocol) for dataset, protocol, _ in runs):
        entry = datasets[dataset]
        rows = {row for *run, row in runs if run == [dataset, protocol]}
        if entry["family"] not in claim.families or claim.method not in rows:
            continue
        rivals: list[str | None] = [rival for rival in claim.rivals if rival in rows] if claim.rivals else [None]
        for rival, metric in itertools.product(rivals, claim.metrics or [METRIC_OF_TEST[claim.test]]):
            yield {
                "dataset": dataset, "protocol": protocol, "simulated": entry["simulated"], "rival": rival,
                "metric": metric,
            }  # fmt: skip


def accuracy(evidence: Evidence, claim: Claim, case: dict[str, Any]) -> Finding:
    """Compare a metric of two methods."""
    place = (case["dataset"], case["protocol"], claim.method, case["rival"])
    if place not in evidence.compared:  # all metrics are compared on the same resamples, which take a while
        ours, theirs = (evidence.ranks(*place[:2], row) for row in place[2:])
        evidence.compared[place] = difference(ours, theirs, evidence.resamples)
    return evidence.compared[place][case["metric"]]


def setting(evidence: Evidence, claim: Claim, case: dict[str, Any]) -> Finding | None:
    """Compare the best value of one range with the best of another, both best on the validation labels."""
    if evidence.sweeps is None or claim.parameter is None:
        return None
    name, _, cutoff = SETTING_METRIC.partition("@")
    sweep = evidence.sweeps.filter(
        dataset=case["dataset"], protocol=case["protocol"], method=claim.method, parameter=claim.parameter,
        metric=name, cutoff=int(cutoff),
    )  # fmt: skip
    chosen = [best_value(sweep, bounds, len(evidence.seeds)) for bounds in (claim.better, claim.worse)]
    if None in chosen:
        return None
    tables = evidence.ranks(case["dataset"], case["protocol"], claim.method, f"sweep/{claim.parameter}-ranks")
    better, worse = ([table.filter(pl.col("value") == value) for table in tables] for value in chosen)
    return difference(better, worse, evidence.resamples)[SETTING_METRIC]


def best_value(sweep: pl.DataFrame, bounds: Bounds | None, n_seeds: int) -> float | None:
    """Return the value in a range with the highest mean validation metric, of those that no seed diverged with."""
    low, high = bounds or (0.0, 0.0)
    inside = sweep.filter(pl.col("value").is_between(low, high)).group_by("value")
    means = inside.agg(pl.col("validation").mean(), seeds=pl.len()).filter(pl.col("seeds") == n_seeds)
    return None if means.is_empty() else float(means.sort("validation", "value", descending=True)["value"][0])


def difference(ours: list[pl.DataFrame], theirs: list[pl.DataFrame], resamples: int) -> dict[str, Finding]:
    """Compare every metric on the same images: mean difference, and paired bootstrap over images and seeds."""
    gaps = [by_image(a) - by_image(b) for a, b in zip(ours, theirs, strict=True)]
    means = np.mean([gap.mean(axis=0) for gap in gaps], axis=0)
    samples = resample(gaps, resamples)
    low, high = np.percentile(samples, INTERVAL, axis=0)
    return {
        metric: Finding(float(means[n]), float(low[n]), float(high[n]), p_value(samples[:, n]), 0.0)
        for n, metric in enumerate(METRICS)
    }


def by_image(ranks: pl.DataFrame) -> NDArray[np.float64]:
    """Return every metric of every held-out label, rows in the order of images and labels."""
    return values(ranks.sort("image", "label"))


def time_to_converge(evidence: Evidence, claim: Claim, case: dict[str, Any]) -> Finding | None:
    """Compare the training seconds up to the best epoch on the validation labels, a pair a seed."""
    history = evidence.history.filter(dataset=case["dataset"], protocol=case["protocol"])
    best = (to_best_epoch(history.filter(method=row)) for row in (claim.method, case["rival"]))
    ours, theirs = (seeds["seconds"].to_numpy() for seeds in best)
    return ratio(theirs, ours)


def time_of_epoch(evidence: Evidence, claim: Claim, case: dict[str, Any]) -> Finding | None:
    """Compare the median seconds of an epoch, a pair a repeat: the repeats take turns."""
    timing = evidence.timing.filter(phase="epoch", dataset=case["dataset"], protocol=case["protocol"])
    ours, theirs = (by_repeat(timing.filter(method=row), "seconds") for row in (claim.method, case["rival"]))
    return ratio(theirs, ours)


def memory(evidence: Evidence, claim: Claim, case: dict[str, Any]) -> Finding | None:
    """Compare the peak memory of a training process, a pair a repeat."""
    timing = evidence.timing.filter(phase="epoch", dataset=case["dataset"], protocol=case["protocol"])
    ours, theirs = (by_repeat(timing.filter(method=row), "peak_rss_bytes") for row in (claim.method, case["rival"]))
    return ratio(ours, theirs)


def by_repeat(timing: pl.DataFrame, column: str) -> NDArray[np.float64]:
    return timing.group_by("repeat").agg(pl.col(column).median()).sort("repeat")[column].cast(pl.Float64).to_numpy()


def trials_grow(evidence: Evidence, claim: Claim, case: dict[str, Any]) -> Finding | None:
    """Compare the trials a step of the last tenth of the epochs with those of the first, a pair a seed."""
    refit = evidence.history.filter(
        phase="refit", dataset=case["dataset"], protocol=case["protocol"], method=claim.method
    ).sort("seed", "epoch")
    late, early = [], []
    for _, epochs in refit.group_by("seed", maintain_order=True):
        trials = epochs["trials_per_step"].to_numpy()
        tenth = max(1, len(trials) // 10)
        late.append(trials[-tenth:].mean())
        early.append(trials[:tenth].mean())
    return ratio(np.array(late), np.array(early))


def ratio(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> Finding | None:
    """Compare positive numbers pair by pair: geometric mean of the ratios, t-test and interval on their logarithms."""
    if len(numerator) < 2 or len(numerator) != len(denominator):
        return None
    logs = np.log(numerator / denominator)
    freedom = len(logs) - 1
    error = max(float(logs.std(ddof=1)) / math.sqrt(len(logs)), 1e-12)
    half = float(stdtrit(freedom, 0.975)) * error
    mean = float(logs.mean())
    p = 2 * float(stdtr(freedom, -abs(mean) / error))
    return Finding(math.exp(mean), math.exp(mean - half), math.exp(mean + half), p, 1.0)


def growth(evidence: Evidence, claim: Claim, case: dict[str, Any]) -> Finding | None:
    """Look up the exponent of an epoch's time."""
    if evidence.scaling is None:
        return None
    found = exponents(evidence.scaling).filter(method=claim.method, variable=claim.variable)
    if found.is_empty():
        return None
    return Finding(found["exponent"][0], found["ci_low"][0], found["ci_high"][0], None, 0.0)


TESTS: dict[str, Callable[[Evidence, Claim, dict[str, Any]], Finding | None]] = {
    "accuracy": accuracy,
    "setting": setting,
    "time_to_converge": time_to_converge,
    "time_of_epoch": time_of_epoch,
    "memory": memory,
    "trials_grow": trials_grow,
    "growth": growth,
}
METRIC_OF_TEST = {
    "setting": SETTING_METRIC,
    "time_to_converge": "seconds to best epoch, ratio",
    "time_of_epoch": "seconds an epoch, ratio",
    "memory": "peak memory, ratio",
    "trials_grow": "trials a step, last tenth of the epochs over first",
}


def with_verdicts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Correct the p-values over all claims of a paper and judge each."""
    p_values = {
        str(place): row["finding"].p
        for place, row in enumerate(rows)
        if "finding" in row and row["finding"].p is not None and not row["simulated"]
    }
    adjusted = holm(p_values)
    return [judged(row, adjusted.get(str(place))) for place, row in enumerate(rows)]


def judged(row: dict[str, Any], p: float | None) -> dict[str, Any]:
    """Return a row of the output."""
    finding: Finding | None = row.get("finding")
    claim: Claim = row["test"]
    columns = {key: value for key, value in row.items() if key in COLUMNS}
    if finding is None:
        return columns | {"verdict": UNTESTABLE}
    numbers = {"effect": finding.effect, "ci_low": finding.low, "ci_high": finding.high, "p_adjusted": p}
    if claim.between is not None:
        return columns | numbers | {"verdict": growth_verdict(finding, claim.between), "simulated": True}
    if row["simulated"]:
        return columns | numbers | {"verdict": UNTESTABLE}
    return columns | numbers | {"verdict": verdict(finding, p)}


def verdict(finding: Finding, p: float | None) -> Verdict:
    """Judge a claim by its corrected p-value and the direction of the effect."""
    if p is None or p >= SIGNIFICANT:
        return "undecided"
    return "holds" if finding.effect > finding.neutral else "fails"


def growth_verdict(finding: Finding, between: Bounds) -> Verdict:
    """Judge an exponent by where its interval lies."""
    if between[0] <= finding.low and finding.high <= between[1]:
        return "holds"
    return "fails" if finding.high < between[0] or finding.low > between[1] else "undecided"
