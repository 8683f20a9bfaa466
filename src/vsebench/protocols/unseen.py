"""Protocols with labels that are never trained: `unseen_labels` and its variants, and `from-<data set>`.

`unseen_labels` and its variants divide the labels with a word vector into labels to learn, validation labels and unseen
labels. Settings are chosen with models that are trained on the labels to learn, and that rank the validation labels.
The tested model is trained on the labels to learn and on the validation labels, and ranks the unseen labels.
`unseen_labels_all` ranks them together with the trained labels. Labels without a word vector are left out.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", Table 2. There,
NUS-WIDE's 81 concepts are unseen, and are ranked alone or among 1,006 labels. Drawing unseen labels is our choice.
"""

from abc import abstractmethod

import numpy as np

from vsebench.core.errors import UserError
from vsebench.data.problem import Dataset, HeldOut, Ids, LabelMatrix, Mask, Split, Training, ids_of, mask_of
from vsebench.protocols.base import Protocol
from vsebench.protocols.images import apart, drawn_parts, own_parts, pairs_of

EVERY = 5  # one in five labels is held out
FEWEST = EVERY + 1  # fewest labels with word vectors that allow one unseen and one validation label


class UnseenLabels(Protocol):
    """A fifth of the labels with a word vector are unseen labels, and a fifth of the others are validation labels.

    If the data set names its unseen labels (`Dataset.unseen`), only validation labels are drawn.

    Test images are taken from the official partition. If the data set has no such partition, a tenth of the images is
    drawn for the test. Images without a label to learn stay among the training images.
    """

    new_images = True
    validation_metric = "map"
    unseen = True

    def generator(self, name: str, seed: int) -> np.random.Generator:
        """Return a generator with the seed 99 + `seed`; with this seed, splits are the same as in earlier versions."""
        return np.random.default_rng(99 + seed)

    @abstractmethod
    def draw(self, labels: Ids, frequency: Ids, rng: np.random.Generator) -> Ids:
        """Draw a fifth of the labels, rounded down to a whole number of labels.

        `labels` and `frequency` are (n,): the labels' numbers, and the number of images with each label.
        """

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        if dataset.with_word_vectors is None:
            raise UserError("no word vectors are configured for this data set; name a source under `word_vectors`")
        labels = ids_of(dataset.with_word_vectors)
        if len(labels) < FEWEST:
            raise UserError(f"only {len(labels)} labels have a word vector; at least {FEWEST} are needed")
        frequency = np.bincount(dataset.labels.label_of_pair, minlength=dataset.labels.n_labels).astype(np.int32)
        unseen = self.draw(labels, frequency[labels], rng) if dataset.unseen is None else ids_of(dataset.unseen)
        seen = np.setdiff1d(labels, unseen)
        if len(seen) < EVERY:
            raise UserError(
                f"only {len(seen)} seen labels have a word vector; at least {EVERY} are needed;"
                " to rank all labels with methods that are not trained, use the protocol 'images'"
            )
        validated = self.draw(seen, frequency[seen], rng)
        n_labels = dataset.labels.n_labels
        learnt, asked, never = (mask_of(of, n_labels) for of in (np.setdiff1d(seen, validated), validated, unseen))
        return hold_out_labels(dataset, (learnt, asked, never), self.only_unseen, rng)


class DrawnLabels(UnseenLabels):
    """The unseen labels are drawn uniformly, and only they are ranked."""

    description = "labels that were never trained, ranked alone"
    only_unseen = True

    def draw(self, labels: Ids, frequency: Ids, rng: np.random.Generator) -> Ids:
        return labels[rng.permutation(len(labels))[: len(labels) // EVERY]]


class AmongAllLabels(DrawnLabels):
    """All labels with a word vector are ranked, so the trained labels of a test image are also held out."""

    description = "labels that were never trained, ranked among all labels"
    only_unseen = False


class DrawnByFrequency(UnseenLabels):
    """Of every five labels that are consecutive by frequency, one is drawn as unseen; only unseen labels are ranked."""

    description = "only labels that were never trained are ranked; they are drawn evenly by frequency"
    only_unseen = True

    def draw(self, labels: Ids, frequency: Ids, rng: np.random.Generator) -> Ids:
        order = labels[np.argsort(-frequency, kind="stable")]
        firsts = np.arange(len(labels) // EVERY) * EVERY
        return np.asarray(order[firsts + rng.integers(0, EVERY, len(firsts))])


class Transfer(Protocol):
    """The protocol `from-<data set>`: train on the data set `source`, test on another data set.

    The data sets must have the same kind of features. The stage `join` joins the data sets: images and labels of the
    tested data set come first, so they keep their numbers. Labels with the same name become one label.

    Labels without a word vector are left out, as under `unseen_labels`. Tested labels that do not occur in `source` are
    never trained.
    """

    new_images = True
    validation_metric = "map"
    fixed = True
    unseen = True

    def __init__(self, source: str) -> None:
        self.source = source
        self.description = f"labels and images of this data set, after training on {source}"

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        known, trained, tested = dataset.with_word_vectors, dataset.trained, dataset.tested
        if dataset.parts is None or trained is None or tested is None or known is None:
            raise UserError("this protocol needs two joined data sets; run the workflow, which joins them")
        learnt, candidates = trained & known, tested & known
        train, valid, test = apart(dataset, *own_parts(dataset.parts))
        first = Training(pairs_of(dataset.labels, train, learnt), ids_of(train), learnt)
        final = Training(pairs_of(dataset.labels, train | valid, learnt), ids_of(train | valid), learnt)
        return Split(first, held_out(dataset.labels, valid, learnt), final, held_out(dataset.labels, test, candidates))


PROTOCOLS = {
    "unseen_labels": DrawnLabels,
    "unseen_labels_all": AmongAllLabels,
    "unseen_labels_by_frequency": DrawnByFrequency,
}


def hold_out_labels(
    dataset: Dataset, labels: tuple[Mask, Mask, Mask], only_unseen: bool, rng: np.random.Generator
) -> Split:
    """Split images and labels.

    `labels` contains three disjoint masks, (n_labels,) each: the labels to learn, the validation labels and the unseen
    labels. With `only_unseen`, only the validation labels are candidates in validation, and only the unseen labels in
    the test. Without it, the labels that the model has learnt are also candidates. `rng` is used to draw the validation
    and test images if the data set has no official partition.
    """
    learnt, validated, unseen = labels
    matrix, parts = dataset.labels, dataset.parts
    masks = drawn_parts(matrix.n_rows, rng) if parts is None else own_parts(parts)
    train, valid, test = apart(dataset, *masks)
    seen = learnt | validated
    first = Training(pairs_of(matrix, train, learnt), ids_of(train), learnt)
    final = Training(pairs_of(matrix, train | valid, seen), ids_of(train | valid), seen)
    return Split(
        first,
        held_out(matrix, valid, validated if only_unseen else seen),
        final,
        held_out(matrix, test, unseen if only_unseen else seen | unseen),
    )


def held_out(labels: LabelMatrix, images: Mask, candidates: Mask) -> HeldOut:
    """Return the held-out images; no label is known, and only labels that are candidates are held out."""
    rows = ids_of(images)
    right = pairs_of(labels, images, candidates).rows(rows)
    return HeldOut(rows, right, LabelMatrix.empty(len(rows), labels.n_labels), candidates)
