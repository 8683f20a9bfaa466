"""Compare two runs (packs or folders of results): differences with intervals, changed verdicts, changed settings."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from vsebench.core.storage import replacing
from vsebench.packs.comparison import Comparison, compare
from vsebench.packs.runs import opened
from vsebench.papers.verdict import SIGNIFICANT

HEADINGS = ("method", "metric", "first", "second", "difference", "95 % interval", "p")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", type=Path, help="a pack, or a folder of results")
    parser.add_argument("second", type=Path, help="a pack, or a folder of results")
    parser.add_argument(
        "--metrics",
        nargs="+",
        help="metrics to compare (default: all that both runs have and that can be computed from packs)",
    )
    parser.add_argument("--out", type=Path, help="CSV file to write the differences to")


def run(arguments: argparse.Namespace) -> None:
    with opened(arguments.first) as first, opened(arguments.second) as second:
        comparison = compare(first, second, arguments.metrics)
    if arguments.out:
        with replacing(arguments.out) as temporary:
            comparison.differences.write_csv(temporary)
    print(f"First: {arguments.first}. Second: {arguments.second}. The difference is second minus first.")
    print("\n".join(report(comparison)))


def report(comparison: Comparison) -> Iterator[str]:
    """Yield the lines that describe a comparison."""
    tasks = comparison.differences.partition_by("dataset", "protocol", maintain_order=True)
    for table in tasks:
        dataset, protocol, seeds = table.select("dataset", "protocol", pl.col("n_seeds").max()).row(0)
        yield f"\n{dataset}/{protocol} ({seeds} seed{'s' if seeds != 1 else ''})"
        yield from aligned([HEADINGS, *map(cells, table.iter_rows(named=True))])
    if tasks:
        yield f"\n* p < {SIGNIFICANT} after correction for the number of rows (paired test over images and seeds)"
    for heading, lines in (
        ("Not compared", comparison.refused),
        ("In one run only", comparison.only),
        ("Changed verdicts", comparison.verdicts),
        ("Changed settings", comparison.settings),
    ):
        yield f"\n{heading}: {'' if lines else 'none'}".rstrip()
        yield from (f"  {line}" for line in lines)


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells to print for a row of a table with the columns `packs.comparison.DIFFERENCES`."""
    p = row["p_adjusted"]
    return (
        f"{row['method']}/{row['decision']}" if row["decision"] else row["method"],
        row["metric"],
        f"{row['first']:.4f}",
        f"{row['second']:.4f}",
        signed(row["difference"]) + ("*" if p < SIGNIFICANT else " "),
        f"[{signed(row['ci_low'])}, {signed(row['ci_high'])}]",
        f"{p:.3f}" if p >= 0.001 else "<0.001",
    )


def signed(number: float) -> str:
    """Return a number as text with a sign and four decimals; a number that rounds to zero gets no sign."""
    text = f"{number:+.4f}"
    return text if float(text) else "0.0000"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a plain-text table: two left-aligned columns of names, then right-aligned numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (
            text.ljust(width) if n < 2 else text.rjust(width)
            for n, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(padded).rstrip()
