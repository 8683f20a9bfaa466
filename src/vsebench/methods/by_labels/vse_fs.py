"""VSE-fs: least squares over all (image, label) pairs by coordinate descent.

Source: Zhai, Guo, Yuan, Liu and Wang, "VSE-fs: Fast Full-Sample Visual Semantic Embedding", Eq. 1, 2 and Algorithm 1.
The coordinate descent is in the module `coordinate_descent`.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from vsebench.data.problem import Problem
from vsebench.methods.base import FactorSettings
from vsebench.methods.by_labels.coordinate_descent import FullSample, Objective
from vsebench.methods.by_labels.full_sample import label_penalties


class VseFsSettings(FactorSettings):
    """Settings of VSE-fs, named as in the paper."""

    beta_0: float = Field(gt=0)  # the sum over all labels of beta_c, the weight of a pair that is not a positive
    alpha: float = Field(ge=0)  # exponent of a label's popularity in its weight beta_c
    gamma: float = Field(ge=0)  # weight of the positive labels' vectors in an image's extended vector
    regularisation: float = Field(ge=0)  # lambda, the penalty on squared vectors
    weights: Literal["ones", "counts"]  # w_ic: 1, or the number of times that the label occurs on the image
    deviation: float = Field(gt=0)  # standard deviation of the initial embeddings, which are normal
    # Exponent of the penalty's factor, which is the total weight of the pairs of an image or of a label; 0: all equal.
    nu: float = Field(default=0.0, ge=0)


class VseFs(FullSample):
    """VSE-fs: least squares over all (image, label) pairs; an epoch updates all images, then all labels."""

    settings_type = VseFsSettings

    def __init__(self, problem: Problem, settings: VseFsSettings) -> None:
        train, self.settings = problem.training.labels, settings
        counted = settings.weights == "counts"
        weights = train.count_of_pair.astype(np.float32) if counted else np.ones(train.n_pairs, dtype=np.float32)
        penalties = label_penalties(train, settings.beta_0, settings.alpha)
        objective = Objective(weights, penalties, settings.gamma, settings.regularisation, settings.nu)
        super().__init__(problem, settings.factors, settings.deviation, objective)


METHODS = {"vse_fs": VseFs}
