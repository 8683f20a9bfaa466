"""The base class of protocols, and functions that find a protocol by its name."""

import importlib
import zlib
from abc import ABC, abstractmethod
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from vsebench.core.errors import UserError
from vsebench.data.problem import Dataset, HeldOut, Ids, LabelMatrix, Split, Training


class Protocol(ABC):
    """A way to hold out labels or images; the module of a protocol defines its subclass as `PROTOCOL`."""

    description: str  # what is held out, for tables and the report
    new_images: ClassVar[bool]  # whether test images are not used in training; then a method needs features
    validation_metric: ClassVar[str]  # chooses settings and epochs, unless a run names another metric
    leaves_cold: ClassVar[bool] = False  # whether an image can lose its only label, so that it has no training label
    by_occurrence: ClassVar[bool] = False  # whether single occurrences (regions) of a label are held out, not the label
    fixed: ClassVar[bool] = False  # whether all seeds have the same split; then a run's first seed chooses all settings
    unseen: ClassVar[bool] = False  # whether some candidates are never trained; then a data set needs word vectors
    only_unseen: ClassVar[bool] = False  # whether no candidate is trained; then a method needs other data on labels

    def generator(self, seed: int) -> np.random.Generator:
        """Return the random generator of a split; its numbers for a seed are the same on every machine."""
        name = type(self).__module__.rpartition(".")[2]
        return np.random.Generator(np.random.PCG64([seed, zlib.crc32(name.encode())]))

    @abstractmethod
    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        """Split a data set; if this is impossible, raise a `UserError`."""


@cache
def known_protocols() -> list[str]:
    """Return the names of the protocols' modules."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NO_PROTOCOLS)


NO_PROTOCOLS = ("__init__", "base", "labels", "transfer", "unseen", "whole_images")
FROM = "from-"  # followed by the name of a data set: the protocol in `transfer.py`


@cache
def load_protocol(name: str) -> Protocol:
    """Return the protocol with this name; an unknown name raises a `UserError` that lists the known names."""
    if source_of(name):
        transfer: Protocol = importlib.import_module("vsebench.protocols.transfer").Transfer(source_of(name))
        return transfer
    if name not in known_protocols():
        known = ", ".join(known_protocols())
        raise UserError(f"unknown protocol {name!r}; known protocols are {known}, {FROM}<data set>")
    protocol: type[Protocol] = importlib.import_module(f"vsebench.protocols.{name}").PROTOCOL
    return protocol()


def source_of(protocol: str) -> str | None:
    """Return the data set that a protocol trains on, or None if this is the tested data set."""
    return protocol.removeprefix(FROM) if protocol.startswith(FROM) else None


def split_generator(protocol: str, seed: int) -> np.random.Generator:
    return load_protocol(protocol).generator(seed)


def split_dataset(protocol: str, dataset: Dataset, seed: int) -> Split:
    """Split a data set by a protocol; if this is impossible, or if a part gets no label, raise a `UserError`."""
    split = load_protocol(protocol).split(dataset, split_generator(protocol, seed))
    parts = {"training": split.first.labels, "validation": split.valid.right, "the test": split.test.right}
    for name, part in parts.items():
        if part.n_pairs == 0:
            raise UserError(f"protocol {protocol!r} leaves no label for {name}")
    return split


def assemble(parts: tuple[LabelMatrix, LabelMatrix, LabelMatrix], images: tuple[Ids, Ids, Ids, Ids]) -> Split:
    """Return a split in which all labels are trained and are candidates.

    Parameters
    ----------
    parts : training, validation and test labels, one row per image of the data set
    images : the images of `first`, `valid`, `final` and `test`, each ascending
    """
    train, valid, test = parts
    first_images, valid_images, final_images, test_images = images
    all_labels = np.ones(train.n_labels, dtype=np.bool_)
    final = train + valid
    return Split(
        Training(train, first_images, all_labels),
        HeldOut(valid_images, valid.rows(valid_images), train.rows(valid_images), all_labels),
        Training(final, final_images, all_labels),
        HeldOut(test_images, test.rows(test_images), final.rows(test_images), all_labels),
    )
