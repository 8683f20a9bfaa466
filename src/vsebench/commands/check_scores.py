"""Check that a file of scores fits the hash, test images and labels of a split that `vsebench export` wrote."""

import argparse
from pathlib import Path

import polars as pl

from vsebench.core.errors import UserError
from vsebench.core.storage import read_json
from vsebench.data.needs import Names, Parts
from vsebench.formats.scores_file import read_scores
from vsebench.methods.outside.outside_scores import check_scores, index_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scores", type=Path, help="file of scores: .npy, .npz, .parquet or .csv")
    parser.add_argument("folder", type=Path, help="folder that `vsebench export` wrote")


def run(arguments: argparse.Namespace) -> None:
    images, labels = (read_csv(arguments.folder / f"{name}.csv") for name in ("images", "labels"))
    record = read_json(arguments.folder / "split.json")
    names = Names(images["id"].to_list(), labels["name"].to_list())
    parts = Parts(record["hash"], (images["test"] == "true").to_numpy(), (labels["candidate"] == "true").to_numpy())
    scores = read_scores(arguments.scores)
    check_scores(scores, names, parts)
    extra = int((index_of(scores.ids, names.images) < 0).sum()), int((index_of(scores.labels, names.labels) < 0).sum())
    stated = "trained on this split" if scores.split else "the file does not state its split"
    left_out = f"left out: {extra[0]} other images, {extra[1]} other labels"
    print(
        f"{arguments.scores}: fits {record['task']}, seed {record['seed']}: all {int(parts.test.sum())} test images"
        f" and {int(parts.candidates.sum())} labels; {stated}; {left_out}"
    )


def read_csv(path: Path) -> pl.DataFrame:
    """Read a table of an exported split; all columns are read as text."""
    if not path.is_file():
        raise UserError(f"{path}: no such file; name a folder that `vsebench export` wrote")
    return pl.read_csv(path, infer_schema=False)
