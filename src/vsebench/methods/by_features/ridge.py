"""Ridge regression of labels on image features, in closed form.

The targets are the entries of the label matrix, 1 or 0. The formula is in the module `least_squares`.

Source: Hoerl and Kennard, "Ridge regression", Technometrics 12, 1970.
"""

import numpy as np

from vsebench.methods.base import Size
from vsebench.methods.by_features.least_squares import RidgeSettings, least_squares, least_squares_memory, weighted
from vsebench.methods.by_features.linear_map import LinearMap
from vsebench.methods.by_features.seen import FeatureControl, see


class Ridge(FeatureControl):
    """Ridge regression, fitted to the training images that have features."""

    settings_type = RidgeSettings

    @classmethod
    def least_memory(cls, size: Size, settings: RidgeSettings) -> int:
        return least_squares_memory(size)

    def model(self) -> LinearMap:
        seen = see(self.problem, self.settings)
        truth = weighted(seen.labels, np.ones(seen.labels.n_rows))
        return LinearMap(least_squares(seen.rows, truth, self.settings.regularisation), seen.normalisation)


METHODS = {"ridge": Ridge}
