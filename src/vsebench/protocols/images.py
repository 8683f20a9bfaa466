"""Protocols that hold out whole images: `images`, `labelled_images` and `official`."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.data.problem import Dataset, LabelMatrix, Mask, Split, ids_of, mask_of
from vsebench.protocols.base import Protocol, assemble

Masks = tuple[Mask, Mask, Mask]  # (n_images,) each: training, validation and test images

SHARE = 0.1  # share of validation images, and of test images
EVERY = 9  # every ninth training image is used for validation if an official partition has no validation images
TRAINED = 150_000 / 209_347  # under `labelled_images`, the share of training images among the labelled images
VALIDATED = 0.05  # under `labelled_images`, the share of the training images that are used for validation


class Images(Protocol):
    """A tenth of the images is held out for the test, and another tenth for validation; both are drawn uniformly."""

    description = "whole images held out, drawn at random"
    new_images = True
    validation_metric = "map"

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        return hold_out_images(dataset, *drawn_parts(dataset.labels.n_rows, rng))


class LabelledImages(Protocol):
    """The images with a label are split at random; images without a label are left out.

    Such splits are common for NUS-WIDE's 81 concepts: of the 209,347 images with a concept, 150,000 are training images
    and the others are test images. No list of these training images was published, so a split is drawn for each seed.
    """

    description = "images with a label held out, drawn at random"
    new_images = True
    validation_metric = "map"

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        labelled = ids_of(dataset.labels.n_labels_of_row > 0)
        drawn = labelled[np.argsort(rng.random(len(labelled)), kind="stable")]
        n_train = round(len(drawn) * TRAINED)
        parts = drawn[:n_train], drawn[: round(n_train * VALIDATED)], drawn[n_train:]
        return hold_out_images(dataset, *(mask_of(part, dataset.labels.n_rows) for part in parts))


class Official(Protocol):
    """The test images of the data set's official partition are held out; all seeds have the same split.

    Validation images are taken from the partition. If the partition has none, every ninth training image is used for
    validation.
    """

    description = "the data set's own test images held out"
    new_images = True
    validation_metric = "map"
    fixed = True

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        if dataset.parts is None:
            raise UserError(
                "this data set has no official partition; use the protocol 'images' or, for a table of your own, name "
                "the test images in `part` or `partition` (docs/own-data.md)"
            )
        return hold_out_images(dataset, *own_parts(dataset.parts))


PROTOCOLS = {"images": Images, "labelled_images": LabelledImages, "official": Official}


def own_parts(parts: NDArray[np.str_]) -> Masks:
    """Return the official partition as masks of the training, validation and test images.

    `parts`, (n_images,), contains the part of each image. If no image is in the part "valid", every ninth training
    image is also marked as a validation image.
    """
    valid = parts == "valid"
    if not valid.any():
        training = np.flatnonzero(parts == "train")
        valid[training[EVERY - 1 :: EVERY]] = True
    return parts == "train", valid, parts == "test"


def drawn_parts(n_images: int, rng: np.random.Generator) -> Masks:
    """Return randomly drawn masks of the training, validation and test images; validation and test get a tenth each."""
    size = round(n_images * SHARE)
    rank = np.empty(n_images, dtype=np.int64)
    rank[np.argsort(rng.random(n_images), kind="stable")] = np.arange(n_images)
    return rank >= 2 * size, (rank >= size) & (rank < 2 * size), rank < size


def hold_out_images(dataset: Dataset, train: Mask, valid: Mask, test: Mask) -> Split:
    """Return a split with these training, validation and test images.

    The masks are (n_images,). An image in both `train` and `valid` is a validation image. An image in no mask is left
    out. Once settings are chosen, the tested model is trained on the training and validation images.

    Images without a label are kept: they are used to normalise features, but have no label to rank. If the data set has
    features, images without features are left out of validation and test for all methods, because no model can score
    them by their features.
    """
    train, valid, test = apart(dataset, train, valid, test)
    parts = tuple(pairs_of(dataset.labels, mask) for mask in (train, valid, test))
    images = tuple(ids_of(mask) for mask in (train, valid, train | valid, test))
    return assemble(parts, images)  # type: ignore[arg-type]


def apart(dataset: Dataset, train: Mask, valid: Mask, test: Mask) -> Masks:
    """Return the masks; remove validation images from `train`, and images without features from `valid` and `test`."""
    train = train & ~valid
    if dataset.with_features is not None:
        valid, test = valid & dataset.with_features, test & dataset.with_features
    return train, valid, test


def pairs_of(labels: LabelMatrix, images: Mask, among: Mask | None = None) -> LabelMatrix:
    """Return the labels of the images in the mask `images`; if `among` is given, only labels in this mask.

    The result has the same shape as `labels`; the rows of the other images are empty.
    """
    kept = images[labels.image_of_pair]
    if among is not None:
        kept = kept & among[labels.label_of_pair]
    return LabelMatrix.from_pairs(labels.to_pairs().filter(pl.Series(kept)), labels.n_rows, labels.n_labels)
