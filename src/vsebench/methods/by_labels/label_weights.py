"""Linear models of an image's known labels: each known label adds a weight to the score of every other label.

X is the binary label matrix, in which a label counts once per image.
"""

import numpy as np
from pydantic import Field

from vsebench.kernels.cooccurrence import count_together
from vsebench.methods.base import Control, Settings
from vsebench.models import LabelWeights


class EaseSettings(Settings):
    """Settings of EASE."""

    regularisation: float = Field(gt=0)  # lambda, the penalty on squared weights


class Ease(Control):
    """EASE: weights that predict each label from an image's other labels, in closed form.

    Source: Steck, "Embarrassingly Shallow Autoencoders for Sparse Data", WWW 2019, Eq. 8: with
    P = (X^T X + lambda I)^-1, the weights are B = I - P diag(1 / diag P), whose diagonal is zero.
    """

    settings_type = EaseSettings
    needs = frozenset({"known_labels"})

    def model(self) -> LabelWeights:
        labels = self.problem.training.labels
        gram = count_together(labels.offsets, labels.label_of_pair, labels.n_labels)
        gram[np.diag_indices_from(gram)] += self.settings.regularisation
        inverse = np.linalg.inv(gram)
        weight = -inverse / np.diag(inverse)
        np.fill_diagonal(weight, 0.0)
        return LabelWeights(weight.astype(np.float32))


class KnnSettings(Settings):
    """Settings of label neighbours."""

    neighbours: int = Field(ge=1)  # number of neighbours of each label (all other labels if there are fewer)
    shrinkage: float = Field(ge=0)  # a number of images that lowers the similarity of rare labels


class ItemKnn(Control):
    """Label neighbours: the weights are a label's similarities to its nearest neighbours.

    Source: Deshpande and Karypis, "Item-based top-N recommendation algorithms", ACM TOIS 2004, with the shrunk cosine
    similarity n_ab / (sqrt(n_a n_b) + shrinkage), where n_ab images have both labels.
    """

    settings_type = KnnSettings
    needs = frozenset({"known_labels"})

    def model(self) -> LabelWeights:
        labels = self.problem.training.labels
        together = count_together(labels.offsets, labels.label_of_pair, labels.n_labels)
        frequency = np.diag(together).copy()
        scale = np.sqrt(np.outer(frequency, frequency)) + self.settings.shrinkage
        similarity = np.divide(together, scale, out=np.zeros_like(together), where=scale > 0)
        np.fill_diagonal(similarity, 0.0)
        if self.settings.neighbours < len(similarity):
            # With a stable sort, the order of equally similar labels is the same on every machine.
            order = np.argsort(-similarity, axis=0, kind="stable")
            np.put_along_axis(similarity, order[self.settings.neighbours :], 0.0, axis=0)
        return LabelWeights(similarity.astype(np.float32))


METHODS = {"ease": Ease, "item_knn": ItemKnn}
