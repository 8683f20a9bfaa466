"""ConSE: an image's vector is the weighted mean of the word vectors of its most probable labels.

    f(x) = sum of q_l v_l / sum of q_l   over the T labels with the largest q_l

v_l is the vector of label l. q_l is the score of label l from ridge regression, or 0 if this score is negative. T is
the setting `most_probable`. Only labels that are learnt and have a word vector can be among the T labels. All labels,
including those that are not learnt, are ranked by the cosine, or the inner product, of their vector and f(x).

Source: Norouzi and others, "Zero-shot learning by convex combination of semantic embeddings", ICLR 2014. There, the q_l
are outputs of a softmax.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.data.features import Normalisation
from vsebench.data.problem import Matrix, Queries
from vsebench.methods.by_features.least_squares import RidgeSettings, least_squares, weighted
from vsebench.methods.by_features.linear_map import dense
from vsebench.methods.by_features.seen import FeatureControl, see
from vsebench.methods.words.word_network import Score, normalise_rows
from vsebench.methods.words.word_vectors import WordSettings, label_vectors
from vsebench.models import Embedded, ModelOfFields, check_matrix, features_of, norm


class ConseSettings(RidgeSettings, WordSettings):
    """Settings of ConSE with ridge regression."""

    most_probable: int = Field(default=10, ge=1)  # T, the number of labels that contribute to an image's vector
    score: Score = "cosine"  # the inner product or the cosine of an image's vector and a label's vector


@dataclass(frozen=True)
class MeanOfProbable(ModelOfFields, Embedded):
    """Scores are inner products of a label's vector and the weighted mean vector of an image's most probable labels.

    Only n_seen labels can contribute to the mean: those that were learnt and have a word vector. A linear model
    estimates the probability of each of them; negative estimates are replaced by 0. The probabilities are the weights
    of the mean.

    Attributes
    ----------
    weight : (n_seen, n_features + 1) float32, the linear model: feature weights and, in the last column, intercepts
    seen : (n_seen, d) float32, the word vectors of the n_seen labels
    label : (n_labels, d) float32, the vectors of all labels
    most_probable : () int64, the number of labels that contribute to an image's mean
    cosine : () bool, whether the images' vectors are scaled to length 1
    normalisation : the normalisation fitted to the training images
    """

    kind = "conse"
    weight: Matrix
    seen: Matrix
    label: Matrix
    most_probable: NDArray[np.int64]
    cosine: NDArray[np.bool_]
    normalisation: Normalisation

    def __post_init__(self) -> None:
        check_matrix(self.label, "label", (None, None))
        check_matrix(self.weight, "weight", (None, None))
        check_matrix(self.seen, "seen", (len(self.weight), self.label.shape[1]))

    def vectors(self, queries: Queries) -> Matrix:
        rows = self.normalisation.apply(features_of(queries, self.weight.shape[1] - 1))
        probability = np.maximum(dense(rows @ self.weight[:, :-1].T) + self.weight[:, -1], 0)
        left_out = np.argsort(-probability, axis=1, kind="stable")[:, int(self.most_probable) :]
        np.put_along_axis(probability, left_out, 0, axis=1)
        sums = probability.sum(axis=1, keepdims=True)
        sums[sums == 0] = 1
        outputs: Matrix = probability @ self.seen / sums
        return normalise_rows(outputs) if self.cosine else outputs

    def largest_score(self) -> float:
        # A mean of vectors is not longer than the longest vector; a weight that is not finite makes the bound NaN.
        return norm(self.seen) * norm(self.label) + 0 * norm(self.weight)


class Conse(FeatureControl):
    """ConSE with ridge regression; images without features are left out of the regression."""

    needs = frozenset({"features", "word_vectors"})
    ranks_unseen = True
    settings_type = ConseSettings

    def model(self) -> MeanOfProbable:
        settings, word_vectors = self.settings, self.problem.word_vectors
        assert word_vectors is not None
        seen, vectors = see(self.problem, settings), label_vectors(self.problem, settings)
        classes = self.problem.training.learnt & word_vectors.known
        truth = weighted(seen.labels.columns(classes), np.ones(seen.labels.n_rows))
        weight = least_squares(seen.rows, truth, settings.regularisation)
        label = normalise_rows(vectors) if settings.score == "cosine" else vectors
        most_probable, cosine = np.array(settings.most_probable), np.array(settings.score == "cosine")
        return MeanOfProbable(weight, vectors[classes], label, most_probable, cosine, seen.normalisation)


MODELS = {"conse": MeanOfProbable}
METHODS = {"conse": Conse}
