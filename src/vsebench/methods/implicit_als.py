"""Implicit ALS, as the package implicit has it: conjugate gradient, the same weight for every negative.

Source: Hu, Koren and Volinsky, "Collaborative Filtering for Implicit Feedback Datasets", ICDM 2008; Takacs, Pilaszy and
Tikk, "Applications of the conjugate gradient method for implicit feedback collaborative filtering", RecSys 2011. Labels
count once an image. The optional packages have to be installed (`make setup-peers`).
"""

import numpy as np
import scipy.sparse
from implicit.cpu.als import AlternatingLeastSquares
from pydantic import Field

from vsebench.core.workers import Workers
from vsebench.methods.base import Embeddings, EpochReport, FactorSettings, Method
from vsebench.problem import LabelMatrix


class AlsSettings(FactorSettings):
    """Settings of implicit ALS."""

    confidence: float = Field(gt=0)  # weight of a positive, where a negative weighs 1
    regularisation: float = Field(ge=0)  # L2, on each row


class Model(Method):
    """Implicit ALS; an epoch solves for the images, then for the labels."""

    settings_type = AlsSettings

    def __init__(self, train: LabelMatrix, settings: AlsSettings, seed: int, workers: Workers) -> None:
        confidence = np.full(train.n_pairs, settings.confidence, dtype=np.float32)
        shape = (train.n_images, train.n_labels)
        self.weights = scipy.sparse.csr_matrix((confidence, train.labels, train.offsets), shape=shape, copy=True)
        self.als = AlternatingLeastSquares(
            factors=settings.factors, regularization=settings.regularisation, iterations=1, num_threads=workers.threads,
            random_state=seed,
        )  # fmt: skip

    def epoch(self) -> EpochReport:
        # With one iteration, each call goes on from the factors of the last one.
        self.als.fit(self.weights, show_progress=False)
        return EpochReport(None)

    def scorer(self) -> Embeddings:
        return Embeddings(self.als.user_factors, self.als.item_factors)
