"""An ensemble's model is the weighted sum of its members' models."""

import numpy as np
import pytest

from tests.methods.problems import fitted, members_of
from vsebench.core.errors import UserError
from vsebench.data.features import Normalisation
from vsebench.methods.base import read_settings
from vsebench.methods.by_features.linear_map import EmbeddedFeatures
from vsebench.methods.by_features.wsabie import WsabieEnsemble
from vsebench.models import Embeddings


@pytest.mark.parametrize("where", ["dense features", "sparse features"])
def test_scores_are_the_weighted_sum_of_the_members_scores(where):
    model, queries = fitted("wsabie_ensemble", where)
    expected = np.zeros((len(queries.images), model.n_labels))
    for member in members_of("wsabie_ensemble"):
        changes = {"epochs": member["epochs"], **member["settings"]}
        scores = fitted("wsabie", where, **changes)[0].scores(queries)
        expected += member["weight"] / member["deviation"] * scores
    assert model.label.shape[1] == 16 + 8
    assert np.allclose(model.scores(queries), expected, atol=1e-4 * np.abs(expected).max())


def maps(steps=(), k=2):
    normalisation = Normalisation(steps, tuple({} for _ in steps))
    return EmbeddedFeatures(np.ones((3, k), np.float32), np.ones((4, k), np.float32), normalisation)


def test_members_that_see_features_differently_are_refused():
    assert WsabieEnsemble.combined([maps(), maps(k=1)], [1.0, 2.0]).label.tolist() == [[1.0, 1.0, 2.0]] * 4
    with pytest.raises(UserError, match="the same `normalise`"):
        WsabieEnsemble.combined([maps(), maps(steps=("l2",))], [1.0, 1.0])


def test_members_of_another_kind_are_refused():
    other = Embeddings(np.ones((3, 2), np.float32), np.ones((4, 2), np.float32))
    with pytest.raises(UserError, match="but one member's model is of another kind"):
        WsabieEnsemble.combined([maps(), other], [1.0, 1.0])


def test_one_member_is_no_ensemble():
    with pytest.raises(UserError, match=r"some\.yaml: members"):
        read_settings(WsabieEnsemble, {"members": members_of("wsabie_ensemble")[:1]}, "some.yaml")
