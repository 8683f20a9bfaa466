from pathlib import Path

import pytest
import yaml

from vsebench.core.configuration import DatasetConfig, MethodConfig, RunConfig, check, read_config
from vsebench.core.errors import UserError
from vsebench.methods.base import load_method, read_settings
from vsebench.plan import Plan

ROOT = Path(__file__).parent.parent
CONFIG = ROOT / "config"
RUNS = sorted(path for path in CONFIG.glob("*.yaml") if path.stem != "claims")


PEERS = {"implicit_als": "implicit", "lightfm_warp": "lightfm"}


def values(path):
    return yaml.safe_load(path.read_text())


def needs_peers(rows):
    """Skip a test of rows whose packages are not installed."""
    for row in rows:
        if row in PEERS:
            pytest.importorskip(PEERS[row], reason="optional, `make setup-peers` installs it")


@pytest.mark.parametrize("path", sorted((CONFIG / "datasets").glob("*.yaml")), ids=lambda path: path.stem)
def test_data_set_files_are_valid(path):
    config = read_config(DatasetConfig, path)
    assert ("simulated" in config.title.lower()) == config.simulated


@pytest.mark.parametrize("path", sorted((CONFIG / "methods").glob("*.yaml")), ids=lambda path: path.stem)
def test_method_files_are_valid_with_every_setting_they_try(path):
    config = read_config(MethodConfig, path)
    needs_peers([path.stem])
    method = load_method(config.method)
    for family in [{}, *config.family_settings.values()]:
        read_settings(method, config.settings | family, str(path))
    assert set(config.grid) <= set(config.settings)
    for key, tried in config.grid.items():
        for value in tried:
            read_settings(method, config.settings | {key: value}, str(path))


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_run_files_are_valid(path):
    needs_peers(values(path)["methods"])
    plan = Plan.read(CONFIG, values(path), [path])
    assert plan.runs
    for dataset in plan.datasets:
        assert ("oracle" in plan.rows(dataset)) <= plan.datasets[dataset].simulated


def default(**changes):
    return values(CONFIG / "config.yaml") | changes


ONE = {"protocols": ["distinct"]}
SCALING = {"dataset": "sim-iapr", "repeats": 2, "pairs": [10, 20], "labels": [10, 20], "factors": [1, 2]}


def test_a_sweep_of_a_method_that_is_not_in_the_run_is_left_out():
    plan = Plan.read(CONFIG, default(methods=["opt_auc"], sweeps={"vse_fs": {"alpha": [0]}}), [])
    assert plan.sweeps("sim-iapr") == []
    plan = Plan.read(CONFIG, default(sweeps={"vse_fs": {"alpha": [0], "gamma": [0]}}), [])
    assert plan.sweeps("sim-iapr") == [("vse_fs", "alpha"), ("vse_fs", "gamma")]


def test_a_run_limits_the_epochs_of_single_rows():
    usual = Plan.read(CONFIG, default(), [])
    plan = Plan.read(CONFIG, default(epochs={"vse_fs": {"maximum": 3, "patience": 2}}), [])
    assert plan.methods["vse_fs"].epochs.model_dump() == {"maximum": 3, "patience": 2}
    assert plan.methods["opt_auc"] == usual.methods["opt_auc"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": "three"}, "some.yaml: seeds: Input should be a valid list, not 'three'"),
        ({"seeds": [1, "2"]}, "some.yaml: seeds.1: Input should be a valid integer"),
        ({"sedes": [1]}, "some.yaml: sedes: unknown key"),
        ({"datasets": {"sim-iapr": {"protocols": ["leave-two-out"]}}}, "some.yaml: datasets.sim-iapr.protocols.0"),
        ({"datasets": {"imagenet": {"protocols": ["distinct"]}}}, "'imagenet' has no file"),
        ({"methods": ["opt_auc", "resnet"]}, "'resnet' has no file"),
        ({"methods": ["popularity"]}, "name at least one that is trained"),
        ({"factors": 0}, "some.yaml: factors"),
        ({"tune": True, "tuning_budget": 5}, "tuning_budget is 5; every method gets the same number"),
        ({"sweeps": {"vse_fx": {"alpha": [0]}}}, "'vse_fx' has no file"),
        ({"epochs": {"vse_fx": {"maximum": 1, "patience": 1}}}, "'vse_fx' has no file"),
        (
            {"tune": True, "epochs": {"popularity": {"maximum": 1, "patience": 1}}},
            "epochs: popularity is not trained by epochs",
        ),
        ({"epochs": {"vse_fs": {"maximum": 0, "patience": 1}}}, "epochs.vse_fs.maximum"),
        ({"sweeps": {"popularity": {"alpha": [0]}}}, "popularity is not trained by epochs"),
        ({"sweeps": {"vse_fs": {"alfa": [0]}}}, "some.yaml: sweeps.vse_fs: alfa: unknown key"),
        ({"sweeps": {"vse_fs": {"alpha": [0, -1]}}}, "some.yaml: sweeps.vse_fs: alpha"),
        ({"scaling": SCALING | {"dataset": "corel5k"}}, "scaling.dataset: corel5k is not simulated"),
        ({"scaling": SCALING | {"pairs": [10]}}, "some.yaml: scaling.pairs"),
        ({"datasets": {"sim-iapr": {"protocols": ["images"]}}}, "no method can be tested on held-out images yet"),
        (
            {"datasets": {"sim-iapr": ONE | {"vocabulary": {"top": 5}}}},
            "datasets.sim-iapr.vocabulary: top: unknown key",
        ),
        (
            {"datasets": {"mine": ONE | {"data": {"pairs": "no.csv"}}}},
            "datasets.mine.data.pairs: there is no file no.csv",
        ),
        ({"datasets": {"mine": ONE | {"data": {"file": "x"}}}}, "datasets.mine.data: pairs: this key is missing"),
        ({"datasets": {"Mine": ONE | {"data": {"pairs": "x"}}}}, "'Mine' cannot be a name"),
        ({"datasets": {"corel5k": ONE | {"data": {"pairs": "x"}}}}, "has a data set of this name; take another one"),
        ({"validation_metric": "f1"}, "'f1' is none of pre@5"),
    ],
)
def test_mistakes_name_file_and_key(changes, message):
    with pytest.raises(UserError) as error:
        Plan.read(CONFIG, default(**changes), [])
    assert message in str(error.value).replace("the command line", "some.yaml")
    assert "\n" not in str(error.value)


def test_missing_key_is_named():
    config = default()
    del config["seeds"]
    with pytest.raises(UserError, match="seeds: this key is missing"):
        check(RunConfig, config, "some.yaml")


def test_yaml_that_is_no_yaml_is_named(tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text("a: [1\nb: 2")
    with pytest.raises(UserError, match=r"broken\.yaml: not readable YAML"):
        read_config(RunConfig, path)


@pytest.mark.parametrize("text", ["a: 1\na: 2", "a: {b: 1, b: 1}", "a: 0x_", "a: " + "9" * 5000, "a: 2024-13-45"])
def test_yaml_that_says_something_twice_or_odd_is_refused(tmp_path, text):
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=r"odd\.yaml: not readable YAML") as error:
        read_config(RunConfig, path)
    assert "\n" not in str(error.value)


def test_yaml_executes_nothing(tmp_path):
    path = tmp_path / "evil.yaml"
    path.write_text("!!python/object/apply:os.system ['true']")
    with pytest.raises(UserError, match=r"evil\.yaml"):
        read_config(RunConfig, path)


def test_settings_of_a_row_depend_on_the_family_and_the_runs_factors():
    plan = Plan.read(CONFIG, default(factors=7), [])
    assert plan.settings("vse_fs_published", "sim-nuswide")["beta_0"] == 3.0
    assert plan.settings("vse_fs_published", "sim-iapr")["beta_0"] == 128.0
    assert plan.settings("vse_fs_published", "sim-iapr")["factors"] == 7
    assert plan.settings("popularity", "sim-iapr") == {}


def test_untuned_runs_try_nothing():
    assert Plan.read(CONFIG, default(), []).grid("opt_auc") == {}
    assert len(Plan.read(CONFIG, default(tune=True), []).grid("opt_auc")) == 2
