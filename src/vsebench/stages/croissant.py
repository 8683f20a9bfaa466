"""Describe a prepared data set in the Croissant format, with the checksum of each file and the columns of each table.

Croissant is a vocabulary in JSON-LD that repositories and loaders of data sets understand. Features are listed as files
without columns, because the format cannot describe arrays.

Source: Croissant format specification 1.0, https://docs.mlcommons.org/croissant/docs/croissant-spec.html.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import polars as pl

from vsebench.core import schemas
from vsebench.core.storage import read_json, replacing
from vsebench.formats.download.recorded import sha256_of

# The context that the specification prescribes.
OF_CROISSANT = (
    "citeAs column equivalentProperty extract field fileProperty fileObject fileSet format includes isLiveDataset "
    "jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source "
    "subField transform"
)
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in OF_CROISSANT.split()},
}
TABLES: dict[str, schemas.Schema] = {"images": schemas.IMAGES, "labels": schemas.LABELS, "pairs": schemas.PAIRS}
DESCRIPTIONS = {
    "images": "Each image: number, id in the source, part of the official partition, whether it has features.",
    "labels": "Each label: number, name, number of images, number of occurrences.",
    "pairs": "The labels of each image, and how often the image has each label, for example on several regions.",
}
KEYS = {"images": "image", "labels": "label"}  # the column whose values are unique
FORMATS = {".parquet": "application/x-parquet", ".npy": "application/x-npy", ".npz": "application/x-npz"}
TYPES = {pl.Int32: "sc:Integer", pl.String: "sc:Text", pl.Boolean: "sc:Boolean"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--about", type=Path, required=True, help="about.json of the data set")
    parser.add_argument("--summary", type=Path, required=True, help="summary.json of the data set")
    parser.add_argument("--files", type=Path, nargs="+", required=True, help="its tables and features")
    parser.add_argument("--out", type=Path, required=True, help="croissant.json to write")


def run(arguments: argparse.Namespace) -> None:
    described = describe(read_json(arguments.about), read_json(arguments.summary), sorted(arguments.files))
    with replacing(arguments.out) as temporary:
        temporary.write_text(json.dumps(described, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def describe(about: dict[str, Any], summary: dict[str, Any], files: list[Path]) -> dict[str, Any]:
    """Return the description of a data set as JSON-LD; `files` are its tables and features."""
    counts = summary["counts"]
    made = "simulated" if summary["simulated"] else "prepared"
    size = f"{counts['images']} images, {counts['labels']} labels, {counts['pairs']} pairs of an image and a label"
    optional = {"url": about.get("homepage"), "license": about.get("licence"), "citeAs": about.get("citation")}
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": summary["name"],
        "alternateName": about["title"],
        "description": f"{about['title']}, {made} by vsebench for image annotation by label ranking: {size}.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **{key: value for key, value in optional.items() if value},
        "distribution": [file_object(path) for path in files],
        "recordSet": [record_set(name, schema) for name, schema in TABLES.items()],
    }


def file_object(path: Path) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": FORMATS[path.suffix],
        "sha256": sha256_of(path),
    }


def record_set(name: str, schema: schemas.Schema) -> dict[str, Any]:
    """Return the description of a table.

    In the table of pairs, the columns `image` and `label` refer to the tables of images and labels.
    """
    key = {"key": {"@id": f"{name}/{KEYS[name]}"}} if name in KEYS else {}
    fields = [field(name, column, dtype) for column, dtype in schema.items()]
    return {
        "@type": "cr:RecordSet", "@id": name, "name": name, "description": DESCRIPTIONS[name], **key, "field": fields,
    }  # fmt: skip


def field(table: str, column: str, dtype: Any) -> dict[str, Any]:
    named = {other: {"field": {"@id": f"{other}/{key}"}} for other, key in KEYS.items()}
    refers = next((named[other] for other, key in KEYS.items() if key == column and other != table), None)
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column}",
        "name": column,
        "dataType": TYPES[dtype],
        "source": {"fileObject": {"@id": f"{table}.parquet"}, "extract": {"column": column}},
        **({"references": refers} if refers else {}),
    }
