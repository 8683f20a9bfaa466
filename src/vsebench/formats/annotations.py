"""What every adapter returns, and the checks that all of them share."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.schemas import PAIRS
from vsebench.data.features import Features


class Dropped(NamedTuple):
    """Something that an adapter read and left out."""

    what: str
    number: int
    why: str


@dataclass(frozen=True)
class RawAnnotations:
    """The labels of a set of images as its files give them.

    Attributes
    ----------
    images : the external id of each image (String), each once
    labels : the name of each label of the vocabulary, including labels that no image has
    pairs : table with the columns image, label (row numbers of `images` and `labels`) and count, all Int32; each
        (image, label) once, in ascending order
    dropped : what was read and left out
    parts : "train", "valid" or "test" for each image (String) where the data set has an official partition, else None
    features : image features, rows in the order of `images`, where the data set has them, else None
    truth : what only a simulator knows; None for real data. Of the simulator of topics `image` (n_images, T) and
        `label` (n_labels, T), both float32, such that image @ label.T is the probability of each label for each image;
        of the tree what `methods.tree_posterior` reads; of independent labels and of a catalogue of label sets what
        `methods.independent_labels` and `methods.label_catalogue` read. `image` has one row per image, `label` one per
        label
    """

    images: pl.Series
    labels: Sequence[str]
    pairs: pl.DataFrame
    dropped: list[Dropped] = field(default_factory=list)
    parts: pl.Series | None = None
    features: Features | None = None
    truth: dict[str, NDArray[Any]] | None = None


def image_ids(ids: Iterable[object]) -> pl.Series:
    """Return the ids of images as a series of text."""
    return pl.Series("id", [str(image) for image in ids], dtype=pl.String)


def count_pairs(images: NDArray[np.integer], labels: NDArray[np.integer], n_labels: int) -> pl.DataFrame:
    """Count how often each (image, label) occurs in two parallel arrays.

    Returns a table with the columns image, label and count, all Int32, in ascending order.
    """
    keys = images.astype(np.int64) * n_labels + labels
    keys, counts = np.unique(keys, return_counts=True)
    image, label = np.divmod(keys, n_labels)
    return pl.DataFrame({"image": image, "label": label, "count": counts}).cast(PAIRS)


def check_unique(names: Sequence[str], where: str, what: str) -> None:
    """Raise a `UserError` if a name occurs twice; `where` is the file, `what` a kind of thing ('image')."""
    if len(set(names)) < len(names):
        name, times = Counter(names).most_common(1)[0]
        raise UserError(f"{where}: duplicate {what} {name!r} ({times} times)")
