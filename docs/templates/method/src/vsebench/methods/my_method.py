"""my_method: state here the score of a label and its source (paper, equation).

    score of b = sum over the image's labels a of n_ab / (n_a + smoothing)

n_ab images have both labels, and n_a images have label a.
"""

import numpy as np
from pydantic import Field

from vsebench.data.problem import Problem
from vsebench.kernels.cooccurrence import count_together
from vsebench.methods.base import Control, Settings
from vsebench.models import LabelWeights


class MyMethodSettings(Settings):
    """Settings, each with a type and a range."""

    smoothing: float = Field(gt=0)  # images


class MyMethod(Control):
    """A method without epochs; a method that is trained in epochs is derived from `Method` instead."""

    settings_type = MyMethodSettings
    needs = frozenset({"known_labels"})  # keys of `vsebench.data.needs.NEEDS`

    def __init__(self, problem: Problem, settings: MyMethodSettings) -> None:
        self.labels, self.settings = problem.training.labels, settings

    def model(self) -> LabelWeights:
        labels = self.labels
        together = count_together(labels.offsets, labels.label_of_pair, labels.n_labels)
        weight = together / (np.diag(together)[:, np.newaxis] + self.settings.smoothing)
        np.fill_diagonal(weight, 0.0)
        return LabelWeights(weight.astype(np.float32))


METHODS = {"my_method": MyMethod}
