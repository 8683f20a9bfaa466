"""Opt-AUC: stochastic gradient steps on the logistic loss, with negatives that are drawn uniformly.

Source: a baseline of both VSE papers ("logistic loss is used as the smoothed AUC surrogate"); it is BPR (Rendle et al.,
UAI 2009).
"""

from vsebench.kernels.sgd.opt_auc import opt_auc_epoch
from vsebench.methods.base import Progress
from vsebench.methods.by_labels.sgd import SgdMethod


class OptAuc(SgdMethod):
    """Opt-AUC. Negatives are all labels that the image does not have in training."""

    def epoch(self) -> Progress:
        loss = opt_auc_epoch(self.embedding, self.pipeline, self.steps, self.rates, self.rng)
        return Progress(loss, trials=1.0)  # a step uses the first negative that it draws


METHODS = {"opt_auc": OptAuc}
