"""EASE: a linear model that predicts each label from an image's other labels, in closed form.

Source: Steck, "Embarrassingly Shallow Autoencoders for Sparse Data", WWW 2019, Eq. 8: with P = (X^T X + lambda I)^-1,
the weights are B = I - P diag(1 / diag P), whose diagonal is zero. X is binary: a label counts once an image.
"""

import numpy as np
from pydantic import Field

from vsebench.core.workers import Workers
from vsebench.kernels.cooccurrence import count_together
from vsebench.methods.base import EpochReport, LabelWeights, Method, Settings
from vsebench.problem import LabelMatrix


class EaseSettings(Settings):
    """The one setting of EASE."""

    regularisation: float = Field(gt=0)  # lambda


class Model(Method):
    """EASE; its one epoch solves the whole problem, so seed and workers stay unused."""

    settings_type = EaseSettings

    def __init__(self, train: LabelMatrix, settings: EaseSettings, seed: int, workers: Workers) -> None:
        self.train, self.settings = train, settings
        self.weight = np.zeros((train.n_labels, train.n_labels), dtype=np.float32)

    def epoch(self) -> EpochReport:
        gram = count_together(self.train.offsets, self.train.labels, self.train.n_labels)
        gram[np.diag_indices_from(gram)] += self.settings.regularisation
        inverse = np.linalg.inv(gram)
        weight = -inverse / np.diag(inverse)
        np.fill_diagonal(weight, 0.0)
        self.weight = weight.astype(np.float32)
        return EpochReport(None)

    def scorer(self) -> LabelWeights:
        return LabelWeights(self.weight)
