"""Rank the test labels, and list the first labels of each test image.

If the test images are new (not seen in training), the stage also ranks these images for each label.
"""

import argparse
from pathlib import Path

from vsebench import models
from vsebench.core.schemas import LABEL_RANKS, LISTS, RANKS
from vsebench.core.storage import write_table
from vsebench.core.workers import workers
from vsebench.data import splits
from vsebench.data.needs import FEATURES
from vsebench.evaluation.ranking import list_tops, rank, rank_images
from vsebench.models import by_frequency


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--split", type=Path, required=True, help="folder of the split")
    parser.add_argument("--model", type=Path, required=True, help="model.npz")
    parser.add_argument("--features", type=Path, nargs="+", help="image features, if the model uses them")
    parser.add_argument(
        "--cold-by-frequency", action="store_true", help="rank labels by frequency for images without training labels"
    )
    parser.add_argument("--no-refit", action="store_true", help="the model has not learnt the validation labels")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ranks", type=Path, required=True, help="ranks.parquet to write")
    parser.add_argument("--lists", type=Path, required=True, help="lists.parquet to write")
    parser.add_argument("--label-ranks", type=Path, help="label_ranks.parquet, for a protocol with new test images")


def run(arguments: argparse.Namespace) -> None:
    split = splits.load(arguments.split, refit=not arguments.no_refit)
    held_out = split.test
    for_cold = by_frequency(split.final.labels) if arguments.cold_by_frequency else None
    model = models.load(arguments.model)
    features = FEATURES.load(arguments.features) if arguments.features else None
    with workers(arguments.threads) as pool:
        write_table(rank(model, held_out, features, pool, str(arguments.model), for_cold), RANKS, arguments.ranks)
        write_table(list_tops(model, held_out, features, pool, for_cold), LISTS, arguments.lists)
        if arguments.label_ranks:
            write_table(rank_images(model, held_out, features, pool), LABEL_RANKS, arguments.label_ranks)
