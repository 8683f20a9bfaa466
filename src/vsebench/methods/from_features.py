"""What methods share that learn from image features step by step."""

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.features import Normalisation, Rows, Step
from vsebench.kernels.image_rows import ImageRows, new_image_rows
from vsebench.kernels.pipeline import Positives
from vsebench.kernels.sampling import Streams
from vsebench.kernels.vectors import aligned, padded_size
from vsebench.kernels.warp import Trials, new_trials
from vsebench.methods.base import Method, Settings
from vsebench.methods.linear_map import LinearMap
from vsebench.methods.sgd import positives_of
from vsebench.problem import LabelMatrix, Matrix, Problem
from vsebench.streams import Stream


class FeatureSettings(Settings):
    """Settings of a method that sees images through their features."""

    # Steps that the features go through, in this order; none: those of the data set's file.
    normalise: tuple[Step, ...] | None = Field(default=None, strict=False)


@dataclass(frozen=True)
class Seen:
    """The images that a method learns from, those of the training images that have features.

    Attributes
    ----------
    rows : (n, d) float32, their normalised features, dense or CSR
    labels : n rows, their labels
    normalisation : as fitted to these images
    """

    rows: Rows
    labels: LabelMatrix
    normalisation: Normalisation


def see(problem: Problem, settings: FeatureSettings) -> Seen:
    """Return the images to learn from with their normalised features.

    Raises
    ------
    UserError
        None of the images has both features and a label, or the normalisation does not suit the features.
    """
    features, training = problem.features, problem.training
    assert features is not None
    images = training.images[features.known[training.images]]
    labels = training.labels.rows(images)
    if labels.n_pairs == 0:
        raise UserError("none of the images to learn from has both features and a label")
    normalisation = Normalisation.fit(settings.normalise or (), features, images)
    return Seen(normalisation.apply(features.rows(images)), labels, normalisation)


class FeatureMethod(Method):
    """Features and labels as kernels read them, and streams of random numbers; images without features are left out.

    An epoch takes as many steps as there are positives, a label counted as often as it is on the image. Steps depend on
    each other, so they are not run in parallel, and a seed gives the same bytes on any number of threads.
    """

    needs = frozenset({"features"})

    def __init__(self, problem: Problem, settings: FeatureSettings) -> None:
        self.seen = see(problem, settings)
        self.rows: ImageRows = new_image_rows(self.seen.rows)
        self.positives: Positives = positives_of(self.seen.labels)
        self.steps = len(self.positives.pairs)
        self.rng = Streams.of(problem.seed, Stream.POSITIVES, Stream.NEGATIVES, Stream.NEGATIVES_AGAIN)

    @property
    def dimensions(self) -> int:
        """Number of features, d."""
        return int(self.seen.rows.shape[1])


class LinearMethod(FeatureMethod):
    """A weight vector per label, from 0."""

    def __init__(self, problem: Problem, settings: FeatureSettings) -> None:
        super().__init__(problem, settings)
        self.weights = aligned(self.seen.labels.n_labels, padded_size(self.dimensions))

    def model(self) -> LinearMap:
        return linear_map(self.weights[:, : self.dimensions], self.seen.normalisation)


def linear_map(weights: Matrix, normalisation: Normalisation) -> LinearMap:
    """Return the model of weights (n_labels, d) float32 without an intercept."""
    return LinearMap(np.hstack([weights, np.zeros((len(weights), 1), dtype=np.float32)]), normalisation)


def one_trial(n_labels: int) -> Trials:
    """Return `Trials` of one negative each, whose loss has the weight 1: the margin loss for AUC."""
    trials = new_trials(n_labels, 1)
    return Trials(1, np.ones_like(trials.rank_loss), trials.candidates, trials.n_used)
