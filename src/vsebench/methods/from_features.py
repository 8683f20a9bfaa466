"""What methods share that learn from image features step by step."""

from dataclasses import dataclass

from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.features import Normalisation, Rows, Step
from vsebench.kernels.image_rows import ImageRows, new_image_rows
from vsebench.kernels.pipeline import Positives
from vsebench.kernels.sampling import Streams
from vsebench.methods.base import Method, Settings
from vsebench.methods.sgd import positives_of
from vsebench.problem import LabelMatrix, Problem
from vsebench.streams import Stream


class FeatureSettings(Settings):
    """Settings of a method that sees images through their features."""

    # Steps that the features go through, in this order; none: those of the data set's file.
    normalise: tuple[Step, ...] | None = Field(default=None, strict=False)


class PassiveAggressiveSettings(FeatureSettings):
    """Settings of passive-aggressive steps."""

    aggressiveness: float = Field(gt=0)  # c, the largest step


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
