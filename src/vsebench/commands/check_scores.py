"""Check that a file of scores matches the hash, test images and candidate labels of a split from `vsebench export`."""

import argparse
from pathlib import Path

from vsebench.formats.exported_split import ExportedSplit, read_exported
from vsebench.formats.scores_file import ScoredLists, Scores, read_scores
from vsebench.methods.outside.outside_scores import check_scores, has_candidate, index_of, is_one_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scores", type=Path, help="file of scores: .npy, .npz, .parquet or .csv")
    parser.add_argument("folder", type=Path, help="folder that `vsebench export` wrote")


def run(arguments: argparse.Namespace) -> None:
    exported = read_exported(arguments.folder)
    names, record = exported.names, exported.record
    scores = read_scores(arguments.scores)
    check_scores(scores, names, exported.parts)
    extra = int((index_of(scores.ids, names.images) < 0).sum()), int((index_of(scores.labels, names.labels) < 0).sum())
    stated = "trained on this split" if scores.split else "the file does not state its split"
    left_out = f"not in the data set, so ignored: {extra[0]} images, {extra[1]} labels"
    fits = f"fits {record['task']}, seed {record['seed']}: {covered(scores, exported)}"
    print(f"{arguments.scores}: {fits}; {stated}; {left_out}")


def covered(scores: Scores, exported: ExportedSplit) -> str:
    """Return a phrase that states how many test images and candidate labels have scores."""
    names, parts = exported.names, exported.parts
    n_images, n_labels = int(parts.test.sum()), int(parts.candidates.sum())
    if not isinstance(scores.values, ScoredLists):
        return f"all {n_images} test images and {n_labels} labels"
    n_listed = int(is_one_of(scores.labels, names.labels, parts.candidates).sum())
    has = has_candidate(scores, scores.values, names, parts)
    without = f" (images whose lists have none: {int((~has).sum())})" if not has.all() else ""
    return f"all {n_images} test images, whose lists have {n_listed} of {n_labels} candidate labels{without}"
