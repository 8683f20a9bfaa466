"""Whole images are held out: what the protocols `images` and `official` share, and those of unseen labels."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.data.problem import Dataset, Ids, LabelMatrix, Mask, Split
from vsebench.protocols.base import assemble

Masks = tuple[Mask, Mask, Mask]  # (n_images,) each: the images of training, of validation and of the test

SHARE = 0.1  # of the images, for validation and for the test
EVERY = 9


def own_parts(parts: NDArray[np.str_]) -> Masks:
    """Return a data set's own partition; without validation images, those are every ninth training image."""
    valid = parts == "valid"
    if not valid.any():
        training = np.flatnonzero(parts == "train")
        valid[training[EVERY - 1 :: EVERY]] = True
    return parts == "train", valid, parts == "test"


def drawn_parts(n_images: int, rng: np.random.Generator) -> Masks:
    """Draw a tenth of the images for the test and a tenth for validation; the others train."""
    size = round(n_images * SHARE)
    place = np.empty(n_images, dtype=np.int64)
    place[np.argsort(rng.random(n_images), kind="stable")] = np.arange(n_images)
    return place >= 2 * size, (place >= size) & (place < 2 * size), place < size


def hold_out_images(dataset: Dataset, train: Mask, valid: Mask, test: Mask) -> Split:
    """Learn from the images of `train`, and after the choice of settings from those of `valid` as well.

    The masks are (n_images,); where `train` and `valid` overlap, an image validates. Images of no mask are left out.

    Images without a label are kept: they count in the normalisation, but have no ranks. In a data
    set with features, an image without them is neither validated nor tested on, whatever the method: no model could
    score it by its features.
    """
    train, valid, test = apart(dataset, train, valid, test)
    parts = tuple(pairs_of(dataset.labels, mask) for mask in (train, valid, test))
    images = tuple(ids(mask) for mask in (train, valid, train | valid, test))
    return assemble(parts, images)  # type: ignore[arg-type]


def apart(dataset: Dataset, train: Mask, valid: Mask, test: Mask) -> Masks:
    """Return the parts with validation images that do not train, and none without features to validate or test on."""
    train = train & ~valid
    if dataset.with_features is not None:
        valid, test = valid & dataset.with_features, test & dataset.with_features
    return train, valid, test


def pairs_of(labels: LabelMatrix, images: Mask, among: Mask | None = None) -> LabelMatrix:
    """Return the pairs of some images, (n_images,), and labels, (n_labels,), or all; other rows are empty."""
    kept = images[labels.image_of_pair]
    if among is not None:
        kept = kept & among[labels.label_of_pair]
    return LabelMatrix.from_pairs(labels.to_pairs().filter(pl.Series(kept)), labels.n_rows, labels.n_labels)


def ids(mask: Mask) -> Ids:
    """Return the numbers where a mask is true."""
    return np.flatnonzero(mask).astype(np.int32)
