"""Control: every image gets the same ranking, by how often a label occurs in training."""

from pathlib import Path

import numpy as np

from vsebench.methods.base import Embeddings, Settings, Untrained
from vsebench.problem import LabelMatrix


class Model(Untrained):
    """Popularity, as one factor that is 1 for every image; occurrences count, not images."""

    def __init__(self, train: LabelMatrix, settings: Settings, seed: int, processed: Path) -> None:
        occurrences = np.bincount(train.labels, weights=train.counts, minlength=train.n_labels)
        self.model = Embeddings(
            np.ones((train.n_images, 1), dtype=np.float32), occurrences.astype(np.float32)[:, np.newaxis]
        )

    def scorer(self) -> Embeddings:
        return self.model
