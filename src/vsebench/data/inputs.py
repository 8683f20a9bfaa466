"""Read the part of a processed data set that a protocol needs."""

from pathlib import Path

import numpy as np

from vsebench.core.storage import read_parquet
from vsebench.data.needs import WORD_VECTORS
from vsebench.data.problem import Dataset, LabelMatrix


def load_dataset(folder: Path, word_vectors: Path | None = None) -> Dataset:
    """Read the label matrix, the official partition if there is one, and the images that have features.

    word_vectors : word_vectors.npz of the processed folder, for a protocol that has to know the labels with vectors
    """
    images = read_parquet(folder / "images.parquet")
    vocabulary = read_parquet(folder / "labels.parquet")
    labels = LabelMatrix.from_pairs(read_parquet(folder / "pairs.parquet"), images.height, vocabulary.height)
    has_parts = "part" in images.columns and images["part"].null_count() < images.height
    parts = images["part"].fill_null("").to_numpy().astype(np.str_) if has_parts else None
    with_features = images["has_features"].to_numpy()
    with_word_vectors = None if word_vectors is None else WORD_VECTORS.load(word_vectors).known
    joined = (vocabulary[name].to_numpy() for name in ("trained", "tested") if name in vocabulary.columns)
    return Dataset(labels, parts, with_features if with_features.any() else None, with_word_vectors, *joined)
