"""Whole images are held out: what the protocols `images` and `official` share."""

import numpy as np
import polars as pl

from vsebench.problem import Dataset, Ids, LabelMatrix, Mask, Split
from vsebench.protocols.base import assemble


def hold_out_images(dataset: Dataset, train: Mask, valid: Mask, test: Mask) -> Split:
    """Learn from the images of `train`, and after the choice of settings from those of `valid` as well.

    The masks are (n_images,); where `train` and `valid` overlap, an image validates. Images of no mask are left out.

    Images without a label are kept: they count in the normalisation, but have no ranks. In a data
    set with features, an image without them is neither validated nor tested on, whatever the method: no model could
    score it by its features.
    """
    train = train & ~valid
    if dataset.with_features is not None:
        valid, test = valid & dataset.with_features, test & dataset.with_features
    parts = tuple(_rows_of(dataset.labels, mask) for mask in (train, valid, test))
    images = tuple(_ids(mask) for mask in (train, valid, train | valid, test))
    return assemble(parts, images)  # type: ignore[arg-type]


def _rows_of(labels: LabelMatrix, mask: Mask) -> LabelMatrix:
    pairs = labels.to_pairs().filter(pl.Series(mask[labels.image_of_pair]))
    return LabelMatrix.from_pairs(pairs, labels.n_rows, labels.n_labels)


def _ids(mask: Mask) -> Ids:
    return np.flatnonzero(mask).astype(np.int32)
