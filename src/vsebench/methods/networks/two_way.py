"""The two-way loss of networks on image features: it compares labels for each image, and images for each label.

Source: Kobayashi, "Two-way multi-label loss", CVPR 2023. None of the papers that this project reproduces includes it.
"""

from pydantic import Field

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.two_way import two_way_loss
from vsebench.methods.networks.training import Images, Loss, NetworkSettings, network_with


class TwoWaySettings(NetworkSettings):
    """Settings of a network with the two-way loss."""

    temperature_positives: float = Field(default=4.0, gt=0)  # T; the larger, the more evenly all positives count
    temperature_negatives: float = Field(default=1.0, gt=0)  # U; the larger, the more evenly all negatives count


class TwoWay(Loss):
    """The mean loss of the images of a batch plus the mean loss of the labels.

        P = T log sum of exp(-f / T) over positives,   N = U log sum of exp(f / U) over negatives
        mean over images of log(1 + exp(P + N)) + mean over labels of log(1 + exp(P + N))

    f are the scores. T and U are the settings `temperature_positives` and `temperature_negatives`. The positives and
    negatives of an image are labels, and those of a label are images of the batch. Images without a label, and labels
    that no image of the batch has, are left out of the means. The loss depends on the batches, because the images with
    a label are compared only with other images of the same batch.
    """

    settings_type = TwoWaySettings

    def __call__(self, scores: Matrix, images: Images) -> float:
        temperatures = self.settings.temperature_positives, self.settings.temperature_negatives
        return float(two_way_loss(scores, images, *self.lists, *temperatures))


METHODS = {"two_way": network_with(TwoWay)}
