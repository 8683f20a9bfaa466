"""Opt-AUC: uniform negatives and the logistic loss.

Source: the baseline of both VSE papers ("logistic loss is used as the smoothed AUC surrogate"); the same as BPR (Rendle
et al., UAI 2009).
"""

from vsebench.kernels.lanes import aligned
from vsebench.kernels.pairwise import opt_auc_epoch
from vsebench.methods.base import Progress
from vsebench.methods.sgd import SgdMethod, SgdSettings, with_biases
from vsebench.models import Embeddings
from vsebench.problem import Problem


class OptAucSettings(SgdSettings):
    """Settings of Opt-AUC."""

    biases: bool = False  # a bias for each label, as packages' BPR has it


class OptAuc(SgdMethod):
    """Opt-AUC. A negative is any label that the image does not carry in training."""

    settings_type = OptAucSettings
    settings: OptAucSettings

    def __init__(self, problem: Problem, settings: OptAucSettings) -> None:
        train = problem.training.labels
        super().__init__(problem, settings)
        self.biases = aligned(train.n_labels)

    def epoch(self) -> Progress:
        rate = self.settings.learning_rate
        loss = opt_auc_epoch(
            self.images, self.labels, self.biases, self.pairs, self.row_labels,
            self.steps, rate, rate if self.settings.biases else 0.0, self.settings.regularisation, self.rng,
        )  # fmt: skip
        return Progress(loss, trials=1.0)  # the first negative is taken

    def model(self) -> Embeddings:
        model = super().model()
        return with_biases(model, self.biases) if self.settings.biases else model


METHOD = OptAuc
