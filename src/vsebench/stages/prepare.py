"""Read the files of a data set, and write its label matrix and image features.

docs/data.md (Prepared files) lists the files that the stage writes.
"""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from vsebench.config.dataset import DatasetDefinition, Expected, read_definition
from vsebench.core import schemas
from vsebench.core.errors import UserError
from vsebench.core.storage import features_file, write_arrays, write_json, write_table
from vsebench.core.yaml_files import check
from vsebench.data.features import Features, write_features
from vsebench.data.problem import check_places
from vsebench.formats.adapters import knows, load_adapter
from vsebench.formats.annotations import RawAnnotations
from vsebench.formats.download.recorded import check_recorded
from vsebench.formats.features_file import read_features_file
from vsebench.formats.partition import apply_partition
from vsebench.formats.vocabulary import apply_vocabulary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", required=True, help="the data set's name")
    parser.add_argument("--definition", required=True, help="JSON object with keys of the data set's file")
    parser.add_argument("--raw", type=Path, required=True, help="folder with the downloaded files")
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")


def run(arguments: argparse.Namespace) -> None:
    definition = read_definition(arguments.definition, arguments.name)
    check_recorded(arguments.raw)
    try:
        prepare(arguments.name, definition, arguments.raw, arguments.out)
    except UserError as error:
        if str(arguments.raw) in str(error):
            advice = f"to fetch the files again, delete the folder {arguments.raw} and repeat the command"
            raise UserError(f"{error}; {advice}") from None
        raise


def prepare(name: str, definition: DatasetDefinition, raw: Path, out: Path) -> None:
    """Read the raw files of a data set and write its label matrix and features into `out`."""
    annotations, options = read_annotations(name, definition, raw)
    annotations = apply_vocabulary(annotations, definition.vocabulary, f"{name}: vocabulary")
    check_size(name, annotations)
    labels = label_table(annotations)
    counts = count(annotations, labels)
    summary = {
        "name": name,
        "simulated": bool(knows(definition.adapter)),
        "options": options,
        "vocabulary": definition.vocabulary.model_dump(exclude_none=True),
        "counts": counts,
        "features": describe_features(annotations.features),
        **({"feature_sets": sets_described(annotations.sets)} if annotations.sets else {}),
        "dropped": [entry._asdict() for entry in annotations.dropped],
        "expected": definition.expected.model_dump(exclude_none=True),
    }
    report(summary)
    check_counts(name, definition.expected, counts)
    write_table(annotations.pairs.sort("image", "label"), schemas.PAIRS, out / "pairs.parquet")
    write_table(image_table(annotations), schemas.IMAGES, out / "images.parquet")
    write_table(labels, schemas.LABELS, out / "labels.parquet")
    if annotations.truth is not None:
        write_arrays(out / "truth.npz", **annotations.truth)
    if annotations.features is not None:
        write_features(annotations.features, out / annotations.features.file_name)
    for set_name, features in annotations.sets.items():
        write_features(features.of_only(annotations.known), out / features_file(set_name, features.is_sparse))
    write_json(summary, out / "summary.json")


def read_annotations(name: str, definition: DatasetDefinition, raw: Path) -> tuple[RawAnnotations, dict[str, Any]]:
    """Return the annotations of a data set, and all options of its adapter.

    If the definition names a partition or features, the annotations contain them.
    """
    adapter = load_adapter(definition.adapter, name)
    options = check(adapter.Options, definition.options, f"{name}: options")
    annotations: RawAnnotations = adapter.read(raw, options)
    if definition.partition is not None:
        annotations = apply_partition(annotations, definition.partition, raw, f"{name}: partition")
    if definition.features is not None:
        annotations = with_features(annotations, name, definition, raw)
    return annotations, options.model_dump()


def with_features(annotations: RawAnnotations, name: str, definition: DatasetDefinition, raw: Path) -> RawAnnotations:
    """Return annotations with the features that a definition names.

    Each set of features comes from a file or from the adapter. If no image has features in all sets, a `UserError` is
    raised.
    """
    adapter = load_adapter(definition.adapter, name)
    images, sets, dropped = annotations.images.to_list(), {}, list(annotations.dropped)
    for set_name, source in definition.sets.items():
        if source.adapter is not None:
            where = f"{name}: features{f'.{set_name}' if set_name else ''}.adapter"
            options = check(adapter.Options, definition.options | {"features": source.adapter}, where)
            sets[set_name] = adapter.read(raw, options).features
        else:
            sets[set_name], rows = read_features_file(raw, source, images)
            dropped += [entry._replace(what=f"{entry.what} of {set_name}") if set_name else entry for entry in rows]
    if "" in sets:
        return replace(annotations, features=sets[""], dropped=dropped)
    annotations = replace(annotations, sets=sets, dropped=dropped)
    if not annotations.known.any():
        raise UserError(f"{name}: features: no image has features in all of the sets {', '.join(sets)}")
    return annotations


def image_table(annotations: RawAnnotations) -> pl.DataFrame:
    """Return the table `schemas.IMAGES`."""
    columns = {
        "image": range(len(annotations.images)),
        "id": annotations.images,
        "part": annotations.parts,  # None becomes null for every image
        "has_features": annotations.known,
    }
    return pl.DataFrame(columns, schema=schemas.IMAGES)


def check_size(name: str, annotations: RawAnnotations) -> None:
    """Raise a `UserError` if a data set is too large for the 32-bit integers that stages use."""
    occurrences = int(annotations.pairs["count"].cast(pl.Int64).sum())
    try:
        check_places(len(annotations.images), len(annotations.labels), occurrences)
    except UserError as error:
        advice = "for example with `vocabulary: {sample_images: ...}`"
        raise UserError(f"{name}: too large: {error}, {advice}") from None


def label_table(annotations: RawAnnotations) -> pl.DataFrame:
    """Return the table `schemas.LABELS`, with all labels of the vocabulary."""
    used = annotations.pairs.group_by("label").agg(frequency=pl.len(), occurrences=pl.col("count").sum())
    return (
        pl.DataFrame({"name": annotations.labels}, schema={"name": pl.String})
        .with_row_index("label")
        .cast({"label": pl.Int32})
        .join(used, on="label", how="left", maintain_order="left")
        .with_columns(pl.col("frequency", "occurrences").fill_null(0).cast(pl.Int32))
    )


def count(annotations: RawAnnotations, labels: pl.DataFrame) -> dict[str, Any]:
    """Count images, labels and pairs, and describe how labels per image and images per label are distributed."""
    per_image = annotations.pairs.group_by("image").agg(pairs=pl.len(), occurrences=pl.col("count").sum())
    unlabelled = pl.zeros(len(annotations.images) - len(per_image), dtype=pl.UInt32, eager=True)
    used = labels.filter(pl.col("frequency") > 0)["frequency"]
    return {
        "images": len(annotations.images),
        "images_without_label": len(unlabelled),
        "vocabulary": len(labels),
        "labels": len(used),
        "pairs": len(annotations.pairs),
        "occurrences": int(annotations.pairs["count"].sum()),
        "labels_per_image": describe(pl.concat([per_image["pairs"], unlabelled])),
        "occurrences_per_image": describe(pl.concat([per_image["occurrences"].cast(pl.UInt32), unlabelled])),
        "images_per_label": describe(used),
    }


def describe_features(features: Features | None) -> dict[str, Any] | None:
    """Return the kind, dimensions and type of the image features, and the number of images without features."""
    if features is None:
        return None
    return {
        "kind": "sparse" if features.is_sparse else "dense",
        "dimensions": features.dimensions,
        "dtype": str(features.values.dtype),
        "images_without": int((~features.known).sum()),
    }


def sets_described(sets: Mapping[str, Features]) -> dict[str, Any]:
    """Return the description of each set of features, by the name of the set."""
    return {name: describe_features(features) for name, features in sets.items()}


def describe(values: pl.Series) -> dict[str, float]:
    """Return the mean, median, maximum and minimum of `values`, or an empty dictionary if there are none."""
    if values.is_empty():
        return {}
    numbers = values.cast(pl.Float64).to_numpy()
    median = values.cast(pl.Float64).median()
    return {"mean": float(numbers.mean()), "median": float(median), "max": numbers.max(), "min": numbers.min()}  # type: ignore[arg-type]


def check_counts(name: str, expectation: Expected, counts: dict[str, Any]) -> None:
    """Raise a `UserError` if the counts of a data set differ from those that its configuration file states."""
    for key, number in expectation.model_dump(exclude_none=True).items():
        if counts[key] != number:
            raise UserError(
                f"{name}: expected.{key}: the data set's file states {number}, but there are {counts[key]}; download "
                "the data again, or correct that file if you have another version of the data"
            )


def report(summary: dict[str, Any]) -> None:
    """Report dropped entries and images without features on standard error."""
    name = summary["name"]
    for entry in summary["dropped"]:
        print(f"{name}: dropped {entry['number']} {entry['what']}: {entry['why']}", file=sys.stderr)
    if summary["features"] and summary["features"]["images_without"]:
        print(f"{name}: number of images without features: {summary['features']['images_without']}", file=sys.stderr)
    for set_name, features in summary.get("feature_sets", {}).items():
        if features["images_without"]:
            what = f"images that count as without features, because they have none in the set {set_name}"
            print(f"{name}: number of {what}: {features['images_without']}", file=sys.stderr)
