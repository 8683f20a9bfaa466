"""The base class of protocols, and functions that find a protocol by its name."""

import zlib
from abc import ABC, abstractmethod
from functools import cache
from types import ModuleType
from typing import ClassVar

import numpy as np

from vsebench.core.errors import UserError, did_you_mean
from vsebench.core.modules import modules_that_define
from vsebench.data.problem import Dataset, HeldOut, Ids, LabelMatrix, Split, Training


class Protocol(ABC):
    """A way to hold out labels or images for validation and test.

    The dictionary `PROTOCOLS` of each module contains the module's protocols.
    """

    description: str  # what is held out, for tables and the report
    new_images: ClassVar[bool]  # whether test images are not used in training, so that methods need features
    validation_metric: ClassVar[str]  # the metric by which settings and epochs are chosen, unless a run names another
    leaves_cold: ClassVar[bool] = False  # whether an image's only label can be held out
    by_occurrence: ClassVar[bool] = False  # whether single occurrences (regions) are held out, not whole labels
    fixed: ClassVar[bool] = False  # whether all seeds share one split, so that settings are chosen once for all seeds
    unseen: ClassVar[bool] = False  # whether some candidates are never trained, so that word vectors are needed
    only_unseen: ClassVar[bool] = False  # whether no candidate is trained, so that methods need other data about labels

    @property
    def seen_and_unseen(self) -> bool:
        """Whether trained (seen) and untrained (unseen) labels are ranked together."""
        return self.unseen and not self.only_unseen

    def generator(self, name: str, seed: int) -> np.random.Generator:
        """Return the random generator for a split by the protocol `name`; its numbers are the same on every machine."""
        return np.random.Generator(np.random.PCG64([seed, zlib.crc32(name.encode())]))

    @abstractmethod
    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        """Split a data set; if this is impossible, raise a `UserError`."""


FROM = "from-"  # prefix of the names of the protocols `Transfer` (in `unseen.py`); the name of a data set follows


def known_protocols() -> list[str]:
    """Return the names of all protocols except `from-<data set>`."""
    return list(modules_that_define("PROTOCOLS", "protocols"))


@cache
def load_protocol(name: str) -> Protocol:
    """Return the protocol with this name; an unknown name raises a `UserError` that lists the known names."""
    source = source_of(name)
    if not source and name not in known_protocols():
        nearest, known = did_you_mean(name, known_protocols()), ", ".join(known_protocols())
        raise UserError(f"there is no protocol {name!r}; {nearest}the protocols are {known}, {FROM}<data set>")
    module = module_of_protocol(name)
    protocol: Protocol = module.Transfer(source) if source else module.PROTOCOLS[name]()
    return protocol


def module_of_protocol(name: str) -> ModuleType:
    """Return the module that defines a known protocol."""
    return modules_that_define("PROTOCOLS", "protocols")["unseen_labels" if source_of(name) else name]


def source_of(protocol: str) -> str | None:
    """Return the name of the data set to train on if `protocol` is `from-<data set>`, and None otherwise."""
    return protocol.removeprefix(FROM) if protocol.startswith(FROM) else None


def split_dataset(protocol: str, dataset: Dataset, seed: int) -> Split:
    """Split a data set by a protocol.

    If this is impossible, or if no label is left for training, validation or the test, a `UserError` is raised.
    """
    rules = load_protocol(protocol)
    split = rules.split(dataset, rules.generator(protocol, seed))
    parts = {"training": split.first.labels, "validation": split.valid.right, "the test": split.test.right}
    for name, part in parts.items():
        if part.n_pairs == 0:
            raise UserError(f"protocol {protocol!r} leaves no label for {name}; use another protocol")
    return split


def assemble(parts: tuple[LabelMatrix, LabelMatrix, LabelMatrix], images: tuple[Ids, Ids, Ids, Ids]) -> Split:
    """Return a split in which all labels are trained and are candidates.

    `parts` contains the training, validation and test labels, each with one row per image of the data set. `images`
    contains the images of the parts `first`, `valid`, `final` and `test` of the split, as (n,) ascending numbers.
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
