"""Read the files of a case from which metrics are computed."""

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.config.dataset import Propensity
from vsebench.core.schemas import LISTS
from vsebench.core.storage import read_json, read_parquet
from vsebench.core.tasks import Case
from vsebench.evaluation.frequencies import Frequencies
from vsebench.evaluation.measuring import Ranked
from vsebench.evaluation.sets import LabelSets


def read_ranked(case: Case, results: Path) -> Ranked:
    """Read the output of the stage `rank` for a case.

    The lists are empty if their file does not exist: a pack contains the file only if a metric of the packed run needs
    it.
    """
    folder = case.folder(results)
    lists, label_ranks = folder / "lists.parquet", folder / "label_ranks.parquet"
    return Ranked(
        read_parquet(folder / "ranks.parquet"),
        read_parquet(lists) if lists.is_file() else pl.DataFrame(schema=LISTS),
        read_parquet(label_ranks) if label_ranks.is_file() else None,
    )


def read_sets(case: Case, decision: str, results: Path) -> LabelSets:
    """Read the label sets that a decision chose for the test images of a case, and the correct sets."""
    folder = case.folder(results)
    images = read_parquet(folder / "lists.parquet")["image"].unique().sort()
    chosen = read_parquet(folder / "decisions.parquet").filter(decision=decision)
    right = read_parquet(folder / "ranks.parquet")
    return LabelSets.of_pairs(chosen, right, images, n_labels_of(case, results))


def n_labels_of(case: Case, results: Path) -> int:
    return int(read_json(case.split(results) / "split.json")["n_labels"])


def n_candidates_of(case: Case, results: Path) -> int:
    """Return the number of labels that can be predicted: the candidates of the protocol."""
    return int(read_parquet(case.split(results) / "labels.parquet")["test"].sum())


def frequencies_of(case: Case, results: Path, propensity: Propensity) -> Frequencies:
    """Return how many training images, including validation images, have each label."""
    pairs, images = (read_parquet(case.split(results) / name) for name in ("final.parquet", "images.parquet"))
    counts = np.bincount(pairs["label"].to_numpy(), minlength=n_labels_of(case, results))
    return Frequencies(counts.astype(np.int64), int(images["final"].sum()), propensity)


def learnt_of(case: Case, results: Path) -> NDArray[np.bool_]:
    """Return, for each label, whether models are trained on it under the protocol, (n_labels,)."""
    return read_parquet(case.split(results) / "labels.parquet")["final"].to_numpy()
