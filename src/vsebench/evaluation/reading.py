"""Read the files from which the metrics of a case are computed."""

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.config.dataset import Propensity
from vsebench.core.schemas import DECISIONS, LABEL_RANKS, LISTS, PAIRS, RANKS, SPLIT_IMAGES, SPLIT_LABELS
from vsebench.core.storage import read_json, read_table
from vsebench.core.tasks import Case
from vsebench.evaluation.frequencies import Frequencies
from vsebench.evaluation.measuring import Ranked
from vsebench.evaluation.sets import LabelSets
from vsebench.evaluation.spread import Spread


def read_ranked(case: Case, results: Path) -> Ranked:
    """Read the output of the stage `rank` for a case.

    The table `lists` is empty if there is no `lists.parquet`: a pack contains this file only if a metric of the packed
    run needs it.
    """
    folder, n_labels = case.folder(results), n_labels_of(case, results)
    lists, label_ranks = folder / "lists.parquet", folder / "label_ranks.parquet"
    return Ranked(
        read_table(folder / "ranks.parquet", RANKS, n_labels),
        read_table(lists, LISTS, n_labels) if lists.is_file() else pl.DataFrame(schema=LISTS),
        read_table(label_ranks, LABEL_RANKS, n_labels) if label_ranks.is_file() else None,
    )


def read_sets(case: Case, decision: str, results: Path) -> LabelSets:
    """Read the label sets that a decision chose for the test images of a case, and the correct sets."""
    folder, n_labels = case.folder(results), n_labels_of(case, results)
    images = read_table(folder / "lists.parquet", LISTS, n_labels)["image"].unique().sort()
    chosen = read_table(folder / "decisions.parquet", DECISIONS, n_labels).filter(decision=decision)
    right = read_table(folder / "ranks.parquet", RANKS, n_labels)
    return LabelSets.of_pairs(chosen, right, images, n_labels)


def spread_at(case: Case, results: Path) -> Spread:
    """Return how much each metric varies because the settings of a model were chosen (see `evaluation.spread`).

    If this spread is not known, the mapping is empty.
    """
    spread: Spread = read_json(case.folder(results) / "run.json")["selection"].get("spread", {})
    return spread


def n_labels_of(case: Case, results: Path) -> int:
    return int(read_json(case.split(results) / "split.json")["n_labels"])


def n_candidates_of(case: Case, results: Path) -> int:
    """Return the number of labels that can be predicted: the candidates of the protocol."""
    return int(_labels_of(case, results)["test"].sum())


def frequencies_of(case: Case, results: Path, propensity: Propensity) -> Frequencies:
    """Return the number of training images of each label; validation images count as training images, too."""
    split, n_labels = case.split(results), n_labels_of(case, results)
    pairs = read_table(split / "final.parquet", PAIRS, n_labels)
    images = read_table(split / "images.parquet", SPLIT_IMAGES)
    counts = np.bincount(pairs["label"].to_numpy(), minlength=n_labels)
    return Frequencies(counts.astype(np.int64), int(images["final"].sum()), propensity)


def learnt_of(case: Case, results: Path) -> NDArray[np.bool_]:
    """Return a mask, of shape (n_labels,), of the labels on which models are trained under the protocol."""
    return _labels_of(case, results)["final"].to_numpy()


def _labels_of(case: Case, results: Path) -> pl.DataFrame:
    return read_table(case.split(results) / "labels.parquet", SPLIT_LABELS)
