"""LSEP trained together with class thresholds, on shared hidden layers: the sum of both losses.

    L = L_lsep(f) + weight * sum over labels k of log(1 + exp(m_k)),   m_k = t_k - f_k for a label of the image,
                                                                       m_k = f_k - t_k for another one

Source: Li, Song and Luo, "Improving pairwise ranking for multi-label image classification", CVPR 2017, section 3.3,
where this is said to be worse than thresholds that are trained afterwards.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from vsebench.data.features import Normalisation
from vsebench.data.problem import Matrix, Queries
from vsebench.kernels.losses.cross_entropy import binary_loss
from vsebench.methods.networks.lsep import Lsep, LsepSettings
from vsebench.methods.networks.network import Network, hidden_layers
from vsebench.models import Thresholded, check_matrix, norm


class LsepJointSettings(LsepSettings):
    """Settings of both losses."""

    threshold_weight: float = Field(gt=0)  # of the thresholds' loss beside that of the ranking


@dataclass(frozen=True)
class NetworkWithThresholds(Network, Thresholded):
    """A network with a second last layer, whose outputs are the labels' thresholds.

    Attributes
    ----------
    threshold : (n_labels, units + 1) float32: the weights of each label's threshold, and the intercept
    """

    kind: ClassVar[str] = "lsep_joint"
    threshold: Matrix

    def __post_init__(self) -> None:
        super().__post_init__()
        check_matrix(self.threshold, "threshold", self.label.shape)

    def thresholds(self, queries: Queries) -> Matrix:
        found: Matrix = self.vectors(queries) @ self.threshold.T
        return found

    def largest_score(self) -> float:
        return float(np.max([super().largest_score(), norm(self.threshold)]))  # NaN where one of them is

    def arrays(self) -> dict[str, NDArray[Any]]:
        return super().arrays() | {"threshold": self.threshold}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "NetworkWithThresholds":
        normalisation = Normalisation.from_arrays(arrays, cls.kind)
        return cls(hidden_layers(arrays), arrays["label"], normalisation, arrays["threshold"])


class LsepJoint(Lsep):
    """A network with both losses."""

    settings_type = LsepJointSettings
    settings: LsepJointSettings
    gives = frozenset({"thresholds"})

    def n_outputs(self, n_labels: int) -> int:
        """Return the number of scores and thresholds."""
        return 2 * n_labels

    def loss(self, scores: Matrix, images: NDArray[np.int64]) -> float:
        """Return the sum of both losses; write their derivatives over scores and thresholds, (m, 2 n_labels)."""
        ranking, thresholds = np.split(scores, 2, axis=1)
        margin = ranking - thresholds
        f = np.ascontiguousarray(ranking)
        weight = np.float32(self.settings.threshold_weight)
        total = super().loss(f, images)
        total += float(weight) * float(binary_loss(margin, images, self.offsets, self.labels))
        ranking[...] = f + weight * margin
        thresholds[...] = -weight * margin
        return total

    def model(self) -> NetworkWithThresholds:
        both = super().model()
        label, threshold = map(np.ascontiguousarray, np.split(both.label, 2))
        return NetworkWithThresholds(both.hidden, label, both.normalisation, threshold)


METHOD = LsepJoint
MODEL = NetworkWithThresholds
