"""The annotations that every adapter returns, and functions that adapters share."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.core.schemas import PAIRS
from vsebench.data.features import Features

CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029]")  # Unicode's category Cc, and its line and paragraph separators


class Dropped(NamedTuple):
    """What an adapter left out: the kind (such as "images"), how many of them were left out, and the reason."""

    what: str
    number: int
    why: str


@dataclass(frozen=True)
class RawAnnotations:
    """The images of a data set with their labels, as read from its files.

    Attributes
    ----------
    images : ids of the images, as the files spell them (String), without duplicates
    labels : names of all labels of the vocabulary, including labels that no image has
    pairs : table with the Int32 columns image, label (positions in `images` and `labels`) and count (how often the
        image has the label); the (image, label) pairs are distinct and in ascending order
    dropped : what the adapter left out
    parts : "train", "valid" or "test" for each image (String), null for an image in no part; None for a data set
        without an official partition
    features : image features, rows in the order of `images`; None if there are none, or if they are in `sets`
    sets : name of a set of features -> its features, with rows in the order of `images`; empty unless there are several
        sets of features
    truth : arrays that only a simulator knows; None for real data. If there is an array `image`, it has one row per
        image. If there is an array `label`, it has one row per label. The topic model (`simulator.py`) with T topics
        has the float32 arrays `image`, (n_images, T), and `label`, (n_labels, T). The matrix image @ label.T contains
        the probability of each label for each image. The modules `tree_posterior` and `label_probabilities` in
        `methods.controls` describe the arrays of the other simulators
    """

    images: pl.Series
    labels: Sequence[str]
    pairs: pl.DataFrame
    dropped: list[Dropped] = field(default_factory=list)
    parts: pl.Series | None = None
    features: Features | None = None
    truth: dict[str, NDArray[Any]] | None = None
    sets: Mapping[str, Features] = field(default_factory=dict)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Mask of the images that have features, (n_images,) bool.

        If there are several sets of features, the mask is True only for images that have features in every set.
        """
        sets = [*self.sets.values(), *([] if self.features is None else [self.features])]
        no_image = np.zeros(len(self.images), dtype=np.bool_)
        return np.logical_and.reduce([features.known for features in sets]) if sets else no_image


def image_ids(ids: Iterable[object]) -> pl.Series:
    """Return the ids of images as a String series."""
    return pl.Series("id", [str(image) for image in ids], dtype=pl.String)


def count_pairs(images: NDArray[np.integer], labels: NDArray[np.integer], n_labels: int) -> pl.DataFrame:
    """Count how often each (image, label) pair occurs.

    Pair i consists of the image number `images[i]` and the label number `labels[i]`. Returns a table with the Int32
    columns image, label and count. The rows are sorted by image, then by label.
    """
    keys = images.astype(np.int64) * n_labels + labels
    keys, counts = np.unique(keys, return_counts=True)
    image, label = np.divmod(keys, n_labels)
    return pl.DataFrame({"image": image, "label": label, "count": counts}).cast(PAIRS)


def sort_names(numbers: Mapping[str, int]) -> tuple[list[str], NDArray[np.int32]]:
    """Return the sorted names, and an array that maps the numbers of names to positions in the sorted list.

    `numbers` maps each name to its number, from 0 to n - 1. The array has shape (n,) and dtype int32.
    """
    names = sorted(numbers)
    ranks = np.empty(len(names), dtype=np.int32)
    ranks[[numbers[name] for name in names]] = np.arange(len(names), dtype=np.int32)
    return names, ranks


def fault_of(name: str) -> str | None:
    """Return what is wrong with the name of a label or the id of an image; None if nothing is.

    Control characters are faults, because some of them, such as a line break, would cut a row of a table in two.
    """
    if not name.strip():
        return "has an empty name"
    if found := CONTROL.search(name):
        return f"{name[:60]!r} contains {found[0]!r}; remove control characters and line breaks from names"
    return None


def check_names(names: Sequence[str], where: str, what: str, unit: str = "line") -> None:
    """Raise a `UserError` if a name is empty, has a control character, or occurs twice.

    `where` is the file that lists the `names`, one per line, in this order. `unit` is the word that messages use for a
    line, such as 'row'. `what` is the kind of name, such as 'image'.
    """
    for number, name in enumerate(names, 1):
        if fault := fault_of(name):
            raise UserError(f"{where}: {unit} {number}: the {what} {fault}")
    check_unique(names, where, what)


def check_unique(names: Sequence[str], where: str, what: str) -> None:
    """Raise a `UserError` if a name occurs twice; `where` is the file, `what` the kind of name, such as 'image'."""
    if len(set(names)) < len(names):
        name, times = Counter(names).most_common(1)[0]
        raise UserError(f"{where}: the {what} {name!r} occurs {times} times; names must be unique")
