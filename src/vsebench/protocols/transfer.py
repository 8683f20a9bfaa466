"""Protocol `from-<data set>`: trained on one data set, tested on the images and labels of another.

Both have the same kind of features, and labels of the same name are one label. The stage `join` puts the two together:
the images and labels of the tested data set first, so that they keep their numbers, then those of the other.
"""

import numpy as np

from vsebench.core.errors import UserError
from vsebench.data.problem import Dataset, Split, Training
from vsebench.protocols.base import Protocol
from vsebench.protocols.unseen import held_out
from vsebench.protocols.whole_images import apart, ids, own_parts, pairs_of


class Transfer(Protocol):
    """Training and validation images are those of the other data set, test images the tested one's.

    Labels without a word vector are left out, as where labels are unseen. Labels that both data sets have are trained,
    the tested one's others are not.

    Attributes
    ----------
    source : the data set that is trained on
    """

    new_images = True
    validation_metric = "map"
    fixed = True
    unseen = True

    def __init__(self, source: str) -> None:
        self.source = source
        self.words = f"labels and images of this data set, after training on {source}"

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        if dataset.parts is None or dataset.trained is None or dataset.tested is None or dataset.with_words is None:
            raise UserError("this data set is not joined from two; run the workflow, whose stage `join` makes it")
        learnt, asked = dataset.trained & dataset.with_words, dataset.tested & dataset.with_words
        train, valid, test = apart(dataset, *own_parts(dataset.parts))
        first = Training(pairs_of(dataset.labels, train, learnt), ids(train), learnt)
        final = Training(pairs_of(dataset.labels, train | valid, learnt), ids(train | valid), learnt)
        return Split(first, held_out(dataset.labels, valid, learnt), final, held_out(dataset.labels, test, asked))
