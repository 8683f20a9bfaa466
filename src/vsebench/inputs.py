"""Reading a processed data set: its label matrix, features, words and truth."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.storage import read_arrays, read_parquet
from vsebench.problem import Dataset, LabelMatrix, Words

if TYPE_CHECKING:
    from vsebench.features import Features


def load_dataset(folder: Path, words: Path | None = None) -> Dataset:
    """Read what a protocol splits: the label matrix, the official partition if there is one, and who has features.

    words : words.npz of its processed folder, for a protocol that asks which labels have a word vector
    """
    images = read_parquet(folder / "images.parquet")
    vocabulary = read_parquet(folder / "labels.parquet")
    labels = LabelMatrix.from_pairs(read_parquet(folder / "pairs.parquet"), images.height, vocabulary.height)
    has_parts = "part" in images.columns and images["part"].null_count() < images.height
    parts = images["part"].fill_null("").to_numpy().astype(np.str_) if has_parts else None
    with_features = images["has_features"].to_numpy()
    with_words = None if words is None else load_words(words).known
    joined = (vocabulary[name].to_numpy() for name in ("trained", "tested") if name in vocabulary.columns)
    return Dataset(labels, parts, with_features if with_features.any() else None, with_words, *joined)


def load_truth(path: Path | None) -> dict[str, NDArray[Any]]:
    """Read what a simulator drew the labels from, truth.npz of its processed folder."""
    if path is None:
        raise UserError("--truth: an oracle needs the truth.npz of a simulated data set")
    return read_arrays(path)


def load_given(path: Path | None) -> LabelMatrix:
    """Read the labels that another data set has for the tested images, given.parquet of both joined."""
    if path is None:
        raise UserError("--given: this method needs what another data set says of the tested images")
    images, labels = (read_parquet(path.parent / f"{name}.parquet") for name in ("images", "labels"))
    return LabelMatrix.from_pairs(read_parquet(path), images.height, labels.height)


def load_words(path: Path | None) -> Words:
    """Read the word vectors of a data set's labels, words.npz of its processed folder."""
    if path is None:
        raise UserError("--words: this method needs the word vectors of its data set's labels")
    arrays = read_arrays(path)
    try:
        return Words(arrays["vectors"], arrays["known"])
    except (KeyError, ValueError) as error:
        raise UserError(f"{path}: no word vectors of labels ({error}); delete it and run again") from None


def load_features(path: Path | None) -> "Features":
    """Read the features of a data set's images, features.npy or features.npz of its processed folder."""
    if path is None:
        raise UserError("--features: this method needs the image features of its data set")
    from vsebench.features import read_features  # with SciPy, which most jobs do without

    images = read_parquet(path.parent / "images.parquet")
    return read_features(path, images["has_features"].to_numpy())
