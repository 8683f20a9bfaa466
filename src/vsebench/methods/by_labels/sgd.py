"""The base class of methods that take stochastic gradient steps on triples (image, positive, negative)."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from vsebench.data.problem import LabelMatrix, Problem
from vsebench.data.streams import Stream, generator
from vsebench.kernels.products import Embedding
from vsebench.kernels.sgd.pipeline import Positives, new_pipeline
from vsebench.kernels.sgd.sampling import Streams
from vsebench.kernels.sgd.steps import Rates
from vsebench.kernels.vectors import LANES
from vsebench.methods.base import FactorSettings, Method, Settings, Size
from vsebench.methods.by_labels.start import padded_start, start_memory
from vsebench.models import Embeddings


class SgdSettings(FactorSettings):
    """Settings of stochastic gradient descent."""

    learning_rate: float = Field(gt=0)  # eta, the same in all steps
    regularisation: float = Field(ge=0)  # the L2 penalty on the three vectors that a step changes
    deviation: float = Field(gt=0)  # standard deviation of the initial embeddings, which are normal


class SgdMethod(Method):
    """Base class that prepares the embeddings, positives, rates and random numbers that the kernels need.

    An epoch takes one step per positive; a label counts as often as it occurs on the image. A step depends on the
    steps before it, so one thread takes all steps. In the subclass `InParts`, several threads can take independent
    steps.
    """

    settings_type: ClassVar[type[Settings]] = SgdSettings
    needs = frozenset({"known_labels"})
    settings: SgdSettings

    def __init__(self, problem: Problem, settings: SgdSettings) -> None:
        train = problem.training.labels
        self.train, self.settings, self.workers = train, settings, problem.workers
        start = generator(problem.seed, Stream.START)
        self.images = padded_start(train.n_rows, settings.factors, settings.deviation, start)
        self.labels = padded_start(train.n_labels, settings.factors, settings.deviation, start)
        self.embedding = Embedding(self.images, self.labels)
        self.pipeline = new_pipeline(positives_of(train))
        self.steps = len(self.pipeline.positives.pairs)
        self.rates = Rates(settings.learning_rate, settings.regularisation)
        self.rng = Streams.of(problem.seed, Stream.POSITIVES, Stream.NEGATIVES, Stream.NEGATIVES_AGAIN)

    @classmethod
    def least_memory(cls, size: Size, settings: SgdSettings) -> int:
        return start_memory(size.images, size.labels, settings.factors)

    def model(self) -> Embeddings:
        k = self.settings.factors
        return Embeddings(np.ascontiguousarray(self.images[:, :k]), np.ascontiguousarray(self.labels[:, :k]))


def positives_of(train: LabelMatrix) -> Positives:
    """Return the positives in the kernels' format, each label repeated as often as it occurs on the image.

    An example: image 0 with label 3 once and label 5 twice, and image 1 with label 3:

        pairs       (0, 3, 0, 2), (0, 5, 0, 2), (0, 5, 0, 2), (1, 3, 2, 3)      image, label, start, stop
        row_labels  3, 5, 3, and 16 unused numbers                              [0:2] of image 0, [2:3] of image 1
    """
    images = np.repeat(train.image_of_pair, train.count_of_pair)
    pairs = np.empty((len(images), 4), dtype=np.int32)  # int32 is wide enough for the numbers of any `LabelMatrix`
    pairs[:, 0] = images
    pairs[:, 1] = np.repeat(train.label_of_pair, train.count_of_pair)
    pairs[:, 2] = train.offsets[:-1].astype(np.int32)[images]
    pairs[:, 3] = train.offsets[1:].astype(np.int32)[images]
    return Positives(pairs, np.concatenate([train.label_of_pair, np.zeros(LANES, dtype=np.int32)]))
