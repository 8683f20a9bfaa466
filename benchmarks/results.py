"""The tables of a run, and where they lie."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchmarks import clock, memory, quality, starts
from benchmarks.goals import TITLES
from vsebench.core.schemas import SCALING
from vsebench.core.storage import read_parquet, write_parquet

SCHEMAS = {
    "comparisons": clock.SCHEMA,
    "settings": quality.SCHEMA,
    "growth": SCALING,
    "memory": memory.SCHEMA,
    "starts": starts.SCHEMA,
}
PLACES = {what: place for place, what in enumerate(TITLES)}
LARGE_FIRST = ((pl.col("size") != "nuswide"), "size")
ORDER: dict[str, tuple[pl.Expr | str, ...]] = {
    "comparisons": (pl.col("what").replace_strict(PLACES), *LARGE_FIRST, "threads"),
    "settings": LARGE_FIRST,
}
KEYS = {"comparisons": clock.KEYS, "settings": ["size", "contestant"]}


def place(results: Path, name: str) -> Path:
    """Return the file of a table."""
    return results / ("benchmarks.parquet" if name == "comparisons" else f"benchmarks/{name}.parquet")


@dataclass(frozen=True)
class Tables:
    """The tables, empty where nothing was measured."""

    comparisons: pl.DataFrame
    settings: pl.DataFrame
    growth: pl.DataFrame
    memory: pl.DataFrame
    starts: pl.DataFrame


def read(results: Path) -> Tables:
    """Read what is there."""
    paths = {name: place(results, name) for name in SCHEMAS}
    return Tables(
        **{
            name: read_parquet(path) if path.exists() else pl.DataFrame(schema=SCHEMAS[name])
            for name, path in paths.items()
        }
    )


def add(results: Path, name: str, rows: pl.DataFrame) -> None:
    """Write rows in the place of those with the same keys, in order."""
    path = place(results, name)
    if path.exists():
        rows = pl.concat([read_parquet(path).join(rows, on=KEYS[name], how="anti"), rows])
    write_parquet(rows.sort(*ORDER[name], maintain_order=True), path)
