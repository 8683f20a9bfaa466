"""Write and read the files of a split.

train, valid, test.parquet   image, label, count: the labels of each part
final.parquet                image, label, count: what the tested model learns, at least the labels of train and valid
images.parquet               whether an image is in `first`, `final`, `valid` and `test`
labels.parquet               whether a label is learnt in `first` and `final`, and a candidate in `valid` and `test`
split.json                   numbers of images, labels and occurrences
"""

from pathlib import Path

import numpy as np
import polars as pl

from vsebench.core.schemas import PAIRS, SPLIT_IMAGES, SPLIT_LABELS
from vsebench.core.storage import read_json, read_parquet, write_json, write_table
from vsebench.data.problem import HeldOut, Ids, LabelMatrix, Mask, Split, Training

# The files that a fit reads.
FIT_FILES = ("train.parquet", "valid.parquet", "final.parquet", "images.parquet", "labels.parquet", "split.json")
FILES = (*FIT_FILES, "test.parquet")


def save(split: Split, folder: Path) -> None:
    """Write a split."""
    n_images, n_labels = split.first.labels.n_rows, split.first.labels.n_labels
    parts = {"train": split.first.labels.to_pairs()}
    parts |= {"valid": pairs_of(split.valid), "test": pairs_of(split.test)}
    for name, part in (parts | {"final": split.final.labels.to_pairs()}).items():
        write_table(part, PAIRS, folder / f"{name}.parquet")
    images = {
        "image": np.arange(n_images, dtype=np.int32),
        "first": _mask(split.first.images, n_images),
        "final": _mask(split.final.images, n_images),
        "valid": _mask(split.valid.images, n_images),
        "test": _mask(split.test.images, n_images),
    }
    labels = {
        "label": np.arange(n_labels, dtype=np.int32),
        "first": split.first.learnt,
        "final": split.final.learnt,
        "valid": split.valid.candidates,
        "test": split.test.candidates,
    }
    write_table(pl.DataFrame(images), SPLIT_IMAGES, folder / "images.parquet")
    write_table(pl.DataFrame(labels), SPLIT_LABELS, folder / "labels.parquet")
    counts = {f"n_{name}": int(part["count"].sum()) for name, part in parts.items()}
    write_json({"n_images": n_images, "n_labels": n_labels, **counts}, folder / "split.json")


def load(folder: Path, with_test: bool = True, refit: bool = True) -> Split:
    """Read a split.

    Parameters
    ----------
    with_test : whether to read the test labels; if not, `test` has no images and its file is not opened
    refit : whether the tested model also learns the validation labels; if not, `final` is `first`
    """
    size = read_json(folder / "split.json")
    images, labels = read_parquet(folder / "images.parquet"), read_parquet(folder / "labels.parquet")

    def read(part: str) -> LabelMatrix:
        pairs = read_parquet(folder / f"{part}.parquet")
        return LabelMatrix.from_pairs(pairs, size["n_images"], size["n_labels"])

    train, valid, both = read("train"), read("valid"), read("final")
    test = read("test") if with_test else LabelMatrix.empty(size["n_images"], size["n_labels"])
    test_images = _ids(images["test"]) if with_test else np.empty(0, dtype=np.int32)
    first = Training(train, _ids(images["first"]), labels["first"].to_numpy())
    return Split(
        first,
        _held_out(_ids(images["valid"]), valid, train, labels["valid"].to_numpy()),
        Training(both, _ids(images["final"]), labels["final"].to_numpy()) if refit else first,
        _held_out(test_images, test, both, labels["test"].to_numpy()),
    )


def pairs_of(held_out: HeldOut) -> pl.DataFrame:
    """Return the held-out labels as a table of pairs."""
    pairs = held_out.right.to_pairs()
    return pairs.with_columns(pl.Series("image", held_out.images[held_out.right.image_of_pair], dtype=pl.Int32))


def _held_out(images: Ids, right: LabelMatrix, known: LabelMatrix, candidates: Mask) -> HeldOut:
    return HeldOut(images, right.rows(images), known.rows(images), candidates)


def _mask(images: Ids, n_images: int) -> Mask:
    mask = np.zeros(n_images, dtype=np.bool_)
    mask[images] = True
    return mask


def _ids(mask: pl.Series) -> Ids:
    return np.flatnonzero(mask.to_numpy()).astype(np.int32)
