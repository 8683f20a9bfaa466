"""WARP as the package LightFM has it: Adagrad, biases, at most so many trials a step.

Source: Kula, "Metadata Embeddings for User and Item Cold-start Recommendations", CBRecSys 2015; Weston, Bengio and
Usunier, "WSABIE", IJCAI 2011. A label counts once an image. The optional packages have to be installed
(`make setup-peers`).
"""

import numpy as np
import scipy.sparse
from lightfm import LightFM
from pydantic import Field

from vsebench.core.workers import Workers
from vsebench.methods.base import Embeddings, EpochReport, FactorSettings, Method
from vsebench.problem import LabelMatrix


class LightfmSettings(FactorSettings):
    """Settings of LightFM's WARP."""

    learning_rate: float = Field(gt=0)  # of Adagrad
    regularisation: float = Field(ge=0)  # L2, on images and labels
    trials: int = Field(ge=1)  # at most so many negatives are looked at


class Model(Method):
    """LightFM's WARP. It runs on one thread: on several, its result depends on their timing."""

    settings_type = LightfmSettings

    def __init__(self, train: LabelMatrix, settings: LightfmSettings, seed: int, workers: Workers) -> None:
        ones = np.ones(train.n_pairs, dtype=np.float32)
        shape = (train.n_images, train.n_labels)
        self.positives = scipy.sparse.csr_matrix((ones, train.labels, train.offsets), shape=shape, copy=True).tocoo()
        self.model = LightFM(
            no_components=settings.factors, loss="warp", learning_rate=settings.learning_rate,
            item_alpha=settings.regularisation, user_alpha=settings.regularisation, max_sampled=settings.trials,
            random_state=seed,
        )  # fmt: skip

    def epoch(self) -> EpochReport:
        self.model.fit_partial(self.positives, epochs=1, num_threads=1)
        return EpochReport(None)

    def scorer(self) -> Embeddings:
        """Return the model with the labels' biases as one factor more; those of images move no rank."""
        ones = np.ones((len(self.model.user_embeddings), 1), dtype=np.float32)
        image = np.hstack([self.model.user_embeddings, ones])
        label = np.hstack([self.model.item_embeddings, self.model.item_biases[:, np.newaxis]])
        return Embeddings(image, label)
