"""PureSVD: the scores are the rows of the binary label matrix, projected onto its first right singular vectors.

Let X be the label matrix, and U S Q' its singular value decomposition, truncated to K factors. An image whose row of X
is x has the scores x Q Q'. The columns of Q are the K eigenvectors of X' X with the largest eigenvalues. A label counts
once per image.

Source: Cremonesi, Koren and Turrin, "Performance of recommender algorithms on top-N recommendation tasks", RecSys 2010.
"""

import numpy as np
from scipy import linalg, sparse

from vsebench.kernels.cooccurrence import count_together
from vsebench.methods.base import Control, FactorSettings, Size
from vsebench.models import Embeddings


class PureSvd(Control):
    """PureSVD; the number of factors is limited to the number of labels."""

    settings_type = FactorSettings
    needs = frozenset({"known_labels"})

    @classmethod
    def least_memory(cls, size: Size, settings: FactorSettings) -> int:
        return 2 * 8 * size.labels**2  # X' X, and the copy in which its eigenvectors are computed

    def model(self) -> Embeddings:
        labels = self.problem.training.labels
        gram = count_together(labels.offsets, labels.label_of_pair, labels.n_labels)
        first = max(0, labels.n_labels - self.settings.factors)  # eigenvalues ascend
        _, vectors = linalg.eigh(gram, subset_by_index=(first, labels.n_labels - 1))
        ones = np.ones(labels.n_pairs)
        rows = sparse.csr_array((ones, labels.label_of_pair, labels.offsets), shape=(labels.n_rows, labels.n_labels))
        image, label = (np.ascontiguousarray(side, dtype=np.float32) for side in (rows @ vectors, vectors))
        return Embeddings(image, label)


METHODS = {"pure_svd": PureSvd}
