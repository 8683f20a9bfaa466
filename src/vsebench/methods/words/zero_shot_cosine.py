"""Zero-shot cosine: labels are ranked by the cosine of the image's features and their word vectors, without training.

    score of label l for image x = <x, v_l> / (|x| |v_l|)

Features and word vectors come from one network that maps images and texts into one space, such as CLIP. They are used
without normalisation steps. Labels without a word vector and images without features have the score 0.

Source: Radford and others, "Learning transferable visual models from natural language supervision", ICML 2021.
"""

import numpy as np

from vsebench.core.errors import UserError
from vsebench.data.features import Normalisation
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
        features, words = self.problem.features, self.problem.word_vectors
        assert features is not None
        assert words is not None
        d = features.dimensions
        if d != words.dimensions:
            one_space = "zero_shot_cosine needs both from the same network, such as CLIP"
            raise UserError(f"features have {d} numbers and word vectors {words.dimensions}; {one_space}")
        identity = np.eye(d + 1, d, dtype=np.float32)  # its last row, the intercepts, is 0
        unchanged = Normalisation.fit((), features, self.problem.training.images)
        return WordNetwork.of([], identity, words.vectors, np.zeros(len(words.known)), "cosine", unchanged)


METHODS = {"zero_shot_cosine": ZeroShotCosine}
