"""What methods share that learn from image features step by step."""

from typing import TypeVar

from pydantic import Field

from vsebench.data.problem import Problem
from vsebench.data.streams import Stream
from vsebench.kernels.sgd.image_rows import ImageRows, new_image_rows
from vsebench.kernels.sgd.pipeline import Positives
from vsebench.kernels.sgd.sampling import Streams
from vsebench.methods.base import Method
from vsebench.methods.by_features.seen import FeatureSettings, see
from vsebench.methods.by_labels.sgd import positives_of

AnySettings = TypeVar("AnySettings", bound=FeatureSettings)


def of_unit_length(settings: AnySettings) -> AnySettings:
    """Return the settings with `l2` as the last step of the normalisation: a step size is for features of length 1."""
    steps = settings.normalise or ()
    return settings if steps[-1:] == ("l2",) else settings.model_copy(update={"normalise": (*steps, "l2")})


class PassiveAggressiveSettings(FeatureSettings):
    """Settings of passive-aggressive steps."""

    aggressiveness: float = Field(gt=0)  # c, the largest step


class FeatureMethod(Method):
    """Features and labels as kernels read them, and streams of random numbers; images without features are left out.

    Features are scaled to unit length after the steps of the normalisation.

    An epoch takes as many steps as there are positives, a label counted as often as it is on the image. Steps depend on
    each other, so they are not run in parallel, and a seed gives the same bytes on any number of threads.
    """

    needs = frozenset({"features"})

    def __init__(self, problem: Problem, settings: FeatureSettings) -> None:
        self.seen = see(problem, of_unit_length(settings))
        self.rows: ImageRows = new_image_rows(self.seen.rows)
        self.positives: Positives = positives_of(self.seen.labels)
        self.steps = len(self.positives.pairs)
        self.rng = Streams.of(problem.seed, Stream.POSITIVES, Stream.NEGATIVES, Stream.NEGATIVES_AGAIN)

    @property
    def dimensions(self) -> int:
        """Number of features, d."""
        return int(self.seen.rows.shape[1])
