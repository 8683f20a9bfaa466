"""Opt-AUC with a bias for each label, as in the BPR of other packages; the benchmarks compare it with them."""

from vsebench.data.problem import Problem
from vsebench.kernels.sgd.opt_auc_biases import opt_auc_biases_epoch
from vsebench.kernels.vectors import aligned
from vsebench.methods.base import Progress
from vsebench.methods.by_labels.sgd import SgdMethod, SgdSettings, with_biases
from vsebench.models import Embeddings


class OptAucBiases(SgdMethod):
    """Opt-AUC with biases, which have the learning rate and the regularisation of vectors."""

    settings_type = SgdSettings

    def __init__(self, problem: Problem, settings: SgdSettings) -> None:
        train = problem.training.labels
        super().__init__(problem, settings)
        self.biases = aligned(train.n_labels)

    def epoch(self) -> Progress:
        loss = opt_auc_biases_epoch(self.embedding, self.biases, self.pipeline, self.steps, self.rates, self.rng)
        return Progress(loss, trials=1.0)  # the first negative is taken

    def model(self) -> Embeddings:
        return with_biases(super().model(), self.biases)


METHOD = OptAucBiases
