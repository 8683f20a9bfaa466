"""The fit of an ensemble: members are weighed before they learn the validation labels, and used after it."""

import json

import numpy as np
import pytest

from tests.stages.small import case, run, split, write_processed
from vsebench import models
from vsebench.core.storage import read_json, read_parquet
from vsebench.methods.base import EnsembleSettings, load_method, read_settings
from vsebench.stages.gather import settings_used

SETTINGS = {"learning_rate": 0.03, "maximum_norm": 2.0, "normalise": ["l2"]}
SPREADS = {2: {"map": 0.03, "auc": 0.01}, 3: {"map": 0.04, "auc": None}}
WSABIE = ["wsabie", "--epochs", json.dumps({"maximum": 5, "patience": 5})]


def fit(folder, variant, module, *arguments, settings):
    shared = [*case(folder, module, settings, "images", variant=variant), "--metric", "map", "--images", 1000]
    return run("fit", *shared, *arguments, "--out", folder / variant)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ensemble")
    write_processed(folder, features=True)
    assert split(folder, "images") == 0
    for factors in (2, 3):
        spread = ["--spread", json.dumps(SPREADS[factors])]
        assert fit(folder, f"wsabie_{factors}", *WSABIE, *spread, settings=SETTINGS | {"factors": factors}) == 0
    members = [folder / f"wsabie_{factors}" / "run.json" for factors in (2, 3)]
    assert fit(folder, "both", "wsabie_ensemble", "--members", *members, settings={}) == 0
    return folder


def test_the_weights_are_the_first_of_the_best_on_the_simplex(folder):
    selection = read_json(folder / "both/run.json")["selection"]
    values = [tried["value"] for tried in selection["tries"]]
    best = selection["tries"][values.index(max(values))]
    assert [tried["settings"]["wsabie_2"] for tried in selection["tries"]] == [part / 10 for part in range(10, -1, -1)]
    assert all(sum(tried["settings"].values()) == pytest.approx(1) for tried in selection["tries"])
    assert selection["n_configurations"] == 11
    assert {member["variant"]: member["weight"] for member in selection["settings"]["members"]} == best["settings"]


def test_the_model_is_the_members_models_side_by_side(folder):
    """Byte for byte: the members of the last fit are those of their own rows."""
    found = models.load(folder / "both/model.npz")
    own = [models.load(folder / f"wsabie_{factors}" / "model.npz") for factors in (2, 3)]
    members = read_json(folder / "both/run.json")["selection"]["settings"]["members"]
    assert found.feature.tobytes() == np.hstack([model.feature for model in own]).tobytes()
    scales = [np.float32(member["weight"] / member["deviation"]) for member in members]
    assert found.label.tobytes() == np.hstack([s * m.label for s, m in zip(scales, own, strict=True)]).tobytes()
    assert read_parquet(folder / "both/history.parquet").is_empty()


def test_its_record_can_be_fitted_again(folder):
    """As the stage `time` does."""
    values = read_json(folder / "both/run.json")["selection"]["settings"]
    assert isinstance(read_settings(load_method("wsabie_ensemble"), values, "run.json"), EnsembleSettings)


def test_its_settings_are_shown_as_weights(folder):
    shown = settings_used(read_json(folder / "both/run.json"), {})
    assert list(shown["settings"]) == ["wsabie_2", "wsabie_3"]
    assert shown["choice"] == "weights"


def test_its_spread_is_that_of_its_members_by_weight(folder):
    selection = read_json(folder / "both/run.json")["selection"]
    first, second = (member["weight"] for member in selection["settings"]["members"])
    expected = pytest.approx(((first * 0.03) ** 2 + (second * 0.04) ** 2) ** 0.5)
    assert selection["spread"] == {"map": expected, "auc": None if second else first * 0.01}


def test_a_record_that_is_no_members_gets_one_line(folder, capsys):
    fit(folder, "popular", "popularity", settings={})
    records = [folder / "popular/run.json", folder / "wsabie_2/run.json"]
    assert fit(folder, "both", "wsabie_ensemble", "--members", *records, settings={}) == 1
    assert "popular/run.json: epochs" in capsys.readouterr().err.splitlines()[-1]
