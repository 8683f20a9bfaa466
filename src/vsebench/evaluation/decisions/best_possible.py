"""Best possible: the Bayes-optimal label sets under the known label distribution of simulated data.

The formulas and their source are in `evaluation.bayes`.
"""

from typing import Literal

from vsebench.data.problem import Mask
from vsebench.evaluation import bayes
from vsebench.evaluation.decisions.base import Decision, DecisionSettings, Scored

GOALS = {
    "exact_match": bayes.exact_match,
    "example_f1": bayes.example_f1,
    "hamming_distance": bayes.hamming_distance,
    "label_count": bayes.label_count,
}


class BestPossibleSettings(DecisionSettings):
    # what the label sets optimise: the expectation of this metric or, for `label_count`, the probability of the right
    # number of labels
    goal: Literal["exact_match", "example_f1", "hamming_distance", "label_count"]


class BestPossible(Decision):
    """An oracle that uses the known label distribution of simulated data instead of scores.

    With the goal `label_count`, no other rule predicts the right number of labels more often.
    """

    settings_type = BestPossibleSettings
    needs = frozenset({"label_distribution"})

    def decide(self, images: Scored) -> Mask:
        features = images.features()
        assert features is not None
        assert self.tuning.label_distribution is not None
        return GOALS[self.settings.goal](features, self.tuning.label_distribution).labels


DECISIONS = {"best_possible": BestPossible}
