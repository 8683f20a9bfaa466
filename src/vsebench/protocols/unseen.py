"""Some labels are never trained: what the protocols of unseen labels share.

Three sets of labels have a word vector: those to learn, those that are asked for in validation, and the unseen ones,
which are asked for in the test. Settings are chosen with models that learn the first; the tested model learns the first
two. Labels without a word vector are in none.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", Table 2, which has
NUS-WIDE's 81 concepts unseen, alone or among 1,006 labels. Drawn labels are ours.
"""

from abc import abstractmethod

import numpy as np

from vsebench.core.errors import UserError
from vsebench.data.problem import Dataset, HeldOut, Ids, LabelMatrix, Mask, Split, Training
from vsebench.protocols.base import Protocol
from vsebench.protocols.whole_images import apart, drawn_parts, ids, own_parts, pairs_of

EVERY = 5  # one label of so many is held out
FEWEST = EVERY + 1  # labels with a word vector, so that one is unseen and one of the others is asked for in validation


class UnseenLabels(Protocol):
    """A fifth of the labels with a word vector is unseen, and a fifth of the others asked for in validation.

    Test images are those of the data set's own partition, or else a tenth that is drawn. Images without a label to
    learn stay in training.
    """

    new_images = True
    validation_metric = "map"
    unseen = True

    def generator(self, seed: int) -> np.random.Generator:
        """Return the generator of the prototypes, whose three draws are those of the seeds 1, 2 and 3."""
        return np.random.default_rng(99 + seed)

    @abstractmethod
    def draw(self, labels: Ids, frequency: Ids, rng: np.random.Generator) -> Ids:
        """Draw a fifth of some labels, rounded down; `frequency` is the number of images of each of them."""

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        if dataset.with_words is None:
            raise UserError("nothing says which labels have a word vector; name a source under `words`")
        labels = ids(dataset.with_words)
        if len(labels) < FEWEST:
            raise UserError(f"{len(labels)} labels have a word vector; {FEWEST} or more are needed to hold some out")
        frequency = np.bincount(dataset.labels.label_of_pair, minlength=dataset.labels.n_labels).astype(np.int32)
        unseen = self.draw(labels, frequency[labels], rng)
        seen = np.setdiff1d(labels, unseen)
        asked = self.draw(seen, frequency[seen], rng)
        n_labels = dataset.labels.n_labels
        masks = _mask(np.setdiff1d(seen, asked), n_labels), _mask(asked, n_labels), _mask(unseen, n_labels)
        return hold_out_labels(dataset, masks, self.only_unseen, rng)


def hold_out_labels(
    dataset: Dataset, labels: tuple[Mask, Mask, Mask], only_unseen: bool, rng: np.random.Generator
) -> Split:
    """Split images and labels.

    Parameters
    ----------
    labels : (n_labels,) each: to learn, asked for in validation, and unseen; no label is in two of them
    only_unseen : rank the labels alone that the model has not learnt; else those that it has learnt as well
    rng : draws the images, where the data set has no partition of its own
    """
    learnt, asked, unseen = labels
    matrix, parts = dataset.labels, dataset.parts
    masks = drawn_parts(matrix.n_rows, rng) if parts is None else own_parts(parts)
    train, valid, test = apart(dataset, *masks)
    seen = learnt | asked
    first = Training(pairs_of(matrix, train, learnt), ids(train), learnt)
    final = Training(pairs_of(matrix, train | valid, seen), ids(train | valid), seen)
    return Split(
        first,
        held_out(matrix, valid, asked if only_unseen else seen),
        final,
        held_out(matrix, test, unseen if only_unseen else seen | unseen),
    )


def held_out(labels: LabelMatrix, images: Mask, candidates: Mask) -> HeldOut:
    """Return new images, of which nothing is known, and the candidates among their labels."""
    rows = ids(images)
    right = pairs_of(labels, images, candidates).rows(rows)
    return HeldOut(rows, right, LabelMatrix.empty(len(rows), labels.n_labels), candidates)


def _mask(labels: Ids, n_labels: int) -> Mask:
    mask = np.zeros(n_labels, dtype=np.bool_)
    mask[labels] = True
    return mask
