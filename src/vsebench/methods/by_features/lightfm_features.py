"""WARP of the package LightFM on image features: an image's vector is the weighted sum of its features' vectors.

Source: Kula, "Metadata Embeddings for User and Item Cold-start Recommendations", CBRecSys 2015. Images take the role of
users, with user features but without an identity, so new images have vectors as well. A label counts once per image.
The biases of features are left out: they change no rank of an image's labels, and WARP's loss does not depend on them.
The package is optional (`make setup-peers`).
"""

import numpy as np
from scipy import sparse

from vsebench.data.problem import Problem
from vsebench.methods.base import Method, Progress
from vsebench.methods.by_features.biased_features import BiasedFeatures
from vsebench.methods.by_features.seen import FeatureSettings, see
from vsebench.methods.by_labels.lightfm_model import LightfmSettings, new_lightfm, positives_of


class LightfmFeaturesSettings(LightfmSettings, FeatureSettings):
    """Settings of LightFM's WARP on image features."""


class LightfmFeatures(Method):
    """LightFM's WARP on image features. It runs on one thread: with several, results depend on their timing."""

    settings_type = LightfmFeaturesSettings
    needs = frozenset({"features"})

    def __init__(self, problem: Problem, settings: LightfmFeaturesSettings) -> None:
        self.seen = see(problem, settings)
        self.positives = positives_of(self.seen.labels)
        self.rows = sparse.csr_matrix(self.seen.rows)
        self.rows.indices, self.rows.indptr = (a.astype(np.int32) for a in (self.rows.indices, self.rows.indptr))
        self.lightfm = new_lightfm(settings, problem.seed)

    def epoch(self) -> Progress:
        self.lightfm.fit_partial(self.positives, user_features=self.rows, epochs=1, num_threads=1)
        return Progress(None)

    def model(self) -> BiasedFeatures:
        label = np.hstack([self.lightfm.item_embeddings, self.lightfm.item_biases[:, np.newaxis]])
        return BiasedFeatures(self.lightfm.user_embeddings.copy(), label, self.seen.normalisation)


METHOD = LightfmFeatures
