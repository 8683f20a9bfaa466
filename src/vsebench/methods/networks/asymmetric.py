"""The asymmetric loss on image features: binary cross-entropy with less weight for labels that are predicted well.

    positives   -(1 - p)^g log p
    negatives   -q^h log(1 - q),   q = max(0, p - margin)

p is the label's probability, a sigmoid of its score. With g = h and without a margin it is the focal loss. The last
layer's intercepts start at the log odds of the labels' frequencies. These baselines are in none of the papers.

Sources: Ridnik and others, "Asymmetric loss for multi-label classification", ICCV 2021; Lin, Goyal, Girshick, He and
Dollar, "Focal loss for dense object detection", ICCV 2017.
"""

from pydantic import Field

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.asymmetric import asymmetric_loss
from vsebench.methods.networks.bce import Bce
from vsebench.methods.networks.training import Images, NetworkSettings, network_with


class AsymmetricSettings(NetworkSettings):
    """Settings of a network with the asymmetric loss."""

    focus_positives: float = Field(default=0.0, ge=0)  # g; a larger value lowers the weight of positives with a large p
    focus_negatives: float = Field(default=4.0, ge=0)  # h; a larger value lowers the weight of negatives with a small p
    margin: float = Field(default=0.05, ge=0, lt=1)  # negatives with a smaller p have no loss


class Asymmetric(Bce):
    """The asymmetric loss of all labels."""

    settings_type = AsymmetricSettings

    def __call__(self, scores: Matrix, images: Images) -> float:
        settings = self.settings
        exponents = settings.focus_positives, settings.focus_negatives
        return float(asymmetric_loss(scores, images, *self.lists, *exponents, settings.margin))


METHOD = network_with(Asymmetric)
