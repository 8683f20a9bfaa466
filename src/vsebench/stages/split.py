"""Splits: which labels a method trains on, chooses its settings on, and is tested on.

distinct : hold out one of an image's distinct labels, with all its occurrences; an image with one label trains only
regions : hold out one occurrence (a region label); what else the image carries stays, the same label included
images : hold out whole images, a tenth each for validation and test
official : test on the images that the data set's own partition calls test; a tenth of all images validates

The validation labels are held out of the training labels in the same way as the test labels are held out of all.
Section 2 of docs/protocols.md tells which protocol the papers used.
"""

import argparse
import zlib
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.configuration import Protocol
from vsebench.core.errors import UserError
from vsebench.core.storage import read_parquet, write_json, write_parquet
from vsebench.problem import SCHEMA

HELD_OUT_IMAGES = 0.1
PARTS = ("train", "valid", "test")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--processed", type=Path, required=True, help="folder of the label matrix")
    parser.add_argument("--protocol", choices=get_args(Protocol), required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder for train, valid and test.parquet")


def run(arguments: argparse.Namespace) -> None:
    pairs = read_parquet(arguments.processed / "pairs.parquet")
    images = read_parquet(arguments.processed / "images.parquet")
    n_labels = read_parquet(arguments.processed / "labels.parquet").height
    official = None if images["part"].is_null().all() else images["part"]
    if arguments.protocol == "official" and official is None:
        raise UserError(f"{arguments.processed}: this data set has no partition of its own; use the protocol 'images'")
    parts = split(pairs, len(images), arguments.protocol, arguments.seed, official)
    for name, part in parts.items():
        if part.is_empty():
            raise UserError(f"{arguments.processed}: protocol {arguments.protocol!r} leaves no pair for {name}")
        write_parquet(part, arguments.out / f"{name}.parquet")
    counts = {f"n_{name}": int(part["count"].sum()) for name, part in parts.items()}
    write_json({"n_images": len(images), "n_labels": n_labels, **counts}, arguments.out / "split.json")


def split(
    pairs: pl.DataFrame, n_images: int, protocol: str, seed: int, official: pl.Series | None = None
) -> dict[str, pl.DataFrame]:
    """Split a label matrix into train, valid and test, whose counts add up to it.

    Parameters
    ----------
    pairs : columns image, label, count, one row a pair
    protocol : "distinct", "regions", "images" or "official"
    seed : the same seed gives the same split on any machine
    official : "train" or "test" for each image; needed by the protocol "official"
    """
    rng = np.random.Generator(np.random.PCG64([seed, zlib.crc32(protocol.encode())]))
    pairs = pairs.sort("image", "label").cast(SCHEMA)  # type: ignore[arg-type]
    if protocol in ("images", "official"):
        return _hold_out_images(pairs, n_images, official if protocol == "official" else None, rng)
    rest, test = _hold_out_labels(pairs, n_images, protocol, rng)
    train, valid = _hold_out_labels(rest, n_images, protocol, rng)
    return {"train": train, "valid": valid, "test": test}


def _hold_out_labels(
    pairs: pl.DataFrame, n_images: int, protocol: str, rng: np.random.Generator
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Take one label (or one occurrence) from each image that has enough; return the rest and what was taken."""
    image = pairs["image"].to_numpy()
    count = pairs["count"].to_numpy()
    weight = count if protocol == "regions" else np.ones_like(count)
    fewest = 1 if protocol == "regions" else 2
    place = _draw_places(image, weight, n_images, rng)
    size = np.bincount(image, weights=weight, minlength=n_images)
    chosen = place[size >= fewest]
    taken = np.zeros(len(count), dtype=count.dtype)
    taken[chosen] = 1 if protocol == "regions" else count[chosen]
    return _with_count(pairs, count - taken), _with_count(pairs, taken)


def _draw_places(
    image: NDArray[np.int32], weight: NDArray[np.int32], n_images: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw one row of each image in proportion to its weight; rows are sorted by image."""
    ends = np.cumsum(weight, dtype=np.int64)
    size = np.bincount(image, weights=weight, minlength=n_images).astype(np.int64)
    start = np.cumsum(size) - size
    # Every image draws, whether it has rows or not, so that one image's rows do not move another's choice.
    offset = np.floor(rng.random(n_images) * size).astype(np.int64)
    return np.searchsorted(ends, start + offset, side="right")


def _with_count(pairs: pl.DataFrame, count: NDArray[np.int32]) -> pl.DataFrame:
    return pairs.with_columns(pl.Series("count", count, dtype=pl.Int32)).filter(pl.col("count") > 0)


def _hold_out_images(
    pairs: pl.DataFrame, n_images: int, official: pl.Series | None, rng: np.random.Generator
) -> dict[str, pl.DataFrame]:
    """Hold out a tenth of the images, or the official test images, for test, and a tenth for validation."""
    held_out = round(n_images * HELD_OUT_IMAGES)
    order = np.argsort(rng.random(n_images), kind="stable")
    test = order[:held_out] if official is None else np.flatnonzero((official == "test").to_numpy())
    part = np.zeros(n_images, dtype=np.int8)
    part[test] = 2
    part[order[part[order] == 0][:held_out]] = 1
    of_pair = pl.Series(part[pairs["image"].to_numpy()])
    return {name: pairs.filter(of_pair == index) for index, name in enumerate(PARTS)}
