"""Measure everything: `python -m benchmarks [--quick] [--only NAME ...]`.

Each comparison is written as soon as it is measured, and replaces an earlier one of the same kind. At the end the page
and the figures are made from all results, earlier ones included.
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
    figures,
    growth,
    image_features,
    losses_by_labels,
    memory,
    neighbour_search,
    networks,
    quality,
    report,
    results,
    starts,
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
ON_FEATURES = (
    *RACES,
    *SEARCHES,
    "wsabie_steps",
    "losses_by_labels",
    "epochs_by_labels",
)  # leave out what is not installed
WITHOUT_PEERS = (*ON_FEATURES, "vectors")
PARTS = (*COMPARISONS, "growth", "memory", "starts", *WITHOUT_PEERS)


def main(argv: list[str] | None = None) -> int:
    """Run the benchmarks; return 0, or after a user's mistake 1 with one line on standard error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="small data and few repeats, to check that everything works"
    )
    parser.add_argument("--scale", type=float, help="scale of the simulated sets, in place of the plan's")
    parser.add_argument(
        "--only",
        nargs="*",
        choices=PARTS,
        default=PARTS,
        help="parts to measure; none: only draw earlier results again",
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
    """Measure these PARTS and write their tables."""
    missing = [package for package in PEERS if importlib.util.find_spec(package) is None]
    if missing and not set(parts) <= set(WITHOUT_PEERS):
        raise UserError(f"these packages are missing: {', '.join(missing)}; `make setup-peers` installs them")
    compare(plan, [part for part in parts if part in COMPARISONS], out)
    if "growth" in parts:
        print("growth with factors, labels and pairs", flush=True)
        growth.measure(plan, results.path_of(out, "growth"))
    if "memory" in parts:
        write_parquet(memory.measure(plan), results.path_of(out, "memory"))
    if "starts" in parts:
        write_parquet(starts.measure(plan), results.path_of(out, "starts"))
    if "vectors" in parts:
        write_parquet(without_vectors.measure(plan), results.path_of(out, "vectors"))
    measure_on_features(plan, parts, out)


def measure_on_features(plan: Plan, parts: list[str], out: Path) -> None:
    """Measure the parts on image features."""
    for part in parts:
        rows: list[Row] = []
        if part in RACES:
            rows, settings = RACES[part](plan)
            results.add(out, "feature_settings", pl.DataFrame(settings, schema=quality.SCHEMA))
        elif part in SEARCHES:
            rows = SEARCHES[part](plan)
        results.add(out, "features", pl.DataFrame(rows, schema=SCHEMA))
        for row in rows:
            print(describe(row), flush=True)
    if "wsabie_steps" in parts:
        write_parquet(embedding_steps.measure(plan), results.path_of(out, "wsabie_steps"))
    if "losses_by_labels" in parts:
        write_parquet(losses_by_labels.measure(plan), results.path_of(out, "losses_by_labels"))
    if "epochs_by_labels" in parts:
        write_parquet(epochs_by_labels.measure(plan), results.path_of(out, "epochs_by_labels"))


def compare(plan: Plan, names: list[str], out: Path) -> None:
    """Run comparisons at every size and number of threads."""
    bench = Bench(plan)
    for size in plan.trainings if names else ():
        print(f"{size}: drawing the data", flush=True)
        data = hold_out(size, Dataset(simulate(size, plan.scale)), plan.images)
        for name in names:
            for threads in plan.threads:
                rows = COMPARISONS[name](bench, data, threads)
                results.add(out, "comparisons", pl.DataFrame(rows, schema=SCHEMA))
                for row in rows:
                    print(describe(row), flush=True)
            if bench.judge.rows:
                results.add(out, "settings", pl.DataFrame(bench.judge.rows, schema=quality.SCHEMA))


def describe(row: Row) -> str:
    """Return a line that reports a comparison."""
    text = f"{row['what']}, {row['size']}, {named(row['threads'], 'thread')}, {row['ours']} / {row['peer']}: "
    text += f"{row['seconds_ours']:.4g} / {row['seconds_peer']:.4g} s, "
    text += f"ratio {row['ratio_median']:.3g} [{row['ratio_min']:.3g}, {row['ratio_max']:.3g}]"
    if row["quality_ours"] is not None:
        text += f", quality {row['quality_ours']:.4f} / {row['quality_peer']:.4f}"
    return text


if __name__ == "__main__":
    raise SystemExit(main())
