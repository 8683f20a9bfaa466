"""VSE-fs: least squares over all (image, label) pairs by coordinate descent.

Source: Zhai, Guo, Yuan, Liu and Wang, "VSE-fs: Fast Full-Sample Visual Semantic Embedding", Eq. 1, 2 and Algorithm 1.
The coordinate descent is in the module `coordinate_descent`.
"""

from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from vsebench.data.problem import Problem
from vsebench.methods.base import FactorSettings
from vsebench.methods.by_labels.coordinate_descent import FullSample, Objective
from vsebench.methods.by_labels.full_sample import label_penalties


class VseFsSettings(FactorSettings):
    """Settings of VSE-fs; beta_0, alpha and gamma are the paper's symbols."""

    # The sum over all labels c of beta_c, the weight of c at each image that does not have c.
    beta_0: float = Field(gt=0)
    alpha: float = Field(ge=0)  # exponent of a label's popularity in its weight beta_c
    # Weight of p_i in an image's extended vector v_i + gamma p_i, where p_i is the sum of the vectors of the image's
    # labels, divided by the square root of their number.
    gamma: float = Field(ge=0)
    regularisation: float = Field(ge=0)  # lambda, the penalty on squared vectors
    weights: Literal["ones", "counts"]  # w_ic, the weight of a positive: 1, or how often label c occurs on image i
    deviation: float = Field(gt=0)  # standard deviation of the normal distribution of the initial embeddings
    # Exponent of W in the penalty lambda W^nu |v|^2 on the vector v of an image or a label, where W is the total weight
    # of all pairs with this image or label; 0: the same penalty for all vectors.
    nu: float = Field(default=0.0, ge=0)
    # How an epoch updates the vectors of images: factor by factor, as in the paper, or, for images with few labels, to
    # the exact minimum of the loss. The second is faster with about 128 factors; it needs a regularisation above 0.
    images: Literal["by_factor", "exact"] = "by_factor"

    @model_validator(mode="after")
    def _check_penalty(self) -> Self:
        if self.images == "exact" and self.regularisation == 0:
            raise ValueError("with `images: exact`, the regularisation must be greater than 0")
        return self


class VseFs(FullSample):
    """VSE-fs: least squares over all (image, label) pairs; an epoch updates all images, then all labels."""

    settings_type = VseFsSettings

    def __init__(self, problem: Problem, settings: VseFsSettings) -> None:
        train, self.settings = problem.training.labels, settings
        counted = settings.weights == "counts"
        weights = train.count_of_pair.astype(np.float32) if counted else np.ones(train.n_pairs, dtype=np.float32)
        penalties = label_penalties(train, settings.beta_0, settings.alpha)
        objective = Objective(weights, penalties, settings.gamma, settings.regularisation, settings.nu)
        super().__init__(problem, settings.factors, settings.deviation, objective, settings.images == "exact")


METHODS = {"vse_fs": VseFs}
