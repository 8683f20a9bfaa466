"""Opt-AUC with a bias for each label, as other packages' BPR has it: what the benchmarks compare with these."""

from vsebench.kernels.opt_auc_biases import opt_auc_biases_epoch
from vsebench.kernels.vectors import aligned
from vsebench.labels import LabelMatrix
from vsebench.methods.base import Embeddings, EpochReport
from vsebench.methods.sgd import SgdMethod, SgdSettings, with_biases
from vsebench.parallel import Workers


class Model(SgdMethod):
    """Opt-AUC with biases, which have the learning rate and the regularisation of vectors."""

    settings_type = SgdSettings

    def __init__(self, train: LabelMatrix, settings: SgdSettings, seed: int, workers: Workers) -> None:
        super().__init__(train, settings, seed, workers)
        self.biases = aligned(train.n_labels)

    def epoch(self) -> EpochReport:
        loss = opt_auc_biases_epoch(self.embedding, self.biases, self.pipeline, self.steps, self.rates, self.rng)
        return EpochReport(loss, trials_per_step=1.0)  # the first negative is taken

    def scorer(self) -> Embeddings:
        return with_biases(super().scorer(), self.biases)
