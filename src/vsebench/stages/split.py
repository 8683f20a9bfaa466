"""Split a data set into training, validation and test parts under a protocol."""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from vsebench.core.errors import UserError
from vsebench.core.storage import read_parquet
from vsebench.data import splits
from vsebench.data.problem import Dataset, Mask
from vsebench.formats.download.archives import text_lines
from vsebench.protocols.base import split_dataset


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--processed", type=Path, required=True, help="folder of the processed data set")
    parser.add_argument("--word-vectors", type=Path, help="word_vectors.npz, for a protocol with unseen labels")
    parser.add_argument("--unseen-labels", type=Path, help="text file of the unseen labels, one per line")
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder for the files of the split")


def run(arguments: argparse.Namespace) -> None:
    dataset = splits.load_dataset(arguments.processed, arguments.word_vectors)
    if arguments.unseen_labels:
        dataset = replace(dataset, unseen=read_unseen(arguments.unseen_labels, arguments.processed, dataset))
    try:
        split = split_dataset(arguments.protocol, dataset, arguments.seed)
    except UserError as error:
        raise UserError(f"{arguments.processed}: {error}") from None
    splits.save(split, arguments.out)


def read_unseen(path: Path, processed: Path, dataset: Dataset) -> Mask:
    """Return a mask of the labels that a file lists.

    The mask has the shape (n_labels,). A `UserError` is raised if the file lists an unknown label or a label without a
    word vector, or if it lists no label.
    """
    numbers = {name: number for number, name in enumerate(read_parquet(processed / "labels.parquet")["name"])}
    unseen = np.zeros(len(numbers), dtype=np.bool_)
    for line, name in enumerate(text_lines(path.read_bytes(), str(path)), 1):
        if name not in numbers:
            raise UserError(
                f"{path}: line {line}: the data set {processed.name} has no label {name!r}; correct this line"
            )
        if dataset.with_word_vectors is not None and not dataset.with_word_vectors[numbers[name]]:
            raise UserError(f"{path}: line {line}: {name!r} has no word vector to rank it by; remove this line")
        unseen[numbers[name]] = True
    if not unseen.any():
        raise UserError(f"{path}: contains no label; name at least one")
    return unseen
