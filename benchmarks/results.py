"""The tables of a run, and their files."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchmarks import (
    clock,
    embedding_steps,
    epochs_by_labels,
    losses_by_labels,
    memory,
    quality,
    starts,
    without_vectors,
)
from benchmarks.goals import FEATURE_TITLES, TITLES, TREE
from vsebench.core.schemas import SCALING
from vsebench.core.storage import read_parquet, write_parquet

SCHEMAS: dict[str, pl.Schema] = {
    "comparisons": pl.Schema(clock.SCHEMA),
    "settings": pl.Schema(quality.SCHEMA),
    "growth": pl.Schema(SCALING),
    "memory": pl.Schema(memory.SCHEMA),
    "starts": pl.Schema(starts.SCHEMA),
    "features": pl.Schema(clock.SCHEMA),
    "feature_settings": pl.Schema(quality.SCHEMA),
    "wsabie_steps": pl.Schema(embedding_steps.SCHEMA),
    "losses_by_labels": pl.Schema(losses_by_labels.SCHEMA),
    "epochs_by_labels": pl.Schema(epochs_by_labels.SCHEMA),
    "vectors": pl.Schema(without_vectors.SCHEMA),
}
ORDER_OF_PARTS = {what: number for number, what in enumerate([*TITLES, *FEATURE_TITLES, TREE])}
LARGE_FIRST = ((pl.col("size") != "nuswide"), "size")
ORDER: dict[str, tuple[pl.Expr | str, ...]] = {
    "comparisons": (pl.col("what").replace_strict(ORDER_OF_PARTS), *LARGE_FIRST, "threads"),
    "settings": LARGE_FIRST,
    "features": (pl.col("what").replace_strict(ORDER_OF_PARTS), "size", "threads"),
    "feature_settings": ("size", "contestant"),
}
SETTINGS_KEYS = ["size", "contestant"]
KEYS = {
    "comparisons": clock.KEYS,
    "settings": SETTINGS_KEYS,
    "features": clock.KEYS,
    "feature_settings": SETTINGS_KEYS,
}


def path_of(results: Path, name: str) -> Path:
    """Return the file of a table."""
    return results / ("benchmarks.parquet" if name == "comparisons" else f"benchmarks/{name}.parquet")


@dataclass(frozen=True)
class Tables:
    """The tables; tables that were not measured are empty."""

    comparisons: pl.DataFrame
    settings: pl.DataFrame
    growth: pl.DataFrame
    memory: pl.DataFrame
    starts: pl.DataFrame
    features: pl.DataFrame
    feature_settings: pl.DataFrame
    wsabie_steps: pl.DataFrame
    losses_by_labels: pl.DataFrame
    epochs_by_labels: pl.DataFrame
    vectors: pl.DataFrame


def read(results: Path) -> Tables:
    """Read the tables that exist."""
    paths = {name: path_of(results, name) for name in SCHEMAS}
    return Tables(
        **{
            name: read_parquet(path) if path.exists() else pl.DataFrame(schema=SCHEMAS[name])
            for name, path in paths.items()
        }
    )


def add(results: Path, name: str, rows: pl.DataFrame) -> None:
    """Add rows to a table, in its order; they replace rows with the same keys."""
    path = path_of(results, name)
    if path.exists():
        earlier = read_parquet(path).join(rows, on=KEYS[name], how="anti")
        rows = pl.concat([earlier, rows], how="diagonal")
    write_parquet(rows.sort(*ORDER[name], maintain_order=True), path)
