"""Whole images are held out: what the protocols `images` and `official` share."""

import numpy as np
import polars as pl

from vsebench.problem import Dataset, Ids, LabelMatrix, Mask, Split
from vsebench.protocols.base import assemble


def hold_out_images(dataset: Dataset, valid: Mask, test: Mask) -> Split:
    """Split by two masks, (n_images,) bool each: `first` has the images in neither, `final` those of `valid` too.

    Images without a label are kept: they count in the normalisation and in predicted sets, but have no ranks.
    """
    train = ~(valid | test)
    parts = tuple(_rows_of(dataset.labels, mask) for mask in (train, valid, test))
    images = tuple(_ids(mask) for mask in (train, valid, train | valid, test))
    return assemble(parts, images)  # type: ignore[arg-type]


def _rows_of(labels: LabelMatrix, mask: Mask) -> LabelMatrix:
    pairs = labels.to_pairs().filter(pl.Series(mask[labels.image_of_pair]))
    return LabelMatrix.from_pairs(pairs, labels.n_rows, labels.n_labels)


def _ids(mask: Mask) -> Ids:
    return np.flatnonzero(mask).astype(np.int32)
