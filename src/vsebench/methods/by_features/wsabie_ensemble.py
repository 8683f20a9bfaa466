"""WSABIE's ensembles: a weighted sum of the scores of models of different sizes, as one model.

Source: Weston, Bengio and Usunier, "Large scale image annotation", Machine Learning 81(1), 2010, table 7. The paper
finds the weights by a grid search on the validation set, and does not state which cost it minimises. Here the scores of
each member are divided by their standard deviation on the validation images. Of all weights that add up to 1, in steps
of 0.1, those with the best validation metric are chosen.
"""

from collections.abc import Sequence

import numpy as np

from vsebench.core.errors import UserError
from vsebench.methods.base import Ensemble
from vsebench.methods.by_features.embedded_features import EmbeddedFeatures
from vsebench.methods.by_features.embedding_sgd import EmbeddingMethod
from vsebench.models import Model


class WsabieEnsemble(Ensemble):
    """A weighted sum of models with WSABIE's two maps."""

    needs = frozenset({"features"})
    member_type = EmbeddingMethod

    @classmethod
    def combined(cls, models: Sequence[Model], scales: Sequence[float]) -> EmbeddedFeatures:
        """Return one model with the concatenated maps: V = [V_1 V_2 ...], W = [scale_1 W_1, scale_2 W_2 ...].

        Raises
        ------
        UserError
            The models are not all `EmbeddedFeatures`, or they normalise features in different ways.
        """
        maps = [model for model in models if isinstance(model, EmbeddedFeatures)]
        if len(maps) < len(models):
            raise UserError("an ensemble adds up models with two maps; the model of a member is of another kind")
        if len({model.normalisation.steps for model in maps}) > 1:
            raise UserError("the members of an ensemble normalise features differently; give them the same `normalise`")
        feature = np.hstack([model.feature for model in maps])
        label = np.hstack([np.float32(scale) * model.label for model, scale in zip(maps, scales, strict=True)])
        return EmbeddedFeatures(feature, label, maps[0].normalisation)


METHOD = WsabieEnsemble
