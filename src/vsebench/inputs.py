"""Reading a processed data set: its label matrix, features and truth."""

from pathlib import Path

import numpy as np

from vsebench.core.errors import UserError
from vsebench.core.storage import read_arrays, read_parquet
from vsebench.features import Features, read_features
from vsebench.problem import Dataset, LabelMatrix, Matrix


def load_dataset(folder: Path) -> Dataset:
    """Read what a protocol splits: the label matrix and the official partition, if there is one."""
    images = read_parquet(folder / "images.parquet")
    n_labels = read_parquet(folder / "labels.parquet").height
    labels = LabelMatrix.from_pairs(read_parquet(folder / "pairs.parquet"), images.height, n_labels)
    has_parts = "part" in images.columns and images["part"].null_count() < images.height
    return Dataset(labels, images["part"].fill_null("").to_numpy().astype(np.str_) if has_parts else None)


def load_truth(folder: Path) -> dict[str, Matrix]:
    """Read what a simulator drew the labels from: `image` (n_images, T) and `label` (n_labels, T), float32."""
    path = folder / "truth.npz"
    if not path.is_file():
        raise UserError(f"{path}: no such file; only a simulated data set has an oracle")
    return read_arrays(path)


def load_features(folder: Path) -> Features:
    """Read the features of a data set's images."""
    images = read_parquet(folder / "images.parquet")
    path = folder / "features.npz"
    return read_features(path if path.is_file() else folder / "features.npy", images["has_features"].to_numpy())
