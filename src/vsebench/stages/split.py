"""Split a data set into training, validation and test by a protocol."""

import argparse
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.data import splits
from vsebench.protocols.base import split_dataset


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--processed", type=Path, required=True, help="folder of the processed data set")
    parser.add_argument("--word-vectors", type=Path, help="word_vectors.npz, for a protocol of unseen labels")
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder for the files of the split")


def run(arguments: argparse.Namespace) -> None:
    dataset = splits.load_dataset(arguments.processed, arguments.word_vectors)
    try:
        split = split_dataset(arguments.protocol, dataset, arguments.seed)
    except UserError as error:
        raise UserError(f"{arguments.processed}: {error}") from None
    splits.save(split, arguments.out)
