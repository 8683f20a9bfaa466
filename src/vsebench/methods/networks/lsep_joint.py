"""LSEP and a threshold for each label, trained together on shared hidden layers.

    L = L_lsep(f) + weight * sum over labels k of log(1 + exp(m_k)),   m_k = t_k - f_k for a label of the image,
                                                                       m_k = f_k - t_k for any other label

f_k is the score of label k, and t_k is the threshold of the label for the image. L_lsep is the LSEP loss: log(1 + sum
of exp(f_v - f_u)), with a sum over all pairs of a positive u and a negative v. `weight` is the setting
`threshold_weight`.

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, section 3.3,
which states that joint training is worse than training the thresholds afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from vsebench.data.features import Normalisation
from vsebench.data.problem import LabelMatrix, Matrix, Problem, Queries
from vsebench.kernels.losses.label_losses import binary_loss
from vsebench.methods.networks.network import Network
from vsebench.methods.networks.pair_losses import Lsep
from vsebench.methods.networks.training import Images, LabelTable, Loss, NetworkSettings, network_with
from vsebench.models import Thresholded, check_matrix, norm


class LsepJointSettings(NetworkSettings):
    """Settings of LSEP with jointly trained thresholds."""

    # Whether a pair of a positive and a negative has the weight 1 + 1/2 + ... + 1/r, where r is the positive's rank
    # among all labels.
    weighted: bool = False
    threshold_weight: float = Field(gt=0)  # weight of the loss of thresholds; the loss of the ranking has weight 1


@dataclass(frozen=True)
class NetworkWithThresholds(Network, Thresholded):
    """A network with two output layers on the same hidden layers: one for scores, one for the labels' thresholds.

    Attributes
    ----------
    threshold : (n_labels, units + 1) float32: for each label, the weights and the intercept of its threshold
    """

    kind: ClassVar[str] = "lsep_joint"
    threshold: Matrix

    def __post_init__(self) -> None:
        super().__post_init__()
        check_matrix(self.threshold, "threshold", self.label.shape)

    def thresholds(self, queries: Queries) -> Matrix:
        thresholds: Matrix = self.vectors(queries) @ self.threshold.T
        return thresholds

    def largest_score(self) -> float:
        return float(np.max([super().largest_score(), norm(self.threshold)]))  # NaN if one of them is NaN


class ScoresAndThresholds(LabelTable):
    """A table for a network with two outputs per label: first come all scores, then all thresholds."""

    gives = frozenset({"thresholds"})

    def __init__(self, problem: Problem, settings: Any, labels: LabelMatrix) -> None:
        super().__init__(problem, settings, labels)
        self.n_outputs = 2 * labels.n_labels

    def model(self, hidden: Sequence[Matrix], last: Matrix, normalisation: Normalisation) -> NetworkWithThresholds:
        label, threshold = (np.ascontiguousarray(half.T) for half in np.split(last, 2, axis=1))
        return NetworkWithThresholds(hidden, label, normalisation, threshold)


class LsepJoint(Loss):
    """The LSEP loss plus the weighted loss of the labels' thresholds; the module's docstring has the equation."""

    settings_type = LsepJointSettings
    table_type = ScoresAndThresholds

    def prepare(self) -> None:
        self.lsep = Lsep(self.table, self.settings, self.seed)

    def __call__(self, outputs: Matrix, images: Images) -> float:
        ranking, thresholds = np.split(outputs, 2, axis=1)
        margin = ranking - thresholds
        f = np.ascontiguousarray(ranking)
        weight = np.float32(self.settings.threshold_weight)
        total = self.lsep(f, images) + float(weight) * float(binary_loss(margin, images, *self.lists))
        ranking[...] = f + weight * margin
        thresholds[...] = -weight * margin
        return total


METHODS = {"lsep_joint": network_with(LsepJoint)}
MODELS = {"lsep_joint": NetworkWithThresholds}
