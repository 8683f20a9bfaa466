"""Check that a file of scores fits a split that `vsebench export` wrote: its hash, test images and candidate labels."""

import argparse
from pathlib import Path

from vsebench.formats.exported_split import read_exported
from vsebench.formats.scores_file import read_scores
from vsebench.methods.outside.outside_scores import check_scores, index_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scores", type=Path, help="file of scores: .npy, .npz, .parquet or .csv")
    parser.add_argument("folder", type=Path, help="folder that `vsebench export` wrote")


def run(arguments: argparse.Namespace) -> None:
    exported = read_exported(arguments.folder)
    names, parts, record = exported.names, exported.parts, exported.record
    scores = read_scores(arguments.scores)
    check_scores(scores, names, parts)
    extra = int((index_of(scores.ids, names.images) < 0).sum()), int((index_of(scores.labels, names.labels) < 0).sum())
    stated = "trained on this split" if scores.split else "the file does not state its split"
    left_out = f"not in the data set, so ignored: {extra[0]} images, {extra[1]} labels"
    print(
        f"{arguments.scores}: fits {record['task']}, seed {record['seed']}: all {int(parts.test.sum())} test images"
        f" and {int(parts.candidates.sum())} labels; {stated}; {left_out}"
    )
