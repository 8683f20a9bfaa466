"""Stage `prepare`: read a data set's files into its label matrix.

Writes into the output folder

    pairs.parquet    image, label, count (Int32), ascending
    images.parquet   image (Int32), id; with an official partition also part ("train" or "test")
    labels.parquet   label (Int32), name, frequency (images that carry it), occurrences (sum of its counts), all Int32
    summary.json     counts, options, filters, what was dropped, expected counts that were not met
    features.npz     where the files have image features: (n_images, d) float32 each, by their names
    truth.npz        simulated sets only: image (n_images, T), label (n_labels, T), float32; image @ label.T is true
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl

from vsebench.core.configuration import DatasetConfig, Model, Vocabulary, check, read_config
from vsebench.core.errors import UserError
from vsebench.core.storage import write_arrays, write_json, write_parquet
from vsebench.formats.adapters import load_adapter
from vsebench.formats.annotations import RawAnnotations
from vsebench.formats.vocabulary import apply_vocabulary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    parser.add_argument("--config", type=Path, required=True, help="the data set's configuration file")
    parser.add_argument("--options", default="{}", help="JSON object: replaces keys of the configuration's options")
    parser.add_argument("--vocabulary", default="{}", help="JSON object: replaces filters of the configuration")
    parser.add_argument("--raw", type=Path, required=True, help="folder with the downloaded files")
    parser.add_argument("--out", type=Path, required=True, help="folder to write the label matrix into")


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    prepare(arguments.config, arguments.options, arguments.vocabulary, arguments.raw, arguments.out)


def prepare(config_path: Path, option_changes: str, filter_changes: str, raw: Path, out: Path) -> None:
    """Read the raw files of the data set `config_path` describes and write its label matrix into `out`."""
    config = read_config(DatasetConfig, config_path)
    adapter = load_adapter(config.adapter, config_path)
    options = merge(adapter.Options, config.options, option_changes, f"{config_path}: options", "--options")
    filters = config.vocabulary.model_dump(exclude_unset=True)
    vocabulary = merge(Vocabulary, filters, filter_changes, f"{config_path}: vocabulary", "--vocabulary")
    annotations = apply_vocabulary(adapter.read(raw, options), vocabulary, f"{config_path}: vocabulary")
    labels = label_table(annotations)
    counts = count(annotations, labels)
    summary = {
        "name": config_path.stem,
        "title": config.title,
        "licence": config.licence,
        "citation": config.citation,
        "homepage": config.homepage,
        "family": config.family,
        "simulated": config.simulated,
        "options": options.model_dump(),
        "vocabulary": vocabulary.model_dump(exclude_none=True),
        "counts": counts,
        "dropped": [entry._asdict() for entry in annotations.dropped],
        **compare_counts(config, options, vocabulary != config.vocabulary, counts),
    }
    warn(summary, config_path)
    write_parquet(annotations.pairs.sort("image", "label"), out / "pairs.parquet")
    write_parquet(image_table(annotations), out / "images.parquet")
    write_parquet(labels, out / "labels.parquet")
    if annotations.truth is not None:
        write_arrays(out / "truth.npz", **annotations.truth)
    if annotations.features:
        write_arrays(out / "features.npz", **annotations.features)
    write_json(summary, out / "summary.json")


def merge(model: type[Model], values: dict[str, Any], overrides: str, where: str, argument: str) -> Model:
    """Check options or filters: those of the configuration file, replaced by those of the JSON object."""
    try:
        changes = json.loads(overrides)
    except ValueError as error:
        raise UserError(f"{argument}: not JSON ({error}): {overrides}") from None
    if not isinstance(changes, dict):
        raise UserError(f"{argument}: a JSON object is needed, not {overrides}")
    if changes:
        where += f" (replaced by {argument}: " + ", ".join(changes) + ")"
    return check(model, {**values, **changes}, where)


def image_table(annotations: RawAnnotations) -> pl.DataFrame:
    """Return image, id and, where there is an official partition, part of each image."""
    columns = {"id": annotations.images} | ({} if annotations.parts is None else {"part": annotations.parts})
    return pl.DataFrame(columns).with_row_index("image").cast({"image": pl.Int32})


def label_table(annotations: RawAnnotations) -> pl.DataFrame:
    """Return label, name, frequency and occurrences of each label of the vocabulary."""
    used = annotations.pairs.group_by("label").agg(frequency=pl.len(), occurrences=pl.col("count").sum())
    return (
        pl.DataFrame({"name": annotations.labels}, schema={"name": pl.String})
        .with_row_index("label")
        .cast({"label": pl.Int32})
        .join(used, on="label", how="left", maintain_order="left")
        .with_columns(pl.col("frequency", "occurrences").fill_null(0).cast(pl.Int32))
    )


def count(annotations: RawAnnotations, labels: pl.DataFrame) -> dict[str, Any]:
    """Count images, labels and pairs, and describe their distributions."""
    per_image = annotations.pairs.group_by("image").agg(pairs=pl.len(), occurrences=pl.col("count").sum())
    unlabelled = len(annotations.images) - len(per_image)
    used = labels.filter(pl.col("frequency") > 0)["frequency"]
    return {
        "images": len(annotations.images),
        "images_without_label": unlabelled,
        "vocabulary": len(labels),
        "labels": len(used),
        "pairs": len(annotations.pairs),
        "occurrences": int(annotations.pairs["count"].sum()),
        "labels_per_image": describe(pl.concat([per_image["pairs"], zeros(unlabelled)])),
        "occurrences_per_image": describe(pl.concat([per_image["occurrences"].cast(pl.UInt32), zeros(unlabelled)])),
        "images_per_label": describe(used),
    }


def zeros(n: int) -> pl.Series:
    """Return n zeros: the number of labels of images that have none."""
    return pl.zeros(n, dtype=pl.UInt32, eager=True)


def describe(values: pl.Series) -> dict[str, float]:
    """Return mean, median, maximum and minimum."""
    if values.is_empty():
        return {}
    numbers = values.cast(pl.Float64).to_numpy()
    median = values.cast(pl.Float64).median()
    return {"mean": float(numbers.mean()), "median": float(median), "max": numbers.max(), "min": numbers.min()}  # type: ignore[arg-type]


def compare_counts(config: DatasetConfig, options: Any, other_filters: bool, counts: dict[str, Any]) -> dict[str, Any]:
    """Compare the counts with those that the configuration expects of its own filters and, if simulated, scale 1."""
    expected = config.expected.model_dump(exclude_none=True)
    if other_filters or (config.simulated and options.scale != 1):
        expected = {}
    differing = {key: number for key, number in expected.items() if counts[key] != number}
    mismatches = {key: {"expected": number, "found": counts[key]} for key, number in differing.items()}
    return {"expected": expected, "mismatches": mismatches}


def warn(summary: dict[str, Any], config_path: Path) -> None:
    """Say on standard error what was dropped and which counts are not the expected ones."""
    for entry in summary["dropped"]:
        print(f"{summary['name']}: dropped {entry['number']} {entry['what']}: {entry['why']}", file=sys.stderr)
    for key, numbers in summary["mismatches"].items():
        print(
            f"warning: {config_path}: expected.{key}: {numbers['expected']}, found {numbers['found']}", file=sys.stderr
        )
