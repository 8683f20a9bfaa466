"""PAMIR-IA: a linear model trained by passive-aggressive steps on pairs of a positive and a negative label.

    f_c(x) = <w_c, x>,   h = max(0, 1 - f_p(x) + f_n(x)),   tau = min(c, h / (2 |x|^2)),   w_p += tau x,   w_n -= tau x

Sources: Weston, Bengio and Usunier, "Large scale image annotation: learning to rank with joint word-image embeddings",
Machine Learning 81(1), 2010, which applies PAMIR to annotation; the step is from Grangier and Bengio, "A discriminative
kernel-based approach to rank images from text queries", IEEE PAMI 30(8), 2008.
"""

from vsebench.kernels.sgd.linear_ranking import passive_aggressive_epoch
from vsebench.methods.base import Progress
from vsebench.methods.by_features.from_features import PassiveAggressiveSettings
from vsebench.methods.by_features.linear_sgd import LinearMethod


class PamirIa(LinearMethod):
    """PAMIR for image annotation."""

    settings_type = PassiveAggressiveSettings

    def epoch(self) -> Progress:
        report = passive_aggressive_epoch(
            self.weights, self.rows, self.positives, self.steps, self.settings.aggressiveness, self.rng
        )
        return Progress(*report)


METHOD = PamirIa
