"""The base class of methods that take stochastic gradient steps on image features."""

from typing import Any

from vsebench.data.problem import Problem
from vsebench.data.streams import Stream
from vsebench.kernels.sgd.image_rows import ImageRows, new_image_rows
from vsebench.kernels.sgd.pipeline import Positives
from vsebench.kernels.sgd.sampling import Streams
from vsebench.kernels.sgd.warp import Trials, new_trials
from vsebench.methods.base import Method
from vsebench.methods.by_features.seen import FeatureSettings, see
from vsebench.methods.by_labels.sgd import positives_of


class FeatureMethod(Method):
    """Base class that prepares what the kernels need: features, positives, settings for negatives, and random numbers.

    Images without features are left out of training. Features are scaled to unit length after the other normalisation
    steps, since step sizes assume features of length 1.

    An epoch takes one step per positive. A label that occurs twice on an image counts as two positives. Each step
    depends on the steps before it, so steps are not run in parallel, and a seed gives the same model with any number of
    threads.
    """

    needs = frozenset({"features"})
    gives = frozenset({"trials"})
    settings: Any  # of the class `settings_type`

    def __init__(self, problem: Problem, settings: FeatureSettings) -> None:
        self.settings, self.seen = settings, see(problem, settings, unit_length=True)
        self.trials = self.trials_of(self.seen.labels.n_labels)
        self.rows: ImageRows = new_image_rows(self.seen.rows)
        self.positives: Positives = positives_of(self.seen.labels)
        self.steps = len(self.positives.pairs)
        self.rng = Streams.of(problem.seed, Stream.POSITIVES, Stream.NEGATIVES, Stream.NEGATIVES_AGAIN)

    @staticmethod
    def trials_of(n_labels: int) -> Trials:
        """Return the settings for drawing the negatives of a step.

        They are the settings of WARP, unless a method overrides this function.
        """
        return new_trials(n_labels)

    @property
    def dimensions(self) -> int:
        """The number of features, d."""
        return int(self.seen.rows.shape[1])
