"""A model that several methods share: a network that maps images into the space of the labels' vectors.

h_0 = x,   h_k = max(0, h_(k-1) W_k + b_k),   f(x) = h_last W + b,   score of label l = <f(x), v_l> + a_l

x contains the normalised features of an image, v_l is the label's vector, and a_l is the label's offset. W_k and b_k
are the weights and intercepts of hidden layer k, and W and b are those of the last layer. If scores are cosines, f(x)
and v_l are scaled to length 1. All labels have vectors, so labels that the model was not trained on have scores, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from vsebench.data.features import Normalisation
from vsebench.data.problem import Matrix, Queries
from vsebench.methods.by_features.linear_map import dense
from vsebench.methods.networks.network import HiddenLayers
from vsebench.models import check_matrix, norm

Score = Literal["dot", "cosine"]


@dataclass(frozen=True)
class WordNetwork(HiddenLayers):
    """Scores are inner products of a label's vector with the network's outputs, plus the label's offset.

    Attributes
    ----------
    output : (units + 1, d) float32: weights and, in the last row, intercepts of the last layer
    label : (n_labels, d + 1) float32: the labels' vectors and, in the last column, their offsets
    cosine : () bool, whether the outputs are scaled to length 1
    """

    kind: ClassVar[str] = "word_network"
    biased: ClassVar[bool] = True
    hidden: Sequence[Matrix]
    output: Matrix
    label: Matrix
    cosine: NDArray[np.bool_]
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_matrix(self.output, "output", (None, None))
        self.check_hidden(len(self.output) - 1)
        check_matrix(self.label, "label", (None, self.output.shape[1] + 1))
        if self.cosine.shape != () or self.cosine.dtype != np.bool_:
            raise ValueError(f"cosine is {self.cosine.dtype} of shape {self.cosine.shape}, not one bool")

    @classmethod
    def of(
        cls,
        hidden: Sequence[Matrix],
        output: Matrix,
        vectors: Matrix,
        added: NDArray[np.floating],
        score: Score,
        normalisation: Normalisation,
    ) -> "WordNetwork":
        """Return a model with the layers, label `vectors`, (n_labels, d), and label offsets `added`, (n_labels,)."""
        if score == "cosine":
            vectors = normalise_rows(vectors)
        label = np.hstack([vectors, added[:, np.newaxis]]).astype(np.float32)
        return cls(hidden, output, label, np.array(score == "cosine"), normalisation)

    def vectors(self, queries: Queries) -> Matrix:
        outputs: Matrix = dense(self.units(queries, len(self.output) - 1) @ self.output[:-1]) + self.output[-1]
        if self.cosine:
            outputs = normalise_rows(outputs)
        return np.hstack([outputs, np.ones((len(outputs), 1), dtype=np.float32)])

    def largest_score(self) -> float:
        # Features are checked when they are read, so only the weights can be infinite or NaN.
        return float(np.prod([norm(layer) for layer in (*self.hidden, self.output, self.label)]))


def normalise_rows(rows: Matrix) -> Matrix:
    """Return the rows scaled to length 1; a row of zeros stays unchanged."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    divided: Matrix = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return divided


MODELS = {"word_network": WordNetwork}
