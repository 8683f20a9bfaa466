"""Calibrated: labels whose probability sigmoid(a f + b) is above 1/2, with a and b fitted to the validation scores f.

Source: Platt, "Probabilistic outputs for support vector machines", 1999, without his correction of the labels.
"""

from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from vsebench.data.problem import Mask
from vsebench.evaluation.decisions.base import Decision, Labelled, Scored


class Calibrated(Decision):
    """A control that depends on nothing but the score of the image and the label."""

    def fit(self, first: Labelled, valid: Labelled) -> dict[str, Any]:
        # Snakemake imports this module, and this import takes a tenth of a second.
        from scipy.optimize import minimize

        scores = valid.scores.astype(np.float64)
        center, scale = scores.mean(), scores.std() or 1.0
        units, sign = (scores - center) / scale, np.where(valid.right, 1.0, -1.0)

        def loss(line: Any) -> tuple[float, Any]:
            margin = sign * (line[0] * units + line[1])
            slope = -sign * expit(-margin)
            return -log_expit(margin).mean(), np.array([(slope * units).mean(), slope.mean()])

        a, b = minimize(loss, [1.0, 0.0], jac=True, method="BFGS").x
        self.slope, self.offset = a / scale, b - a * center / scale
        return {"slope": float(self.slope), "offset": float(self.offset)}

    def decide(self, images: Scored) -> Mask:
        return np.asarray(self.slope * images.scores.astype(np.float64) + self.offset > 0)


DECISION = Calibrated
