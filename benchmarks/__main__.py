"""Run all benchmarks, or only those named: `python -m benchmarks [--quick] [--only NAME ...]`.

Each comparison is written as soon as it is measured, and replaces earlier results of the same comparison. At the end,
the page benchmarks.md and the figures are made from all results, including those of earlier runs.
"""

import argparse
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl

from benchmarks import (
    embedding_steps,
    epochs_by_labels,
    exact_images,
    figures,
    growth,
    image_features,
    limits,
    losses_by_labels,
    memory,
    neighbour_search,
    networks,
    outside_scores,
    quality,
    report,
    results,
    starts,
    threads,
    torch_networks,
    without_vectors,
    word_search,
)
from benchmarks.clock import SCHEMA, Row, named
from benchmarks.comparisons import COMPARISONS, Bench
from benchmarks.contestants import PEERS
from benchmarks.data import hold_out, simulate
from benchmarks.plan import FULL, QUICK, Plan
from vsebench.core.errors import UserError
from vsebench.core.storage import write_parquet
from vsebench.data.problem import Dataset

RACES = {
    part.__name__: part
    for part in (
        image_features.wsabie_epoch,
        image_features.wsabie_epoch_10,
        image_features.wsabie_sparse,
        networks.network_epoch,
        networks.linear_epoch,
    )
} | torch_networks.RACES
SEARCHES = {
    part.__name__: part
    for part in (
        neighbour_search.dense_neighbours,
        neighbour_search.sparse_neighbours,
        neighbour_search.tree,
        word_search.image_search,
        word_search.negative_draws,
    )
}
# Parts whose results are one table each.
WITH_PEERS = {"memory": memory.measure, "starts": starts.measure}
ALONE = {
    "limits": limits.measure,
    "exact_images": exact_images.measure,
    "threads": threads.measure,
    "wsabie_steps": embedding_steps.measure,
    "losses_by_labels": losses_by_labels.measure,
    "epochs_by_labels": epochs_by_labels.measure,
    "vectors": without_vectors.measure,
    "outside_scores": outside_scores.measure,
}
WITHOUT_PEERS = (*RACES, *SEARCHES, *ALONE)  # races and searches skip peers that are not installed
PARTS = (*COMPARISONS, "growth", *WITH_PEERS, *WITHOUT_PEERS)


def main(argv: list[str] | None = None) -> int:
    """Run the benchmarks and return 0; after a user's mistake, print one line on standard error and return 1."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="use small data and few repeats, to check that everything works"
    )
    parser.add_argument("--scale", type=float, help="scale of the simulated data sets (default: 1; with --quick: 0.1)")
    parser.add_argument(
        "--only",
        nargs="*",
        choices=PARTS,
        default=PARTS,
        help="parts to measure (default: all); if --only names no part, only the page and the figures are made again",
    )
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--figures", type=Path, default=Path("figures"))
    arguments = parser.parse_args(argv)
    plan = QUICK if arguments.quick else FULL
    if arguments.scale:
        plan = replace(plan, scale=arguments.scale)
    try:
        measure(plan, list(arguments.only), arguments.results)
    except UserError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    tables = results.read(arguments.results)
    report.write(tables, arguments.results / "benchmarks.md")
    figures.write(tables, arguments.figures)
    return 0


def measure(plan: Plan, parts: list[str], out: Path) -> None:
    """Measure some of the PARTS and write their tables."""
    missing = [package for package in PEERS if importlib.util.find_spec(package) is None]
    if missing and not set(parts) <= set(WITHOUT_PEERS):
        raise UserError(f"missing packages: {', '.join(missing)}; run `make setup-peers`")
    compare(plan, [part for part in parts if part in COMPARISONS], out)
    if "growth" in parts:
        print("measuring how the time of an epoch grows with factors, labels and pairs", flush=True)
        growth.measure(plan, results.path_of(out, "growth"))
    for part, work in (WITH_PEERS | ALONE).items():
        if part in parts:
            write_parquet(work(plan), results.path_of(out, part))
    for part in (part for part in parts if part in RACES):
        rows, settings = RACES[part](plan)
        results.add(out, "feature_settings", pl.DataFrame(settings, schema=quality.SCHEMA))
        report_rows(rows, out, "features")
    for part in (part for part in parts if part in SEARCHES):
        report_rows(SEARCHES[part](plan), out, "features")


def report_rows(rows: list[Row], out: Path, table: str) -> None:
    """Add comparisons to a table, and print them."""
    results.add(out, table, pl.DataFrame(rows, schema=SCHEMA))
    for row in rows:
        print(describe(row), flush=True)


def compare(plan: Plan, names: list[str], out: Path) -> None:
    """Run the named comparisons for all sizes and numbers of threads."""
    bench = Bench(plan)
    for size in plan.trainings if names else ():
        print(f"{size}: drawing the data", flush=True)
        data = hold_out(size, Dataset(simulate(size, plan.scale)), plan.images)
        for name in names:
            for count in plan.threads:
                report_rows(COMPARISONS[name](bench, data, count), out, "comparisons")
            if bench.judge.rows:
                results.add(out, "settings", pl.DataFrame(bench.judge.rows, schema=quality.SCHEMA))


def describe(row: Row) -> str:
    """Return a line of text that reports a comparison."""
    text = f"{row['what']}, {row['size']}, {named(row['threads'], 'thread')}, {row['ours']} / {row['peer']}: "
    text += f"{row['seconds_ours']:.4g} / {row['seconds_peer']:.4g} s, "
    text += f"peer / ours {row['ratio_median']:.3g} [{row['ratio_min']:.3g}, {row['ratio_max']:.3g}]"
    if row["quality_ours"] is not None:
        text += f", quality {row['quality_ours']:.4f} / {row['quality_peer']:.4f}"
    return text


if __name__ == "__main__":
    raise SystemExit(main())
