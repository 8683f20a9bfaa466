"""ZLPR on image features: log(1 + sum of exp(f_v)) + log(1 + sum of exp(-f_u)) for positives u and negatives v.

Training moves positives above 0 and negatives below it, so the labels with scores above 0 are predicted.

Source: Su and others, "ZLPR: a novel loss for multi-label classification", 2022. It is in none of the papers.
"""

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.exponentials import zlpr_loss
from vsebench.methods.networks.training import Images, Loss, network_with


class Zlpr(Loss):
    """The ZLPR loss of all labels."""

    def __call__(self, scores: Matrix, images: Images) -> float:
        return float(zlpr_loss(scores, images, *self.lists, self.scratch))


METHOD = network_with(Zlpr)
