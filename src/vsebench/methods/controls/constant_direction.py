"""Control: one ranking for all images, by the similarity of a label's word vector and the mean word vector.

The similarity is the inner product or the cosine. The mean word vector is the mean, over all training pairs (image,
label), of the label's word vector. A method that used word vectors but ignored the images would give this ranking.
"""

import numpy as np

from vsebench.methods.base import Control
from vsebench.methods.words.word_network import Score, normalise_rows
from vsebench.methods.words.word_vectors import WordSettings, label_vectors
from vsebench.models import Embeddings


class ConstantDirectionSettings(WordSettings):
    """Settings of the ranking that all images share."""

    score: Score = "dot"  # the inner product or the cosine of a label's vector and the mean vector


class ConstantDirection(Control):
    """Ranks the labels in the same order for all images; the model has one factor, which is 1 for every image."""

    settings_type = ConstantDirectionSettings
    needs = frozenset({"word_vectors"})
    ranks_unseen = True

    def model(self) -> Embeddings:
        labels, vectors = self.problem.training.labels, label_vectors(self.problem, self.settings)
        mean = vectors[labels.label_of_pair].mean(axis=0)
        if self.settings.score == "cosine":
            vectors = normalise_rows(vectors)
        ones = np.ones((labels.n_rows, 1), dtype=np.float32)
        return Embeddings(ones, (vectors @ mean)[:, np.newaxis])


METHODS = {"constant_direction": ConstantDirection}
