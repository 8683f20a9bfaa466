"""The tables of the benchmarks, and their files."""

from pathlib import Path

import polars as pl

from benchmarks import (
    clock,
    embedding_steps,
    epochs_by_labels,
    exact_images,
    limits,
    losses_by_labels,
    memory,
    outside_scores,
    quality,
    starts,
    threads,
    without_vectors,
)
from benchmarks.goals import FEATURE_TITLES, TITLES, TREE
from vsebench.core.schemas import SCALING
from vsebench.core.storage import read_parquet, write_parquet

Tables = dict[str, pl.DataFrame]  # a table for each key of SCHEMAS
SCHEMAS: dict[str, pl.Schema] = {
    "comparisons": pl.Schema(clock.SCHEMA),
    "settings": pl.Schema(quality.SCHEMA),
    "limits": pl.Schema(limits.SCHEMA),
    "exact_images": pl.Schema(exact_images.SCHEMA),
    "threads": pl.Schema(threads.SCHEMA),
    "growth": pl.Schema(SCALING),
    "memory": pl.Schema(memory.SCHEMA),
    "starts": pl.Schema(starts.SCHEMA),
    "features": pl.Schema(clock.SCHEMA),
    "feature_settings": pl.Schema(quality.SCHEMA),
    "wsabie_steps": pl.Schema(embedding_steps.SCHEMA),
    "losses_by_labels": pl.Schema(losses_by_labels.SCHEMA),
    "epochs_by_labels": pl.Schema(epochs_by_labels.SCHEMA),
    "vectors": pl.Schema(without_vectors.SCHEMA),
    "outside_scores": pl.Schema(outside_scores.SCHEMA),
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
    """Return the path of the file of a table."""
    return results / ("benchmarks.parquet" if name == "comparisons" else f"benchmarks/{name}.parquet")


def read(results: Path) -> Tables:
    """Read all tables; a table that was not measured is empty."""
    paths = {name: path_of(results, name) for name in SCHEMAS}
    return {
        name: read_parquet(path) if path.exists() else pl.DataFrame(schema=SCHEMAS[name])
        for name, path in paths.items()
    }


def add(results: Path, name: str, rows: pl.DataFrame) -> None:
    """Add rows to a table and sort it; new rows replace rows with the same keys."""
    path = path_of(results, name)
    if path.exists():
        earlier = read_parquet(path).join(rows, on=KEYS[name], how="anti")
        rows = pl.concat([earlier, rows], how="diagonal")
    write_parquet(rows.sort(*ORDER[name], maintain_order=True), path)
