"""iALS: weighted least squares over all pairs of an image and a label; penalties grow with the number of positives.

Let u_i be the vector of image i, v_c that of label c, and s_ic = <u_i, v_c> their score. With n images, |C| labels,
|C_i| labels of image i and n_c images with label c, the loss is

    sum over positives of (1 - s_ic)^2  +  alpha_0 sum over all pairs of s_ic^2
    + lambda (sum_i (|C_i| + alpha_0 |C|)^nu |u_i|^2 + sum_c (n_c + alpha_0 n)^nu |v_c|^2)

Sources: Hu, Koren and Volinsky, "Collaborative filtering for implicit feedback datasets", ICDM 2008; Rendle, Krichene,
Zhang and Koren, "Revisiting the performance of iALS on item recommendation benchmarks", RecSys 2022, which introduces
these penalties.

The loss is minimised by the coordinate descent of VSE-fs with gamma = 0, so the vectors of an image's labels are not
added to the image's vector. Let t = 1 / (1 + alpha_0). The two terms of a positive add up to (s_ic - t)^2 / t + 1 - t.
Replace each vector by sqrt(t) times a new vector, and let s be the scores of the new vectors. Then the loss is

    t^2 [ sum over positives of (1 - s)^2 / t  +  alpha_0 sum over other pairs of s^2  +  lambda / t (...) ]
    + (1 - t) times the number of positives

Here (...) stands for the two sums that lambda multiplies above, with the new vectors. The brackets contain the loss of
VSE-fs with w = 1 / t, beta_c = alpha_0 and the penalty lambda / t. The total weight of an image's pairs, |C_i| / t +
alpha_0 (|C| - |C_i|), is equal to the sum |C_i| + alpha_0 |C| above; the same holds for labels.
"""

import numpy as np

from vsebench.data.problem import Problem
from vsebench.methods.base import Progress
from vsebench.methods.by_labels.coordinate_descent import FullSample, Objective
from vsebench.methods.by_labels.ials_settings import IalsSettings
from vsebench.models import Embeddings


class Ials(FullSample):
    """iALS; a label counts once per image. An epoch updates all images, then all labels, and never raises the loss."""

    settings_type = IalsSettings

    def __init__(self, problem: Problem, settings: IalsSettings) -> None:
        train, self.settings = problem.training.labels, settings
        self.shrinkage = 1 / (1 + settings.alpha_0)  # t
        weights = np.full(train.n_pairs, 1 / self.shrinkage, dtype=np.float32)
        penalties = np.full(train.n_labels, settings.alpha_0, dtype=np.float32)
        objective = Objective(weights, penalties, 0.0, settings.regularisation / self.shrinkage, settings.nu)
        self.least = (1 - self.shrinkage) * train.n_pairs
        super().__init__(problem, settings.factors, settings.deviation / self.shrinkage**0.5, objective)

    def epoch(self) -> Progress:
        loss = super().epoch().loss
        assert loss is not None
        return Progress(self.shrinkage**2 * loss + self.least)

    def model(self) -> Embeddings:
        root, scaled = np.float32(self.shrinkage**0.5), super().model()
        return Embeddings(root * scaled.image, root * scaled.label)


METHODS = {"ials": Ials}
