"""Zero-shot cosine: without training, labels are ranked by the cosine of their word vectors and the image's features.

    score of label l = <x, v_l> / (|x| |v_l|)

The image's features x and the label's word vector v_l come from one network that maps images and texts into one space,
such as CLIP. They are used without normalisation steps. A score is 0 for a label without a word vector, or for
an image without features.

Source: Radford and others, "Learning transferable visual models from natural language supervision", ICML 2021.
"""

import numpy as np

from vsebench.data.features import Normalisation
from vsebench.methods.by_features.seen import FeatureControl
from vsebench.methods.words.word_network import WordNetwork
from vsebench.methods.words.word_vectors import word_vectors_among_features


class ZeroShotCosine(FeatureControl):
    """Ranks labels by the cosine of an image's features and the label's word vector, without training.

    Raises
    ------
    UserError
        Features and word vectors have different numbers of dimensions.
    """

    needs = frozenset({"features", "word_vectors"})
    ranks_unseen = True

    def model(self) -> WordNetwork:
        words, features = word_vectors_among_features(self.problem, "zero_shot_cosine"), self.problem.features
        assert features is not None
        identity = np.eye(words.shape[1] + 1, words.shape[1], dtype=np.float32)  # its last row, the intercepts, is 0
        unchanged = Normalisation.fit((), features, self.problem.training.images)
        return WordNetwork.of([], identity, words, np.zeros(len(words)), "cosine", unchanged)


METHODS = {"zero_shot_cosine": ZeroShotCosine}
