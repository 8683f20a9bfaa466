"""Ranks of held-out labels, the sufficient statistic of every metric here.

The candidates of an image are the labels that it does not carry in training. The rank of a held-out label is 1 + the
number of candidates that score higher; `ties` counts other candidates with the same score. Where the held-out label is
a training label as well (protocol `regions`), it is no candidate and its rank is null.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from vsebench.chunks import even_chunks
from vsebench.core.errors import UserError
from vsebench.core.storage import read_arrays, read_json, read_parquet, write_parquet
from vsebench.core.workers import Workers, workers
from vsebench.methods.base import Scorer, scorer_of
from vsebench.problem import LabelMatrix

SCORES_A_CHUNK = 1 << 20  # at most: a chunk's scores (4 MiB) stay in the cache until they are counted,
QUERIES_A_CHUNK = 252  # and so do the vectors of its images; six are counted at a time
LARGEST_SCORE = 1e37


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--split", type=Path, required=True, help="folder of the split")
    parser.add_argument("--model", type=Path, required=True, help="model.npz")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, help="ranks.parquet")


def run(arguments: argparse.Namespace) -> None:
    known = read_split(arguments.split, "train", "valid")
    test = read_parquet(arguments.split / "test.parquet")
    model = scorer_of(read_arrays(arguments.model), str(arguments.model))
    with workers(arguments.threads) as pool:
        write_parquet(rank_held_out(model, known, test, pool, str(arguments.model)), arguments.out)


def read_split(folder: Path, *parts: str) -> LabelMatrix:
    """Return the sum of some parts of a split."""
    size = read_json(folder / "split.json")
    pairs = pl.concat(read_parquet(folder / f"{part}.parquet") for part in parts)
    pairs = pairs.group_by("image", "label").agg(pl.col("count").sum())
    return LabelMatrix.from_pairs(pairs, size["n_images"], size["n_labels"])


def rank_held_out(model: Scorer, known: LabelMatrix, held_out: pl.DataFrame, pool: Workers, where: str) -> pl.DataFrame:
    """Rank the held-out labels.

    Parameters
    ----------
    known : the labels that are no candidates
    held_out : columns image and label
    where : names the model in errors

    Returns
    -------
    columns image, label, rank (null: no candidate), ties, candidates; all Int32, sorted by image and label

    Raises
    ------
    UserError
        if the scores are not finite: counted naively, a NaN would rank first
    """
    check_finite(model, where)
    held_out = held_out.select("image", "label").sort("image", "label")
    queries = held_out["image"].to_numpy()
    query_labels = held_out["label"].to_numpy()
    above = np.empty(len(queries), dtype=np.int32)
    tied = np.empty(len(queries), dtype=np.int32)

    def task(start: int, stop: int) -> None:
        part = slice(start, stop)
        above[part], tied[part] = model.count_above(queries[part], query_labels[part], known)

    size = max(16, min(QUERIES_A_CHUNK, SCORES_A_CHUNK // known.n_labels))
    pool.run(task, even_chunks(len(queries), size))
    candidates = known.n_labels - np.diff(known.offsets)[queries]
    frame = held_out.with_columns(rank=above + 1, ties=tied, candidates=candidates.astype(np.int32))
    is_candidate = pl.col("rank") > 0
    return frame.with_columns(
        rank=pl.when(is_candidate).then("rank"), ties=pl.when(is_candidate).then("ties").otherwise(0)
    ).cast(pl.Int32)


def has_finite_scores(model: Scorer) -> bool:
    """Tell whether every score of a model is sure to be a finite number."""
    return model.largest_score() < LARGEST_SCORE  # false where it is NaN, too


def check_finite(model: Scorer, where: str) -> None:
    """Refuse a model whose scores are not all finite numbers."""
    if not has_finite_scores(model):
        raise UserError(f"{where}: the model's scores are not finite numbers; a smaller learning rate may help")
