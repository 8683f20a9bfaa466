"""Control: a random ranking for each image."""

import numpy as np

from vsebench.data.streams import Stream, generator
from vsebench.methods.base import Control
from vsebench.methods.by_labels.start import padded_start
from vsebench.models import Embeddings

FACTORS = 32


class Random(Control):
    """Random embeddings; label vectors have unit length, so that every label ranks high equally often."""

    ranks_unseen = True

    def model(self) -> Embeddings:
        rng = generator(self.problem.seed, Stream.START)
        matrix = self.problem.training.labels
        labels = padded_start(matrix.n_labels, FACTORS, 1.0, rng)
        labels /= np.linalg.norm(labels, axis=1, keepdims=True)
        return Embeddings(padded_start(matrix.n_rows, FACTORS, 1.0, rng), labels)


METHOD = Random
