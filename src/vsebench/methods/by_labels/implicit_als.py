"""ALS (alternating least squares) by conjugate gradients, from the package implicit.

Source: Hu, Koren and Volinsky, "Collaborative Filtering for Implicit Feedback Datasets", ICDM 2008; Takacs, Pilaszy and
Tikk, "Applications of the conjugate gradient method for implicit feedback collaborative filtering", RecSys 2011. All
negatives have the same weight. A label counts once per image. The package is optional (`make setup-peers`).
"""

import math

import numpy as np
import scipy.sparse
from implicit.cpu.als import AlternatingLeastSquares
from implicit.recommender_base import ModelFitError
from pydantic import Field

from vsebench.data.problem import Problem
from vsebench.methods.base import FactorSettings, Method, Progress
from vsebench.models import Embeddings


class AlsSettings(FactorSettings):
    """Settings of ALS from the package implicit."""

    confidence: float = Field(gt=0)  # weight of a positive; negatives have weight 1
    regularisation: float = Field(ge=0)  # the L2 penalty on each vector


class ImplicitAls(Method):
    """ALS from the package implicit; an epoch updates the vectors of all images, then those of all labels."""

    settings_type = AlsSettings
    needs = frozenset({"known_labels"})

    def __init__(self, problem: Problem, settings: AlsSettings) -> None:
        train = problem.training.labels
        confidence = np.full(train.n_pairs, settings.confidence, dtype=np.float32)
        shape = (train.n_rows, train.n_labels)
        self.weights = scipy.sparse.csr_matrix((confidence, train.label_of_pair, train.offsets), shape=shape, copy=True)
        self.als = AlternatingLeastSquares(
            factors=settings.factors, regularization=settings.regularisation, iterations=1,
            num_threads=problem.workers.threads, random_state=problem.seed,
        )  # fmt: skip

    def epoch(self) -> Progress:
        # With one iteration per call, each call continues from the factors of the previous call.
        try:
            self.als.fit(self.weights, show_progress=False)
        except ModelFitError:  # a factor is NaN
            return Progress(math.nan)
        return Progress(None)

    def model(self) -> Embeddings:
        return Embeddings(self.als.user_factors, self.als.item_factors)


METHODS = {"implicit_als": ImplicitAls}
