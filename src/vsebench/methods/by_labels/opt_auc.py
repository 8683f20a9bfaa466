"""Opt-AUC: stochastic gradient steps on the logistic loss, with negatives that are drawn uniformly.

Source: Opt-AUC is a baseline in the papers on VSE-ens and VSE-fs ("logistic loss is used as the smoothed AUC
surrogate"). It is the same method as BPR (Rendle et al., UAI 2009).
"""

from vsebench.kernels.products import Embedding
from vsebench.kernels.sgd.opt_auc import opt_auc_epoch
from vsebench.kernels.sgd.pipeline import Pipeline
from vsebench.kernels.sgd.sampling import Streams
from vsebench.methods.by_labels.strata import InParts


class OptAuc(InParts):
    """Opt-AUC; the negatives of an image are all labels that the image does not have in training."""

    def take_steps(self, embedding: Embedding, pipeline: Pipeline, steps: int, streams: Streams) -> tuple[float, float]:
        loss = opt_auc_epoch(embedding, pipeline, steps, self.rates, streams)
        return loss, 1.0  # a step uses the first negative that it draws


METHODS = {"opt_auc": OptAuc}
