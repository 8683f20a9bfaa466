"""Opt-AUC: uniform negatives and the logistic loss.

Source: a baseline of both VSE papers ("logistic loss is used as the smoothed AUC surrogate"); it is BPR (Rendle et al.,
UAI 2009).
"""

from vsebench.kernels.sgd.opt_auc import opt_auc_epoch
from vsebench.methods.base import Progress
from vsebench.methods.by_labels.sgd import SgdMethod


class OptAuc(SgdMethod):
    """Opt-AUC. A negative is any label that the image does not carry in training."""

    def epoch(self) -> Progress:
        loss = opt_auc_epoch(self.embedding, self.pipeline, self.steps, self.rates, self.rng)
        return Progress(loss, trials=1.0)  # a step takes the first negative


METHODS = {"opt_auc": OptAuc}
