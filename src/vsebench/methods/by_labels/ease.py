"""EASE: a linear model that predicts each label from an image's other labels, in closed form.

Source: Steck, "Embarrassingly Shallow Autoencoders for Sparse Data", WWW 2019, Eq. 8: with P = (X^T X + lambda I)^-1,
the weights are B = I - P diag(1 / diag P), whose diagonal is zero. X is binary: a label counts once per image.
"""

import numpy as np
from pydantic import Field

from vsebench.kernels.cooccurrence import count_together
from vsebench.methods.base import Control, Settings
from vsebench.models import LabelWeights


class EaseSettings(Settings):
    """Settings of EASE."""

    regularisation: float = Field(gt=0)  # lambda, the penalty on squared weights


class Ease(Control):
    """EASE."""

    settings_type = EaseSettings
    needs = frozenset({"known_labels"})

    def model(self) -> LabelWeights:
        labels = self.problem.training.labels
        gram = count_together(labels.offsets, labels.label_of_pair, labels.n_labels)
        gram[np.diag_indices_from(gram)] += self.settings.regularisation
        inverse = np.linalg.inv(gram)
        weight = -inverse / np.diag(inverse)
        np.fill_diagonal(weight, 0.0)
        return LabelWeights(weight.astype(np.float32))


METHOD = Ease
