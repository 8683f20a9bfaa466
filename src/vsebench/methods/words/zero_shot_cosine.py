"""Zero-shot cosine: labels are ranked by the cosine of the image's features and their word vectors, without training.

    score of label l for image x = <x, v_l> / (|x| |v_l|)

Features and word vectors come from one network that maps images and texts into one space, such as CLIP. They are used
without normalisation steps. Labels without a word vector and images without features have the score 0.

Source: Radford and others, "Learning transferable visual models from natural language supervision", ICML 2021.
"""

import numpy as np

from vsebench.core.errors import UserError
from vsebench.data.features import Normalisation
from vsebench.data.problem import Matrix, Problem
from vsebench.methods.by_features.seen import FeatureControl
from vsebench.methods.words.word_network import WordNetwork


class ZeroShotCosine(FeatureControl):
    """Ranks labels by the cosine of features and word vectors; the model is a network with one layer, the identity.

    Raises
    ------
    UserError
        Features and word vectors have different dimensions.
    """

    needs = frozenset({"features", "word_vectors"})
    ranks_unseen = True

    def model(self) -> WordNetwork:
        words, features = word_vectors_among_features(self.problem, "zero_shot_cosine"), self.problem.features
        assert features is not None
        identity = np.eye(words.shape[1] + 1, words.shape[1], dtype=np.float32)  # its last row, the intercepts, is 0
        unchanged = Normalisation.fit((), features, self.problem.training.images)
        return WordNetwork.of([], identity, words, np.zeros(len(words)), "cosine", unchanged)


def word_vectors_among_features(problem: Problem, method: str) -> Matrix:
    """Return the labels' word vectors, (n_labels, d) float32, unless features have another number of dimensions.

    `problem` has features and word vectors; `method` is named in the `UserError` that other dimensions raise.
    """
    features, words = problem.features, problem.word_vectors
    assert features is not None
    assert words is not None
    if features.dimensions != words.dimensions:
        numbers = f"features have {features.dimensions} numbers and word vectors {words.dimensions}"
        raise UserError(f"{numbers}; {method} needs both from the same network, such as CLIP")
    return words.vectors


METHODS = {"zero_shot_cosine": ZeroShotCosine}
