"""ZLPR on image features: log(1 + sum of exp(f_v)) + log(1 + sum of exp(-f_u)), u the positives, v the negatives.

Positives are pushed above 0 and negatives below it, so "score above 0" decides which labels an image carries.

Source: Su and others, "ZLPR: a novel loss for multi-label classification", 2022. A baseline that is in none of the
papers.
"""

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.zlpr import zlpr_loss
from vsebench.methods.networks.training import Images, Loss, network_with


class Zlpr(Loss):
    """The ZLPR loss of all labels."""

    def __call__(self, scores: Matrix, images: Images) -> float:
        return float(zlpr_loss(scores, images, *self.lists, self.room))


METHOD = network_with(Zlpr)
