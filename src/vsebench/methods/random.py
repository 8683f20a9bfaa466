"""Control: a random ranking for each image."""

from pathlib import Path

import numpy as np

from vsebench.methods.base import Embeddings, Settings, Untrained, padded_start
from vsebench.problem import LabelMatrix

FACTORS = 32


class Model(Untrained):
    """Random embeddings; label vectors of unit length, so that none is ranked high more often than another."""

    def __init__(self, train: LabelMatrix, settings: Settings, seed: int, processed: Path) -> None:
        rng = np.random.default_rng([seed, 1])
        labels = padded_start(train.n_labels, FACTORS, 1.0, rng)
        labels /= np.linalg.norm(labels, axis=1, keepdims=True)
        self.model = Embeddings(padded_start(train.n_images, FACTORS, 1.0, rng), labels)

    def scorer(self) -> Embeddings:
        return self.model
