"""Ridge regression of the mean, or the sum, of the word vectors of an image's labels, in closed form.

    f(x) = (x - mean of X) W + mean of T,   W = (Xc' Xc + a I)^-1 Xc' (T - mean of T)

The rows of T are the targets of `avg_wv`: T is a matrix of label shares times the label vectors. Ridge regression is
linear in its targets, so the solution for T is the solution for the shares, times the label vectors.

Source of the targets: Ni and others, "Sampled image tagging and retrieval methods on user generated content". The
closed form is ours; it does not overfit as the network does.
"""

import numpy as np

from vsebench.methods.by_features.least_squares import RidgeSettings, least_squares
from vsebench.methods.by_features.seen import FeatureControl, see
from vsebench.methods.words.avg_wv import Target, target_shares
from vsebench.methods.words.word_network import Score, WordNetwork
from vsebench.methods.words.word_vectors import WordSettings, label_vectors


class AvgWvRidgeSettings(RidgeSettings, WordSettings):
    """Settings of the ridge regression of word vectors."""

    target: Target = "mean"  # the mean or the sum of the word vectors of an image's labels
    score: Score = "dot"  # the inner product or the cosine of an image's vector and a label's vector


class AvgWvRidge(FeatureControl):
    """Ridge regression of word vectors; images without features are left out of the fit."""

    needs = frozenset({"features", "word_vectors"})
    ranks_unseen = True
    settings_type = AvgWvRidgeSettings

    def model(self) -> WordNetwork:
        settings, learnt = self.settings, self.problem.training.learnt
        seen, vectors = see(self.problem, settings), label_vectors(self.problem, settings)
        shares = target_shares(seen.labels.columns(learnt), settings.target)
        of_labels = least_squares(seen.rows, shares, settings.regularisation)
        output = (of_labels.T.astype(np.float64) @ vectors[learnt]).astype(np.float32)
        return WordNetwork.of([], output, vectors, np.zeros(len(vectors)), settings.score, seen.normalisation)


METHOD = AvgWvRidge
