"""What the methods share that take stochastic steps on (image, positive, negative)."""

import numpy as np
from pydantic import Field

from vsebench.kernels.lanes import LANES
from vsebench.kernels.random import new_state
from vsebench.methods.base import FactorSettings, Method
from vsebench.methods.start import padded_start
from vsebench.models import Embeddings
from vsebench.problem import Matrix, Problem
from vsebench.streams import Stream, generator


class SgdSettings(FactorSettings):
    """Settings of stochastic gradient descent."""

    learning_rate: float = Field(gt=0)  # eta, constant
    regularisation: float = Field(ge=0)  # L2, on the three rows of a step and on biases
    deviation: float = Field(gt=0)  # of the normal distribution that embeddings start from


class SgdMethod(Method):
    """Embeddings, the positives in the two forms that kernels read, and streams of random numbers.

    An epoch takes as many steps as there are positives, a label counted as often as it is on the image. Steps depend on
    each other, so they have no parallel mode, and a seed gives the same bytes on any number of threads.
    """

    needs = frozenset({"known_labels"})
    settings: SgdSettings

    def __init__(self, problem: Problem, settings: SgdSettings) -> None:
        train = problem.training.labels
        self.settings, self.workers = settings, problem.workers
        start = generator(problem.seed, Stream.START)
        self.images = padded_start(train.n_rows, settings.factors, settings.deviation, start)
        self.labels = padded_start(train.n_labels, settings.factors, settings.deviation, start)
        rows = np.repeat(train.image_of_pair, train.count_of_pair)
        columns = (
            rows,
            np.repeat(train.label_of_pair, train.count_of_pair),
            train.offsets[rows],
            train.offsets[rows + 1],
        )
        self.pairs = np.stack(columns, axis=1, dtype=np.int32, casting="same_kind")
        self.row_labels = np.concatenate([train.label_of_pair, np.zeros(LANES, dtype=np.int32)])
        self.steps = len(self.pairs)
        self.rng = np.concatenate(
            [new_state(problem.seed, stream) for stream in (Stream.POSITIVES, Stream.NEGATIVES, Stream.NEGATIVES_AGAIN)]
        )

    def model(self) -> Embeddings:
        k = self.settings.factors
        return Embeddings(np.ascontiguousarray(self.images[:, :k]), np.ascontiguousarray(self.labels[:, :k]))


def with_biases(model: Embeddings, biases: Matrix) -> Embeddings:
    """Return embeddings with the labels' biases (n_labels,) as one factor more."""
    ones = np.ones((len(model.image), 1), dtype=np.float32)
    return Embeddings(np.hstack([model.image, ones]), np.hstack([model.label, biases[:, np.newaxis]]))
