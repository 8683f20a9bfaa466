"""Protocol `labelled_images`: split the images with a label at random, as is common for NUS-WIDE's 81 concepts.

Of the 209,347 images of NUS-WIDE with a concept, 150,000 are training images and the others test images. No list of
such a split was published, so it is drawn for each seed.
"""

import numpy as np

from vsebench.data.problem import Dataset, Split
from vsebench.protocols.base import Protocol
from vsebench.protocols.whole_images import hold_out_images

TRAINED = 150_000 / 209_347  # share of the images with a label
VALIDATED = 0.05  # share of the training images


class LabelledImages(Protocol):
    """Images without a label are left out."""

    description = "images with a label held out, drawn at random"
    new_images = True
    validation_metric = "map"

    def split(self, dataset: Dataset, rng: np.random.Generator) -> Split:
        labelled = np.flatnonzero(dataset.labels.n_labels_of_row > 0)
        drawn = labelled[np.argsort(rng.random(len(labelled)), kind="stable")]
        n_train = round(len(drawn) * TRAINED)
        train, valid, test = (np.zeros(dataset.labels.n_rows, dtype=np.bool_) for _ in range(3))
        train[drawn[:n_train]] = True
        valid[drawn[: round(n_train * VALIDATED)]] = True
        test[drawn[n_train:]] = True
        return hold_out_images(dataset, train, valid, test)


PROTOCOL = LabelledImages
