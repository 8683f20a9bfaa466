"""WARP from the package LightFM, on labels or image features, with Adagrad and a maximum number of trials per step.

Source: Kula, "Metadata Embeddings for User and Item Cold-start Recommendations", CBRecSys 2015; Weston, Bengio and
Usunier, "WSABIE", IJCAI 2011. A label counts once per image. Training runs on one thread: with several threads, results
depend on the threads' timing. The package is optional (`make setup-peers`).
"""

import math

import numpy as np
from lightfm import LightFM
from pydantic import Field
from scipy import sparse

from vsebench.data.problem import LabelMatrix, Problem
from vsebench.methods.base import FactorSettings, Method, Progress
from vsebench.methods.by_features.linear_map import BiasedFeatures
from vsebench.methods.by_features.seen import FeatureSettings, see
from vsebench.models import Embeddings


class LightfmSettings(FactorSettings):
    """Settings of LightFM's WARP."""

    learning_rate: float = Field(gt=0)  # the learning rate of Adagrad
    regularisation: float = Field(ge=0)  # the L2 penalty on the vectors of images and labels
    trials: int = Field(ge=1)  # maximum number of negatives examined per step


class LightfmFeaturesSettings(LightfmSettings, FeatureSettings):
    """Settings of LightFM's WARP on image features."""


class LightfmWarp(Method):
    """LightFM's WARP, with biases of images and labels."""

    settings_type = LightfmSettings
    needs = frozenset({"known_labels"})

    def __init__(self, problem: Problem, settings: LightfmSettings) -> None:
        self.positives = positives_of(problem.training.labels)
        self.lightfm = new_lightfm(settings, problem.seed)

    def epoch(self) -> Progress:
        return epoch_of(self.lightfm, self.positives)

    def model(self) -> Embeddings:
        """Return the model, with the labels' biases as an additional factor.

        The images' biases are left out, because they do not affect the ranks of an image's labels.
        """
        ones = np.ones((len(self.lightfm.user_embeddings), 1), dtype=np.float32)
        image = np.hstack([self.lightfm.user_embeddings, ones])
        label = np.hstack([self.lightfm.item_embeddings, self.lightfm.item_biases[:, np.newaxis]])
        return Embeddings(image, label)


class LightfmFeatures(Method):
    """LightFM's WARP on image features: an image's vector is the weighted sum of its features' vectors.

    Images take the role of LightFM's users. An image has no vector of its own, so the model can also score new images.
    The biases of features are left out: they affect neither the ranks of an image's labels nor WARP's loss.
    """

    settings_type = LightfmFeaturesSettings
    needs = frozenset({"features"})

    def __init__(self, problem: Problem, settings: LightfmFeaturesSettings) -> None:
        self.seen = see(problem, settings)
        self.positives = positives_of(self.seen.labels)
        self.rows = sparse.csr_matrix(self.seen.rows)
        self.rows.indices, self.rows.indptr = (a.astype(np.int32) for a in (self.rows.indices, self.rows.indptr))
        self.lightfm = new_lightfm(settings, problem.seed)

    def epoch(self) -> Progress:
        return epoch_of(self.lightfm, self.positives, self.rows)

    def model(self) -> BiasedFeatures:
        label = np.hstack([self.lightfm.item_embeddings, self.lightfm.item_biases[:, np.newaxis]])
        return BiasedFeatures(self.lightfm.user_embeddings.copy(), label, self.seen.normalisation)


def positives_of(train: LabelMatrix) -> sparse.coo_matrix:
    """Return the label matrix in LightFM's format, with 1 for each positive."""
    ones = np.ones(train.n_pairs, dtype=np.float32)
    pairs = (ones, train.label_of_pair, train.offsets)
    return sparse.csr_matrix(pairs, shape=(train.n_rows, train.n_labels), copy=True).tocoo()


def new_lightfm(settings: LightfmSettings, seed: int) -> LightFM:
    """Return a WARP model of LightFM before its first epoch."""
    return LightFM(
        no_components=settings.factors, loss="warp", learning_rate=settings.learning_rate,
        item_alpha=settings.regularisation, user_alpha=settings.regularisation, max_sampled=settings.trials,
        random_state=seed % 2**32,  # larger seeds are not allowed
    )  # fmt: skip


def epoch_of(lightfm: LightFM, positives: sparse.coo_matrix, rows: sparse.csr_matrix | None = None) -> Progress:
    """Train for one epoch.

    The loss is NaN if a parameter is no longer finite. Otherwise, it is None, because LightFM does not report it.

    rows : the features of the images; None: each image has its own vector
    """
    try:
        lightfm.fit_partial(positives, user_features=rows, epochs=1, num_threads=1)
    except ValueError:  # "Not all estimated parameters are finite"; inputs were checked before
        return Progress(math.nan)
    return Progress(None)


METHODS = {"lightfm_warp": LightfmWarp, "lightfm_features": LightfmFeatures}
