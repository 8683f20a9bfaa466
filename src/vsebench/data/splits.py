"""Read the part of a processed data set that a protocol needs, and write and read the files of a split.

train, valid, test.parquet   image, label, count: the labels of each part
final.parquet                image, label, count: the labels to train the tested model on, which include all labels
                             in train.parquet and valid.parquet
images.parquet               for each image: whether it is in `first`, `final`, `valid` and `test` (see `problem.Split`)
labels.parquet               for each label: whether it is learnt from `first` and `final`, and whether it is a
                             candidate in `valid` and `test`
split.json                   numbers of images, labels and occurrences; a hash of everything above except test.parquet
"""

from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl

from vsebench.core.errors import UserError, one_line
from vsebench.core.schemas import IMAGES, PAIRS, SPLIT_IMAGES, SPLIT_LABELS
from vsebench.core.storage import read_json, read_parquet, read_table, write_json, write_table
from vsebench.data.needs import WORD_VECTORS
from vsebench.data.problem import Dataset, HeldOut, Ids, LabelMatrix, Mask, Split, Training, ids_of, mask_of

# The files that a fit reads.
FIT_FILES = ("train.parquet", "valid.parquet", "final.parquet", "images.parquet", "labels.parquet", "split.json")
FILES = (*FIT_FILES, "test.parquet")


def load_dataset(folder: Path, word_vectors: Path | None = None) -> Dataset:
    """Read the information that a protocol needs to split the processed data set in `folder`.

    `word_vectors` is the path of the data set's word_vectors.npz, for a protocol that uses only labels with a word
    vector.
    """
    images = read_table(folder / "images.parquet", IMAGES)
    vocabulary = read_parquet(folder / "labels.parquet")
    labels = LabelMatrix.from_pairs(read_table(folder / "pairs.parquet", PAIRS), images.height, vocabulary.height)
    has_parts = images["part"].null_count() < images.height
    parts = images["part"].fill_null("").to_numpy().astype(np.str_) if has_parts else None
    with_features = images["has_features"].to_numpy()
    with_word_vectors = None if word_vectors is None else WORD_VECTORS.load(word_vectors).known
    joined = (vocabulary[name].to_numpy() for name in ("trained", "tested") if name in vocabulary.columns)
    return Dataset(labels, parts, with_features if with_features.any() else None, with_word_vectors, *joined)


def save(split: Split, folder: Path) -> None:
    """Write the files of a split into a folder."""
    n_images, n_labels = split.first.labels.n_rows, split.first.labels.n_labels
    parts = {"train": split.first.labels.to_pairs()}
    parts |= {"valid": pairs_of(split.valid), "test": pairs_of(split.test)}
    for name, part in (parts | {"final": split.final.labels.to_pairs()}).items():
        write_table(part, PAIRS, folder / f"{name}.parquet")
    images = {
        "image": np.arange(n_images, dtype=np.int32),
        "first": mask_of(split.first.images, n_images),
        "final": mask_of(split.final.images, n_images),
        "valid": mask_of(split.valid.images, n_images),
        "test": mask_of(split.test.images, n_images),
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
    # A test label is also a training label if the protocol held out only one of its occurrences on the image.
    counts["n_test_learnt"] = n_common(split.test.right, split.test.known)
    record = {"n_images": n_images, "n_labels": n_labels, **counts, "hash": hash_of(split)}
    write_json(record, folder / "split.json")


def hash_of(split: Split) -> str:
    """Return the SHA-256 of all parts of a split except the test labels."""
    digest = sha256()
    for training in (split.first, split.final):
        pairs = training.labels
        for array in (pairs.offsets, pairs.label_of_pair, pairs.count_of_pair, training.images, training.learnt):
            digest.update(array.data)
    valid = split.valid.right
    for array in (valid.offsets, valid.label_of_pair, valid.count_of_pair, split.valid.images, split.valid.candidates):
        digest.update(array.data)
    for array in (split.test.images, split.test.candidates):
        digest.update(array.data)
    return digest.hexdigest()


def load(folder: Path, with_test: bool = True, refit: bool = True) -> Split:
    """Read a split.

    If `with_test` is False, the file of test labels is not opened, and `test` has no images. If `refit` is False, the
    tested model does not learn the validation labels: `final` equals `first`. A `UserError` is raised if the files are
    not those of a split, or if final.parquet contains more or fewer test labels than when the split was made.
    """
    try:
        split, n_learnt = _load(folder, with_test, refit)
    except (KeyError, IndexError, TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        raise UserError(f"{folder}: not a split ({one_line(error)}); delete it and run again") from None
    if with_test and refit and (found := n_common(split.test.right, split.test.known)) != n_learnt:
        wrong = (
            f"test labels that are training labels in final.parquet: {found}, but {n_learnt} when the split was made"
        )
        raise UserError(f"{folder}: {wrong}; delete the split and run again")
    return split


def n_common(first: LabelMatrix, second: LabelMatrix) -> int:
    """Return how many (row, label) pairs two matrices of the same shape have in common."""
    common = 0
    for parts in first.beside(second):
        keys = [each.image_of_pair.astype(np.int64) * each.n_labels + each.label_of_pair for each in parts]
        common += len(np.intersect1d(keys[0], keys[1], assume_unique=True))
    return common


def _load(folder: Path, with_test: bool, refit: bool) -> tuple[Split, int]:
    """Read a split; also return how many of its test labels were training labels when it was made."""
    size = read_json(folder / "split.json")
    images = read_table(folder / "images.parquet", SPLIT_IMAGES)
    labels = read_table(folder / "labels.parquet", SPLIT_LABELS)

    def read(part: str) -> LabelMatrix:
        pairs = read_table(folder / f"{part}.parquet", PAIRS)
        return LabelMatrix.from_pairs(pairs, size["n_images"], size["n_labels"])

    train, valid, both = read("train"), read("valid"), read("final")
    test = read("test") if with_test else LabelMatrix.empty(size["n_images"], size["n_labels"])
    test_images = ids_of(images["test"].to_numpy()) if with_test else np.empty(0, dtype=np.int32)
    first = Training(train, ids_of(images["first"].to_numpy()), labels["first"].to_numpy())
    split = Split(
        first,
        _held_out(ids_of(images["valid"].to_numpy()), valid, train, labels["valid"].to_numpy()),
        Training(both, ids_of(images["final"].to_numpy()), labels["final"].to_numpy()) if refit else first,
        _held_out(test_images, test, both, labels["test"].to_numpy()),
    )
    return split, size["n_test_learnt"]


def pairs_of(held_out: HeldOut) -> pl.DataFrame:
    """Return the held-out (image, label) pairs of a part of the split as a table."""
    pairs = held_out.right.to_pairs()
    return pairs.with_columns(pl.Series("image", held_out.images[held_out.right.image_of_pair], dtype=pl.Int32))


def _held_out(images: Ids, right: LabelMatrix, known: LabelMatrix, candidates: Mask) -> HeldOut:
    return HeldOut(images, right.rows(images), known.rows(images), candidates)
