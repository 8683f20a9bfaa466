"""Linear models of an image's known labels: each known label adds a weight to the score of every other label.

In this module's docstrings, X is the binary label matrix, in which a label counts once per image.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.data.chunks import even_chunks
from vsebench.kernels.cooccurrence import count_together, weigh_together
from vsebench.methods.base import Control, Settings, Size
from vsebench.models import LabelWeights

ROWS_AT_ONCE = 512  # rows of a matrix of labels x labels that are copied together, to save memory


class EaseSettings(Settings):
    """Settings of EASE."""

    regularisation: float = Field(gt=0)  # lambda, the penalty on squared weights


class Ease(Control):
    """EASE: weights that predict each label from an image's other labels, in closed form.

    With P = (X^T X + lambda I)^-1, where X is the binary label matrix, the weights are B = I - P D. Here, D is the
    diagonal matrix diag(1 / diag P), which contains the reciprocals of P's diagonal. The diagonal of B is zero.

    Source: Steck, "Embarrassingly Shallow Autoencoders for Sparse Data", WWW 2019, Eq. 8.
    """

    settings_type: ClassVar[type[EaseSettings]] = EaseSettings
    needs = frozenset({"known_labels"})

    @classmethod
    def least_memory(cls, size: Size, settings: EaseSettings) -> int:
        return (8 + 4) * size.labels**2  # X'X, which its inverse overwrites, and the weights

    def model(self) -> LabelWeights:
        labels = self.problem.training.labels
        gram = count_together(labels.offsets, labels.label_of_pair, labels.n_labels)
        gram[np.diag_indices_from(gram)] += self.ridge(np.diag(gram))
        invert(gram)
        diagonal = np.diag(gram).copy()
        weight = np.empty(gram.shape, dtype=np.float32)
        for start, stop in even_chunks(len(gram), ROWS_AT_ONCE):
            weight[start:stop] = -gram[start:stop] / diagonal
        np.fill_diagonal(weight, 0.0)
        return LabelWeights(weight)

    def ridge(self, frequency: NDArray[np.float64]) -> NDArray[np.float64] | float:
        """Return what is added to the diagonal of X'X: one number for all labels, or one per label, (n_labels,).

        `frequency`, (n_labels,), contains the number of images with each label.
        """
        return float(self.settings.regularisation)


class EdlaeSettings(EaseSettings):
    """Settings of EDLAE."""

    dropout: float = Field(ge=0, lt=1)  # p, the probability that a label of an image is dropped from the input


class Edlae(Ease):
    """EDLAE: EASE with a penalty that grows with a label's frequency, as if training dropped known labels at random.

    The weights are computed as in `Ease`, but with P = (X^T X + lambda I + p / (1 - p) diag(X^T X))^-1, where p is the
    setting `dropout`. With p = 0, this is EASE.

    Source: Steck, "Autoencoders that don't overfit towards the identity", NeurIPS 2020, the full-rank model with all
    emphasis on dropped labels.
    """

    settings_type = EdlaeSettings

    def ridge(self, frequency: NDArray[np.float64]) -> NDArray[np.float64]:
        p: float = self.settings.dropout
        penalties: NDArray[np.float64] = self.settings.regularisation + p / (1 - p) * frequency
        return penalties


class KnnSettings(Settings):
    """Settings of label neighbours."""

    neighbours: int = Field(ge=1)  # number of neighbours of each label to score (all other labels if there are fewer)
    # Added to the denominator of a similarity, so that rare labels get smaller similarities.
    shrinkage: float = Field(ge=0)


def table_memory(size: Size) -> int:
    """Return the memory of the two (n_labels, n_labels) float64 matrices of `ItemKnn` and `Rp3Beta`, in bytes."""
    return 2 * 8 * size.labels**2


class ItemKnn(Control):
    """Label neighbours: the weights are a label's similarities to its nearest neighbours.

    The similarity of labels a and b is a shrunk cosine, n_ab / (sqrt(n_a n_b) + shrinkage), where n_a images have label
    a, n_b have label b, and n_ab have both. Each label to score keeps the similarities to its nearest neighbours; in
    the source, each known label does.

    Source: Deshpande and Karypis, "Item-based top-N recommendation algorithms", ACM TOIS 2004.
    """

    settings_type = KnnSettings
    needs = frozenset({"known_labels"})

    @classmethod
    def least_memory(cls, size: Size, settings: KnnSettings) -> int:
        return table_memory(size)

    def model(self) -> LabelWeights:
        labels = self.problem.training.labels
        together = count_together(labels.offsets, labels.label_of_pair, labels.n_labels)
        frequency = np.diag(together).copy()
        scale = np.sqrt(np.outer(frequency, frequency)) + self.settings.shrinkage
        similarity = np.divide(together, scale, out=np.zeros_like(together), where=scale > 0)
        np.fill_diagonal(similarity, 0.0)
        keep_largest(similarity.T, self.settings.neighbours)
        return LabelWeights(similarity.astype(np.float32))


class Rp3BetaSettings(Settings):
    """Settings of RP3beta."""

    beta: float = Field(ge=0)  # exponent of a label's frequency in the divisor of its scores
    # Number of other labels to which each known label gives a weight (all of them if there are fewer).
    neighbours: int = Field(ge=1)


class Rp3Beta(Control):
    """RP3beta: a label's score is the probability that a random walk ends there, divided by the label's frequency^beta.

    The walk takes three steps: from an image to one of its labels a, then to one of the n_a images j with a, and then
    to one of the |C_j| labels of j. In each step, all choices have the same probability. The probability of the first
    step is left out, because it is the same for all scores of an image. So the weight of a known label a for label b,
    which n_b images have, is

        W_ab = sum over images j with a and b of 1 / (n_a |C_j|)  /  n_b^beta

    In each row of W, only the `neighbours` largest weights are kept.

    Source: Paudel, Christoffel, Newell and Bernstein, "Updatable, accurate, diverse, and scalable recommendations for
    interactive applications", ACM TiiS 7(1), 2017.
    """

    settings_type = Rp3BetaSettings
    needs = frozenset({"known_labels"})

    @classmethod
    def least_memory(cls, size: Size, settings: Rp3BetaSettings) -> int:
        return table_memory(size)

    def model(self) -> LabelWeights:
        labels = self.problem.training.labels
        per_image = 1.0 / np.maximum(labels.n_labels_of_row, 1)
        weight = weigh_together(labels.offsets, labels.label_of_pair, per_image, labels.n_labels)
        frequency = np.maximum(np.bincount(labels.label_of_pair, minlength=labels.n_labels), 1).astype(np.float64)
        weight /= np.outer(frequency, frequency**self.settings.beta)
        np.fill_diagonal(weight, 0.0)
        keep_largest(weight, self.settings.neighbours)
        return LabelWeights(weight.astype(np.float32))


def invert(matrix: NDArray[np.float64]) -> None:
    """Invert a symmetric, positive definite matrix in place, by a Cholesky decomposition.

    Raises a `LinAlgError` if the matrix is not positive definite in floating point.
    """
    from scipy.linalg.lapack import dpotrf, dpotri  # imported here, because other methods of this module need no SciPy

    columns = matrix.T  # LAPACK reads matrices by columns; the transposed view saves it a copy
    factor, failed = dpotrf(columns, lower=0, overwrite_a=1, clean=0)
    inverse, failed_too = dpotri(factor, lower=0, overwrite_c=1)
    if failed or failed_too:
        raise np.linalg.LinAlgError("not positive definite")
    assert np.shares_memory(inverse, matrix)
    for start, stop in even_chunks(len(matrix), ROWS_AT_ONCE):  # LAPACK wrote only one half
        own = np.tril(matrix[start:stop, start:stop])
        matrix[start:stop, start:stop] = own + np.tril(own, -1).T
        matrix[start:stop, stop:] = matrix[stop:, start:stop].T


def keep_largest(rows: NDArray[np.float64], n: int) -> None:
    """Set all numbers but the n largest of each row to 0, in place.

    Of equal numbers, those in the first columns are kept.
    """
    if n < rows.shape[1]:
        order = np.argsort(-rows, axis=1, kind="stable")
        np.put_along_axis(rows, order[:, n:], 0.0, axis=1)


METHODS = {"ease": Ease, "edlae": Edlae, "item_knn": ItemKnn, "rp3beta": Rp3Beta}
