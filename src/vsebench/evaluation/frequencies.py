"""The training frequencies of labels, and the weights of labels in propensity metrics."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vsebench.config.dataset import Propensity
from vsebench.data.problem import Training


@dataclass(frozen=True)
class Frequencies:
    """The number of training images of each label.

    Attributes
    ----------
    of_labels : (n_labels,) int64, the number of training images with each label
    n_images : the number of training images, with and without labels
    propensity : the settings A and B of the labels' propensities
    """

    of_labels: NDArray[np.int64]
    n_images: int
    propensity: Propensity

    @classmethod
    def of_training(cls, training: Training, propensity: Propensity) -> "Frequencies":
        """Count the images with each label among the training images of the tested models."""
        counts = np.bincount(training.labels.label_of_pair, minlength=training.labels.n_labels)
        return cls(counts.astype(np.int64), len(training.images), propensity)

    def weights(self) -> NDArray[np.float64]:
        """Return the weight 1 / p of each label, (n_labels,), where p is the label's propensity.

        `metrics.base.PropensityMetric` defines p. With fewer than three training images, the constant C in that
        definition would be negative. In this case, all weights are 1.
        """
        a, b = self.propensity.a, self.propensity.b
        c = max(np.log(max(self.n_images, 1)) - 1, 0.0) * (b + 1) ** a
        return np.asarray(1 + c * (self.of_labels + b) ** -a)
