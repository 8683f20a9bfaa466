"""What the methods share that take stochastic steps on (image, positive, negative)."""

import numpy as np
from pydantic import Field

from vsebench.kernels.random import new_state
from vsebench.labels import LabelMatrix
from vsebench.methods.base import Embeddings, FactorSettings, Method, normal_start
from vsebench.parallel import Workers


class SgdSettings(FactorSettings):
    """Settings of stochastic gradient descent."""

    learning_rate: float = Field(gt=0)  # eta, constant
    regularisation: float = Field(ge=0)  # L2, on the three rows of a step
    deviation: float = Field(gt=0)  # of the normal distribution that embeddings start from


class SgdMethod(Method):
    """Embeddings, the positives in the two forms that kernels read, and a stream of random numbers.

    An epoch takes as many steps as there are positives, a label counted as often as it is on the image. Steps depend on
    each other, so there is no parallel mode: `workers` stays unused and a seed gives the same bytes.
    """

    settings: SgdSettings

    def __init__(self, train: LabelMatrix, settings: SgdSettings, seed: int, workers: Workers) -> None:
        self.train, self.settings = train, settings
        start = np.random.default_rng([seed, 1])
        self.images = normal_start(train.n_images, settings.factors, settings.deviation, start)
        self.labels = normal_start(train.n_labels, settings.factors, settings.deviation, start)
        self.pair_image = np.repeat(train.images, train.counts)
        self.pair_label = np.repeat(train.labels, train.counts)
        self.steps = len(self.pair_image)
        self.rng = new_state(seed, 2)

    def scorer(self) -> Embeddings:
        return Embeddings(self.images, self.labels)
