"""Labels that are never trained: shared by the protocols of unseen labels.

The labels with a word vector are divided into labels to learn, validation labels and unseen labels. Settings are chosen
with models that learn the first set and rank the second; the tested model learns both and ranks the third. Labels
without a word vector are left out.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", Table 2, where
NUS-WIDE's 81 concepts are unseen, and ranked alone or among 1,006 labels. Drawing the unseen labels is our choice.
"""

from abc import abstractmethod

import numpy as np

from vsebench.core.errors import UserError
from vsebench.data.problem import Dataset, HeldOut, Ids, LabelMatrix, Mask, Split, Training
from vsebench.protocols.base import Protocol
from vsebench.protocols.whole_images import apart, drawn_parts, ids, own_parts, pairs_of

EVERY = 5  # one in this number of labels is held out
FEWEST = EVERY + 1  # labels with a word vector that are needed for an unseen label and a validation label


class UnseenLabels(Protocol):
    """A fifth of the labels with a word vector is unseen, and a fifth of the other labels is ranked in validation.

    Test images are those of the official partition, or else a tenth of the images, drawn at random. Images without a
    label to learn stay among the training images.
    """

    new_images = True
    validation_metric = "map"
    unseen = True

    def generator(self, seed: int) -> np.random.Generator:
        """Return the generator of this project's prototypes, so that seeds 1 to 3 give the splits of their draws."""
        return np.random.default_rng(99 + seed)

    @abstractmethod
    def draw(self, labels: Ids, frequency: Ids, rng: np.random.Generator) -> Ids:
        """Draw a fifth of the labels, rounded down; `frequency` contains the number of images of each label."""

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        if dataset.with_word_vectors is None:
            raise UserError("no word vectors are configured for this data set; name a source under `word_vectors`")
        labels = ids(dataset.with_word_vectors)
        if len(labels) < FEWEST:
            raise UserError(f"{len(labels)} labels have a word vector; {FEWEST} or more are needed to hold some out")
        frequency = np.bincount(dataset.labels.label_of_pair, minlength=dataset.labels.n_labels).astype(np.int32)
        unseen = self.draw(labels, frequency[labels], rng)
        seen = np.setdiff1d(labels, unseen)
        validated = self.draw(seen, frequency[seen], rng)
        n_labels = dataset.labels.n_labels
        masks = _mask(np.setdiff1d(seen, validated), n_labels), _mask(validated, n_labels), _mask(unseen, n_labels)
        return hold_out_labels(dataset, masks, self.only_unseen, rng)


def hold_out_labels(
    dataset: Dataset, labels: tuple[Mask, Mask, Mask], only_unseen: bool, rng: np.random.Generator
) -> Split:
    """Split images and labels.

    Parameters
    ----------
    labels : labels to learn, validation labels and unseen labels, (n_labels,) each and disjoint
    only_unseen : whether only labels that the model has not learnt are candidates
    rng : for data sets without an official partition
    """
    learnt, validated, unseen = labels
    matrix, parts = dataset.labels, dataset.parts
    masks = drawn_parts(matrix.n_rows, rng) if parts is None else own_parts(parts)
    train, valid, test = apart(dataset, *masks)
    seen = learnt | validated
    first = Training(pairs_of(matrix, train, learnt), ids(train), learnt)
    final = Training(pairs_of(matrix, train | valid, seen), ids(train | valid), seen)
    return Split(
        first,
        held_out(matrix, valid, validated if only_unseen else seen),
        final,
        held_out(matrix, test, unseen if only_unseen else seen | unseen),
    )


def held_out(labels: LabelMatrix, images: Mask, candidates: Mask) -> HeldOut:
    """Return images without known labels, and those of their labels that are candidates."""
    rows = ids(images)
    right = pairs_of(labels, images, candidates).rows(rows)
    return HeldOut(rows, right, LabelMatrix.empty(len(rows), labels.n_labels), candidates)


def _mask(labels: Ids, n_labels: int) -> Mask:
    mask = np.zeros(n_labels, dtype=np.bool_)
    mask[labels] = True
    return mask
