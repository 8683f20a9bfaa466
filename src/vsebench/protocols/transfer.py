"""Protocol `from-<data set>`: train on one data set, test on the images and labels of another.

Both have the same kind of features, and labels are identified by their names. The stage `join` joins the data
sets: images and labels of the tested data set come first and so keep their numbers.
"""

import numpy as np

from vsebench.core.errors import UserError
from vsebench.data.problem import Dataset, Split, Training
from vsebench.protocols.base import Protocol
from vsebench.protocols.unseen import held_out
from vsebench.protocols.whole_images import apart, ids, own_parts, pairs_of


class Transfer(Protocol):
    """Training and validation images are from the data set `source`, test images from the tested data set.

    Labels without a word vector are left out, as in the protocols of unseen labels. Of the tested labels, only those
    that `source` also has are trained.
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
            raise UserError("this data set is not a join of two; run the workflow, whose stage `join` makes it")
        learnt, candidates = trained & known, tested & known
        train, valid, test = apart(dataset, *own_parts(dataset.parts))
        first = Training(pairs_of(dataset.labels, train, learnt), ids(train), learnt)
        final = Training(pairs_of(dataset.labels, train | valid, learnt), ids(train | valid), learnt)
        return Split(first, held_out(dataset.labels, valid, learnt), final, held_out(dataset.labels, test, candidates))
