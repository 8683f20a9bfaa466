import re
import shutil
from pathlib import Path

import pytest
import yaml

from vsebench.config.dataset import DatasetConfig, SiblingsConfig, WordsConfig
from vsebench.config.method import read_method_config
from vsebench.config.run import RunConfig
from vsebench.core.errors import UserError
from vsebench.core.places import Place
from vsebench.core.yaml_files import check, read_config
from vsebench.data.needs import NEEDS
from vsebench.formats.adapters import knows, load_adapter
from vsebench.methods.base import Ensemble, load_method, read_settings, with_factors
from vsebench.plan.plan import NO_DECISIONS, NO_SIBLINGS, Plan

ROOT = Path(__file__).parent.parent
CONFIG = ROOT / "config"
RUNS = sorted(CONFIG.glob("*.yaml"))


PEERS = {"implicit_als": "implicit", "lightfm_warp": "lightfm", "lightfm_features": "lightfm"}


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
    assert ("simulated" in config.title.lower()) == bool(knows(config.adapter))


@pytest.mark.parametrize("path", sorted((CONFIG / "methods").glob("*.yaml")), ids=lambda path: path.stem)
def test_method_files_are_valid_with_every_setting_they_try(path):
    config = read_method_config(path)
    needs_peers([path.stem])
    method = load_method(config.method)
    assert issubclass(method, Ensemble) == bool(config.members)
    if config.members:
        return  # the plan checks them
    settings = with_factors(method, config.settings, 16)
    for family in [{}, *config.family_settings.values()]:
        read_settings(method, settings | family, str(path))
    assert set(config.grid) <= set(config.settings)
    for key, tried in config.grid.items():
        for value in tried:
            read_settings(method, settings | {key: value}, str(path))


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_run_files_are_valid(path):
    needs_peers(values(path)["methods"])
    plan = Plan.read(CONFIG, values(path), [path])
    assert plan.places
    for place in plan.places:
        assert plan.rows(place)
        assert ("oracle" in plan.rows(place)) <= bool(knows(plan.datasets[place.dataset].adapter))


def default(**changes):
    """The default run on one data set."""
    return values(CONFIG / "config.yaml") | {"datasets": {"sim-iapr": ONE}} | changes


ONE = {"protocols": ["distinct"]}
IAPR = Place("sim-iapr", "distinct")
TREE = {"dataset": "sim-tree", "repeats": 2, "images": [10, 20], "terms": [5, 10]}
SCALING = {"dataset": "sim-iapr", "repeats": 2, "pairs": [10, 20], "labels": [10, 20], "factors": [1, 2]}


def test_a_sweep_of_a_method_that_is_not_in_the_run_is_left_out():
    plan = Plan.read(CONFIG, default(methods=["opt_auc"], sweeps={"vse_fs": {"alpha": [0]}}), [])
    assert plan.sweeps(IAPR) == []
    plan = Plan.read(CONFIG, default(sweeps={"vse_fs": {"alpha": [0], "gamma": [0]}}), [])
    assert plan.sweeps(IAPR) == [("vse_fs", "alpha"), ("vse_fs", "gamma")]


def test_a_data_set_without_sweeps():
    changes = {"sweeps": {"vse_fs": {"alpha": [0]}}, "datasets": {"sim-iapr": ONE | {"sweeps": []}}}
    plan = Plan.read(CONFIG, default(**changes), [])
    assert plan.sweeps(IAPR) == []
    assert "sweeps" not in plan.outline.files


def test_how_far_a_search_goes_beyond_the_edges_of_a_grid():
    changes = {"methods": ["vse_ens", "vse_ens_published"], "tuning_beyond_edges": 3}
    plan = Plan.read(CONFIG, default(**changes), [])
    assert [plan.beyond_edges(row) for row in plan.methods] == [3, 0]  # the second stays in its printed range
    assert plan.beyond_edges("vse_ens", sweep=True) == 3
    plan = Plan.read(CONFIG, default(**changes, sweeps_beyond_edges=9), [])
    assert plan.beyond_edges("vse_ens") == 3
    assert plan.beyond_edges("vse_ens", sweep=True) == 9


def test_a_run_limits_the_epochs_of_single_rows():
    usual = Plan.read(CONFIG, default(), [])
    plan = Plan.read(CONFIG, default(epochs={"vse_fs": {"maximum": 3, "patience": 2}}), [])
    assert plan.methods["vse_fs"].epochs.model_dump() == {"maximum": 3, "patience": 2}
    assert plan.methods["opt_auc"] == usual.methods["opt_auc"]


def test_a_data_set_limits_the_epochs_of_single_rows():
    limits = {"vse_fs": {"maximum": 3, "patience": 2}}
    sets = {"sim-iapr": ONE | {"epochs": limits}, "sim-openimages": ONE}
    plan = Plan.read(CONFIG, default(datasets=sets, epochs={"vse_fs": {"maximum": 9, "patience": 9}}), [])
    assert plan.epochs("vse_fs", "sim-iapr").model_dump() == limits["vse_fs"]
    assert plan.epochs("vse_fs", "sim-openimages").maximum == 9
    assert plan.epochs("opt_auc", "sim-iapr") == plan.methods["opt_auc"].epochs
    assert plan.epochs("popularity", "sim-iapr") is None
    message = r"datasets\.sim-iapr\.epochs: popularity is not trained by epochs"
    with pytest.raises(UserError, match=message):
        Plan.read(CONFIG, default(datasets={"sim-iapr": ONE | {"epochs": {"popularity": limits["vse_fs"]}}}), [])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": "three"}, "some.yaml: seeds: Input should be a valid list, not 'three'"),
        ({"seeds": [1, "2"]}, "some.yaml: seeds.1: Input should be a valid integer"),
        ({"sedes": [1]}, "some.yaml: sedes: unknown key"),
        (
            {"datasets": {"sim-iapr": {"protocols": ["leave-two-out"]}}},
            "some.yaml: datasets.sim-iapr.protocols: unknown protocol 'leave-two-out'; known are distinct, images",
        ),
        ({"datasets": {"sim-iapr": {"protocols": []}}}, "some.yaml: datasets.sim-iapr.protocols"),
        ({"datasets": {"sim-iapr": {"protocols": ["regions"] * 2}}}, "protocols: 'regions' is there more than once"),
        (
            {"datasets": {"sim-iapr": {"protocols": ["regions"], "protocol_methods": {"distinct": ["vse_fs"]}}}},
            "datasets.sim-iapr.protocol_methods: distinct is not among the data set's protocols; add it there",
        ),
        (
            {"datasets": {"sim-iapr": {"protocols": ["regions"], "protocol_methods": {"regions": ["bce_linear"]}}}},
            "datasets.sim-iapr.protocol_methods.regions: bce_linear is not among the run's methods; add it there",
        ),
        ({"methods": ["opt_auc", "opt_auc"]}, "some.yaml: methods: 'opt_auc' is there more than once"),
        ({"seeds": [1, 1]}, "some.yaml: seeds: 1 is there more than once"),
        ({"seeds": [-1]}, "some.yaml: seeds: -1 is negative"),
        ({"metrics": ["recall@5", "recal@5"]}, "some.yaml: metrics: there is no metric 'recal@5'; there are auc"),
        ({"metrics": ["recall"]}, "some.yaml: metrics: the metric 'recall' needs a cut-off, such as recall@10"),
        ({"metrics": ["map", "mrr", "map"]}, "some.yaml: metrics: 'map' is there more than once"),
        ({"metrics": []}, "some.yaml: metrics"),
        ({"validation_metric": "coverage"}, "validation_metric: coverage cannot choose settings; use ndcg@10 or map"),
        ({"validation_metric": "label_map"}, "validation_metric: label_map cannot choose settings"),
        ({"validation_metric": "macro_f1@5"}, "validation_metric: macro_f1@5 cannot choose settings"),
        ({"datasets": {"imagenet": {"protocols": ["distinct"]}}}, "'imagenet' has no file"),
        ({"methods": ["opt_auc", "resnet"]}, "'resnet' has no file"),
        ({"factors": 0}, "some.yaml: factors"),
        ({"tune": True, "tuning_budget": 5}, "tuning_budget is 5; every method gets the same number"),
        ({"sweeps": {"vse_fx": {"alpha": [0]}}}, "'vse_fx' has no file"),
        (
            {"datasets": {"sim-iapr": ONE | {"sweeps": ["regions"]}}},
            "datasets.sim-iapr.sweeps: regions is not among the data set's protocols; add it there",
        ),
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
        (
            {"scaling": SCALING | {"dataset": "sim-tree"}},
            "scaling: the sizes of sim-tree are images, terms; name these and no others",
        ),
        ({"scaling": TREE | {"terms": None}}, "scaling: the sizes of sim-tree are images, terms"),
        (
            {"scaling": TREE | {"options": {"terms": 1}}},
            "scaling.options: terms_per_node: a node cannot have",
        ),
        ({"scaling": TREE | {"options": {"scale": 2.0}}}, "scaling.options.scale: the sizes say it; remove this key"),
        ({"scaling": TREE | {"images": [-600, 100]}}, "scaling.images.0: Input should be greater than or equal to 1"),
        ({"scaling": TREE | {"terms": [60, 60]}}, "scaling.terms: two or more different sizes are needed"),
        ({"scaling": TREE | {"methods": ["wsabie_100"]}}, "scaling.methods: wsabie_100 is not among the run's methods"),
        ({"scaling": TREE | {"methods": ["opt_auc"]}}, "scaling.methods: opt_auc cannot be measured there"),
        ({"scaling": SCALING | {"pairs": [10]}}, "some.yaml: scaling.pairs"),
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
        ({"validation_metric": "f2"}, "validation_metric: there is no metric 'f2'"),
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
    plan = Plan.read(CONFIG, default(factors=7, datasets={"sim-iapr": ONE, "sim-nuswide": ONE}), [])
    assert plan.settings("vse_fs_published", "sim-nuswide")["beta_0"] == 3.0
    assert plan.settings("vse_fs_published", "sim-iapr")["beta_0"] == 128.0
    assert plan.settings("vse_fs_published", "sim-iapr")["factors"] == 7
    assert plan.settings("popularity", "sim-iapr") == {}


def test_a_row_whose_file_names_factors_keeps_them(folder):
    change_method(folder, "opt_auc", settings=values(folder / "methods" / "opt_auc.yaml")["settings"] | {"factors": 5})
    plan = Plan.read(folder, default(factors=7, methods=["opt_auc", "warp"]), [])
    assert plan.settings("opt_auc", "sim-iapr")["factors"] == plan.compiled_settings("opt_auc")["factors"] == 5
    assert plan.settings("warp", "sim-iapr")["factors"] == plan.compiled_settings("warp")["factors"] == 7
    assert list(plan.scaled_rows) == ["opt_auc", "warp"]  # growth is measured at other sizes anyway


def test_no_row_of_the_default_run_has_factors_of_its_own():
    plan = Plan.read(CONFIG, values(CONFIG / "config.yaml"), [])
    found = {plan.settings(row, place.dataset).get("factors") for place in plan.places for row in plan.rows(place)}
    assert found == {None, plan.config.factors}


def test_features_are_normalised_as_the_data_set_says_unless_the_row_does(folder):
    change_method(folder, "nearest_images", settings={"neighbours": 5, "normalise": ["l2"]})
    plan = Plan.read(folder, with_partition(methods=["ridge", "nearest_images", "opt_auc"]), [])
    assert plan.settings("ridge", "corel5k-densehue")["normalise"] == ["root", "standard"]
    assert plan.settings("nearest_images", "corel5k-densehue")["normalise"] == ["l2"]


def test_untuned_runs_try_nothing():
    assert Plan.read(CONFIG, default(), []).grid("opt_auc") == {}
    assert len(Plan.read(CONFIG, default(tune=True), []).grid("opt_auc")) == 2


def with_grid(row, grid, **changes):
    return default(methods=["opt_auc"], tune=True, tuning_budget=2, grids={row: grid}) | changes


def test_a_run_can_replace_the_grid_of_a_row():
    grid = {"learning_rate": [0.3, 0.4]}
    assert Plan.read(CONFIG, with_grid("opt_auc", grid), []).grid("opt_auc") == grid


@pytest.mark.parametrize(
    ("row", "grid", "message"),
    [
        ("opt_auc", {"learning_rate": [0.1, -1]}, "the command line: grids.opt_auc: learning_rate"),
        ("opt_auc", {"learning_rat": [0.1, 0.2]}, "the command line: grids.opt_auc: learning_rat: unknown key"),
        ("opt_auc", {"learning_rate": [0.1]}, "the command line: grids.opt_auc: 1 configurations, but tuning_budget"),
        ("ease", {"regularisation": [1, 2]}, "the command line: grids: ease is not among the run's methods"),
    ],
)
def test_mistakes_in_the_grid_of_a_run_name_it(row, grid, message):
    with pytest.raises(UserError, match=re.escape(message)):
        Plan.read(CONFIG, with_grid(row, grid), [])


def test_a_row_that_extends_another_takes_over_what_it_does_not_name(folder):
    base, variant = folder / "methods" / "wsabie.yaml", folder / "methods" / "wsabie_larger.yaml"
    variant.write_text("title: Larger\nextends: wsabie\nsettings: {factors: 300}\nepochs: {maximum: 9, patience: 2}\n")
    before, found = read_method_config(base), read_method_config(variant)
    assert (found.title, found.epochs.maximum) == ("Larger", 9)
    assert found.settings == before.settings | {"factors": 300}
    assert (found.method, found.source, found.grid) == (before.method, before.source, before.grid)
    change_method(folder, "wsabie", settings=before.settings | {"margin": 0.7})
    assert read_method_config(variant).settings == before.settings | {"margin": 0.7, "factors": 300}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extends: nowhere\n", "methods/a.yaml: extends: 'nowhere' has no file"),
        ("extends: a\n", "methods/a.yaml: extends: 'a' extends this row itself"),
        ("extends: b\n", "methods/b.yaml: extends: 'a' extends this row itself"),
        ("extends: wsabie\nsettings: 3\n", "methods/a.yaml: "),
        ("extends: [wsabie]\n", "methods/a.yaml: extends: "),
    ],
)
def test_a_row_that_cannot_extend_another_is_one_line(folder, text, message):
    (folder / "methods" / "a.yaml").write_text(text)
    (folder / "methods" / "b.yaml").write_text("extends: a\n")
    with pytest.raises(UserError, match=re.escape(message)):
        read_method_config(folder / "methods" / "a.yaml")


def test_a_default_number_of_epochs_is_for_rows_that_are_not_named_and_have_epochs(folder):
    epochs = {"default": {"maximum": 7, "patience": 3}, "warp": {"maximum": 8, "patience": 3}}
    changes = {"methods": ["popularity", "opt_auc", "warp"], "epochs": epochs}
    plan = Plan.read(
        folder, values(CONFIG / "config.yaml") | changes | {"datasets": {"sim-iapr": {"protocols": ["distinct"]}}}, []
    )
    found = {row: limits and limits.maximum for row in plan.methods for limits in [plan.epochs(row, "sim-iapr")]}
    assert found == {"popularity": None, "opt_auc": 7, "warp": 8}


@pytest.fixture
def folder(tmp_path):
    """A copy of the configuration, to change."""
    shutil.copytree(CONFIG, tmp_path / "config")
    return tmp_path / "config"


def change_method(folder, name, **changes):
    path = folder / "methods" / f"{name}.yaml"
    content = {key: value for key, value in (values(path) | changes).items() if value is not None}
    path.write_text(yaml.safe_dump(content))


@pytest.mark.parametrize(
    ("row", "changes", "message"),
    [
        ("opt_auc", {"epochs": None, "grid": None}, "epochs: this key is missing; OptAuc is trained by epochs"),
        ("popularity", {"epochs": {"maximum": 1, "patience": 1}}, "epochs: Popularity has no epochs; remove this key"),
        ("opt_auc", {"role": "rival"}, "role: Input should be 'paper', 'baseline', 'control' or 'oracle', not 'rival'"),
        ("opt_auc", {"method": "nonsense"}, "there is no module nonsense.py in src/vsebench/methods"),
        ("opt_auc", {"method": "sgd"}, "has no METHOD"),
        ("opt_auc", {"settings": {"factors": 8}}, "settings: learning_rate: this key is missing"),
        ("opt_auc", {"grid": {"learning_rate": [0.1, -1]}}, "grid: learning_rate"),
        ("opt_auc", {"family_settings": {"iapr": {"typo": 1}}}, "family_settings.iapr: typo: unknown key"),
    ],
)
def test_mistakes_in_the_file_of_a_row_name_it(folder, row, changes, message):
    change_method(folder, row, **changes)
    with pytest.raises(UserError) as error:
        Plan.read(folder, default(methods=["vse_fs", row]), [])
    assert str(error.value).startswith(f"{folder}/methods/{row}.yaml: ")
    assert message in str(error.value)


ENSEMBLE = "wsabie_100_200"


def test_an_ensemble_of_rows_that_the_run_lacks_is_refused():
    with pytest.raises(UserError, match="methods: wsabie_100_200 is an ensemble of wsabie_200, which is missing"):
        Plan.read(CONFIG, with_partition(methods=["wsabie_100", ENSEMBLE]), [])


def test_an_ensemble_runs_like_any_row():
    plan = Plan.read(CONFIG, with_partition(methods=[ENSEMBLE, "wsabie_100", "wsabie_200", "random"]), [])
    place = Place("corel5k-densehue", "official")
    assert plan.timed_rows(place) == [ENSEMBLE, "wsabie_100", "wsabie_200"]
    assert plan.settings(ENSEMBLE, place.dataset) == {}
    assert plan.rows(IAPR) == ["random"]


@pytest.mark.parametrize(
    ("row", "changes", "message"),
    [
        (ENSEMBLE, {"members": ["wsabie_100"]}, "members: name two or more rows, each once"),
        (ENSEMBLE, {"members": ["wsabie_100", "wsabie_100"]}, "members: name two or more rows, each once"),
        (ENSEMBLE, {"members": ["wsabie_100", "ridge"]}, "members: WsabieEnsemble cannot add up ridge"),
        (ENSEMBLE, {"settings": {"factors": 3}}, "settings, family_settings, grid: an ensemble has none"),
        ("ridge", {"members": ["wsabie_100", "wsabie_200"]}, "members: Ridge is no ensemble; remove this key"),
    ],
)
def test_mistakes_about_members_name_file_and_key(folder, row, changes, message):
    change_method(folder, row, **changes)
    with pytest.raises(UserError) as error:
        Plan.read(folder, with_partition(methods=["wsabie_100", "wsabie_200", ENSEMBLE, "ridge"]), [])
    assert str(error.value).startswith(f"{folder}/methods/{row}.yaml: {message}")


def with_rows(rows, **changes):
    """A run that names the rows of one of its two data sets."""
    chosen = {"protocols": ["official"], "methods": rows}
    methods = ["wsabie_100", "wsabie_200", ENSEMBLE, "ridge", "popularity"]
    return default(datasets={"corel5k-densehue": chosen, "sim-iapr": ONE}, papers=[], methods=methods, **changes)


def test_a_data_set_gets_the_rows_that_the_run_names_for_it():
    plan = Plan.read(CONFIG, with_rows(["popularity", "ridge"]), [])
    assert plan.rows(Place("corel5k-densehue", "official")) == ["ridge", "popularity"]
    assert plan.obstacles(Place("corel5k-densehue", "official")) == {}
    assert plan.rows(IAPR) == ["popularity"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["ridge", "softmax"], "softmax is not among the run's methods; add it there"),
        (["ridge", "ridge"], "'ridge' is there more than once"),
        ([], "List should have at least 1 item"),
        ([ENSEMBLE, "wsabie_100"], "wsabie_100_200 is an ensemble of wsabie_200, which is missing; add it"),
    ],
)
def test_mistakes_about_the_rows_of_a_data_set_name_the_key(rows, message):
    with pytest.raises(UserError) as error:
        Plan.read(CONFIG, with_rows(rows), [])
    assert f"datasets.corel5k-densehue.methods: {message}" in str(error.value)


def test_a_protocol_can_have_rows_of_its_own():
    entry = {"protocols": ["official", "distinct"], "methods": ["ridge", "popularity"]}
    entry["protocol_methods"] = {"distinct": ["opt_auc", "popularity"]}
    values = default(datasets={"corel5k-densehue": entry}, papers=[], methods=["opt_auc", "popularity", "ridge"])
    plan = Plan.read(CONFIG, values, [])
    assert plan.rows(Place("corel5k-densehue", "official")) == ["popularity", "ridge"]
    assert plan.rows(Place("corel5k-densehue", "distinct")) == ["opt_auc", "popularity"]


def with_partition(**changes):
    """A data set with a partition and features, and a simulated one without."""
    datasets = {"corel5k-densehue": {"protocols": ["official", "distinct"]}, "sim-iapr": ONE}
    return default(datasets=datasets, papers=[], **changes)


def test_a_row_runs_where_the_place_offers_what_it_needs():
    plan = Plan.read(CONFIG, with_partition(methods=["opt_auc", "popularity", "oracle", "ridge"]), [])
    official, distinct = Place("corel5k-densehue", "official"), Place("corel5k-densehue", "distinct")
    assert plan.rows(official) == ["popularity", "ridge"]
    assert plan.rows(distinct) == ["opt_auc", "popularity", "ridge"]
    assert plan.rows(IAPR) == ["opt_auc", "popularity", "oracle"]
    assert plan.timed_rows(distinct) == ["opt_auc", "ridge"]
    assert plan.oracles(IAPR) == ["oracle"]
    left_out = {(entry.dataset, entry.protocol, entry.method): entry.reason for entry in plan.outline.left_out}
    assert left_out == {
        ("corel5k-densehue", "official", "opt_auc"): NEEDS["known_labels"].missing_reason,
        ("corel5k-densehue", "official", "oracle"): NEEDS["truth"].missing_reason,
        ("corel5k-densehue", "distinct", "oracle"): NEEDS["truth"].missing_reason,
        ("sim-iapr", "distinct", "ridge"): NEEDS["features"].missing_reason,
    }


def test_a_data_set_where_no_row_can_run_is_refused_with_all_reasons():
    datasets = {"corel5k-densehue": {"protocols": ["official"]}, "sim-iapr": ONE}
    with pytest.raises(UserError) as error:
        Plan.read(CONFIG, default(datasets=datasets, papers=[], methods=["opt_auc", "oracle"]), [])
    message = str(error.value)
    assert "datasets.corel5k-densehue: no method can run under official" in message
    assert f"opt_auc: {NEEDS['known_labels'].missing_reason}; oracle: {NEEDS['truth'].missing_reason}" in message


def test_settings_are_chosen_by_the_protocols_metric_unless_the_run_names_one():
    plan = Plan.read(CONFIG, with_partition(methods=["opt_auc", "popularity"]), [])
    assert plan.validation_metric(IAPR) == "ndcg@10"
    assert plan.validation_metric(Place("corel5k-densehue", "official")) == "map"
    plan = Plan.read(CONFIG, with_partition(methods=["opt_auc", "popularity"], validation_metric="mrr"), [])
    assert plan.validation_metric(IAPR) == "mrr"


def test_sweeps_show_the_metrics_of_images():
    metrics = ["map", "label_map", "macro_f1@5", "recall@5"]
    assert Plan.read(CONFIG, default(metrics=metrics), []).rank_metrics == ["map", "recall@5"]


@pytest.mark.parametrize(
    "changes",
    [
        {"bootstrap": 12345},
        {"metrics": ["map", "coverage"]},
        {"papers": []},
        {"seeds": [1, 2, 3, 4]},
        {"timing": {"repeats": 9, "epochs": 9}},
        {"scaling": None},
        {"sweeps": {"vse_fs": {"alpha": [0.0]}}},
    ],
)
def test_a_fit_has_the_same_parameters_whatever_else_a_run_says(changes):
    def parameters(plan):
        return {
            row: (
                plan.settings(row, "sim-iapr"), plan.grid(row), plan.methods[row].epochs, plan.is_validated(row),
                plan.validation_metric(IAPR), plan.config.validation_images,
            )
            for row in plan.methods
        }  # fmt: skip

    assert parameters(Plan.read(CONFIG, default(**changes), [])) == parameters(Plan.read(CONFIG, default(), []))


def test_methods_are_timed_with_the_named_protocols():
    sets = {"sim-tree": {"protocols": ["official", "images"]}}

    def timed(**timing):
        changes = {"datasets": sets, "methods": ["ridge"], "timing": {"repeats": 1, "epochs": 1} | timing}
        return [place.protocol for place in Plan.read(CONFIG, default(**changes), []).timed_places]

    assert timed() == ["official", "images"]
    assert timed(protocols=["images"]) == ["images"]
    with pytest.raises(UserError, match=r"timing.protocols: no data set of the run has the protocol regions"):
        timed(protocols=["official", "regions"])


def test_the_first_seed_chooses_settings_where_all_seeds_have_the_same_split():
    sets = {"sim-tree": {"protocols": ["official", "images"]}}
    plan = Plan.read(CONFIG, default(datasets=sets, methods=["ridge", "random"], seeds=[7, 2], tune=True), [])
    official, images = (Place("sim-tree", name) for name in ("official", "images"))
    assert [plan.seed_of_settings("ridge", official, seed) for seed in (7, 2)] == [7, 7]
    assert [plan.seed_of_settings("ridge", images, seed) for seed in (7, 2)] == [7, 2]
    assert plan.seed_of_settings("random", official, 2) == 2  # nothing is tried


def test_growth_of_scoring_is_measured_of_rows_that_need_features_alone():
    rows = ["opt_auc", "wsabie", "wsabie_100", "wsabie_200", "wsabie_100_200", "vote_by_cosine", "oracle"]
    plan = Plan.read(CONFIG, with_partition(methods=rows, scaling=TREE), [])
    assert list(plan.scaled_rows) == ["wsabie", "wsabie_100", "wsabie_200", "vote_by_cosine"]
    module, settings = plan.scaled_rows["wsabie"]
    assert (module, settings["normalise"]) == ("wsabie", ["root", "idf", "l2"])  # those of sim-tree
    plan = Plan.read(CONFIG, with_partition(methods=rows, scaling=TREE | {"methods": ["wsabie"]}), [])
    assert list(plan.scaled_rows) == ["wsabie"]


def test_growth_is_measured_of_rows_that_learn_from_labels_alone():
    plan = Plan.read(CONFIG, with_partition(methods=["opt_auc", "warp", "ease", "wsabie", "linear_warp"]), [])
    assert list(plan.scaled_rows) == ["opt_auc", "warp"]


def test_a_user_may_say_words_on_the_command_line():
    given = {"tune": "true", "seeds": ["1", "2"], "validation_metric": "mrr", "tuning_budget": 8}
    plan = Plan.read(CONFIG, default(**given), [CONFIG / "config.yaml"], overridden=list(given))
    assert (plan.config.tune, plan.config.seeds, plan.config.validation_metric) == (True, [1, 2], "mrr")


LISTS = {"metrics": ["map", "sibling_precision@10"]}


def own_table(folder, **data):
    (folder / "t.csv").write_text("image,label\n1,a\n")
    return {"mine": {"protocols": ["distinct"], "data": {"pairs": str(folder / "t.csv"), **data}}}


def test_a_metric_of_siblings_is_left_out_where_nothing_says_which_they_are():
    datasets = {"corel5k": ONE, "sim-iapr": ONE}
    plan = Plan.read(CONFIG, default(datasets=datasets, methods=["popularity"], papers=[], **LISTS), [])
    assert plan.left_out_lines() == [f"Left out at sim-iapr/distinct: sibling_precision@10: {NO_SIBLINGS}."]
    (entry,) = plan.outline.metrics_left_out
    assert (entry.dataset, entry.metric) == ("sim-iapr", "sibling_precision@10")
    assert plan.siblings["corel5k"].adapter == "wordnet"
    assert plan.about("corel5k")["siblings"]["title"] == "WordNet 3.0, nouns"


def test_a_run_without_siblings_refuses_metrics_of_them():
    with pytest.raises(UserError, match=r"metrics: sibling_precision@10: no data set of the run says"):
        Plan.read(CONFIG, default(**LISTS), [])


def test_a_metric_of_siblings_cannot_choose_settings():
    with pytest.raises(UserError, match=r"validation_metric: sibling_precision@10 cannot choose settings"):
        Plan.read(CONFIG, default(validation_metric="sibling_precision@10"), [])


def test_a_users_own_table_of_parents_is_a_path(tmp_path):
    (tmp_path / "p.csv").write_text("label,parent\na,b\n")
    datasets = own_table(tmp_path, siblings=str(tmp_path / "p.csv"))
    plan = Plan.read(CONFIG, default(datasets=datasets, methods=["popularity"], papers=[], **LISTS), [])
    assert plan.siblings["mine"].options == {"parents": str(tmp_path / "p.csv")}
    assert plan.datasets["mine"].definition().keys() == {"adapter", "options"}


@pytest.mark.parametrize(
    ("siblings", "message"),
    [
        ("wordnett", r"datasets\.mine\.data\.siblings: 'wordnett' has no file .*siblings/wordnett\.yaml; there are "),
        ("no.csv", r"datasets\.mine\.data\.siblings: there is no file no\.csv"),
        ("parents.txt", r"datasets\.mine\.data\.siblings: parents: the name should end in \.parquet"),
    ],
)
def test_a_source_of_siblings_that_is_not_there_is_named(tmp_path, siblings, message):
    with pytest.raises(UserError, match=message):
        Plan.read(CONFIG, default(datasets=own_table(tmp_path, siblings=siblings), papers=[]), [])


@pytest.mark.parametrize("path", sorted((CONFIG / "siblings").glob("*.yaml")), ids=lambda path: path.stem)
def test_files_of_siblings_are_valid(path):
    config = read_config(SiblingsConfig, path)
    load_adapter(config.adapter, str(path), "read_parents").Options(**config.options)


def test_a_mistake_in_a_file_of_siblings_names_it(folder):
    path = folder / "siblings" / "saiapr.yaml"
    path.write_text(path.read_text().replace("parents:", "parent_file:"))
    datasets = {"saiapr": ONE}
    with pytest.raises(UserError, match=r"siblings/saiapr\.yaml: options: parents: this key is missing"):
        Plan.read(folder, default(datasets=datasets, methods=["popularity"], papers=[]), [])


DECIDED = {
    "datasets": {"sim-features": {"protocols": ["images"], "refit": False}},
    "methods": ["ridge", "popularity"],
    "decisions": {"threshold": ["ridge", "popularity"], "label_count": ["ridge"]},
    "metrics": ["map", "exact_match", "macro_f1@5"],
    "papers": [],
}


def decided(**changes):
    return Plan.read(CONFIG, default(**DECIDED | {"sweeps": {}} | changes), [])


def test_a_run_says_which_rows_get_which_decisions():
    plan = decided()
    (place,) = plan.places
    assert [str(entry) for entry in plan.decided(place)] == [
        "ridge/threshold", "ridge/label_count", "popularity/threshold",
    ]  # fmt: skip
    assert plan.outline.metrics == ["map", "macro_f1@5"]
    assert plan.outline.decision_metrics == ["exact_match"]
    assert plan.outline.decided == [place]
    assert "decisions-sim-features-images" in plan.tables


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"methods": ["popularity"]}, ["popularity/threshold"]),
        ({"metrics": ["map"]}, []),
        ({"decisions": {}, "metrics": ["map"]}, []),
    ],
)
def test_decisions_of_rows_that_the_run_has_not_or_that_nothing_measures_are_left_out(changes, expected):
    plan = decided(**changes)
    assert [str(entry) for place in plan.places for entry in plan.decided(place)] == expected


def test_no_decision_is_made_where_the_models_learn_the_validation_images():
    plan = decided(datasets={"sim-features": {"protocols": ["images"]}})
    assert plan.decided(plan.places[0]) == []
    assert plan.left_out_lines() == [f"Left out at sim-features/images: decisions: {NO_DECISIONS}."]


def test_decisions_are_made_where_test_images_are_new():
    both = {"sim-features": {"protocols": ["images", "distinct"], "refit": False}}
    plan = decided(datasets=both, methods=["popularity"], decisions={"top_k": ["popularity"]})
    assert [len(plan.decided(place)) for place in plan.places] == [1, 0]
    assert plan.outline.decided == plan.places[:1]


def test_the_best_possible_label_sets_are_known_where_the_law_of_the_labels_is():
    datasets = {
        name: {"protocols": ["official"], "refit": False} for name in ("sim-catalogue", "sim-independent", "sim-tree")
    }
    rows = {"score_above_0": ["oracle"], "best_exact_match": ["oracle"]}
    plan = decided(datasets=datasets, methods=["popularity", "oracle"], decisions=rows)
    assert [len(plan.decided(place)) for place in plan.places] == [2, 2, 1]
    assert all(entry.row == "oracle" for place in plan.places for entry in plan.not_compared(place))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decisions": {"treshold": ["ridge"]}}, "decisions: 'treshold' has no file"),
        ({"decisions": {"threshold": ["lsp"]}}, "decisions.threshold: methods: 'lsp' has no file"),
        ({"decisions": {"threshold": ["ridge", "ridge"]}}, "decisions.threshold: 'ridge' is there more than once"),
        ({"decisions": {"own": ["ridge"]}}, "decisions.own: ridge learns no thresholds; name another row"),
        ({"decisions": {}}, "metrics: exact_match is of the label sets that decisions choose, and the run has no"),
        ({"metrics": ["exact_match"]}, "metrics: name at least one of an image's ranks"),
    ],
)
def test_mistakes_about_decisions_name_the_key(changes, message):
    with pytest.raises(UserError) as error:
        decided(**changes)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tuned_for": "map"}, "threshold.yaml: tuned_for: a metric of label sets is needed, such as macro_f1"),
        ({"tuned_for": "set_size"}, "threshold.yaml: tuned_for: a metric of label sets is needed"),
        ({"tuned_for": None}, "threshold.yaml: tuned_for: a metric of label sets is needed"),
        (
            {"decision": "calibrated", "settings": {}},
            "threshold.yaml: tuned_for: Calibrated is not tuned for a metric; remove this key",
        ),
        ({"tuned_for": "f9"}, "threshold.yaml: there is no metric 'f9'"),
        ({"decision": "treshold"}, "threshold.yaml: there is no decision 'treshold'"),
        ({"settings": {"steps": 0}}, "threshold.yaml: settings: steps: Input should be greater than or equal to 2"),
    ],
)
def test_a_mistake_in_the_file_of_a_decision_names_it(tmp_path, changes, message):
    folder = tmp_path / "config"
    shutil.copytree(CONFIG, folder)
    path = folder / "decisions" / "threshold.yaml"
    path.write_text(yaml.safe_dump(values(path) | changes))
    with pytest.raises(UserError) as error:
        Plan.read(folder, default(**DECIDED | {"sweeps": {}}), [])
    assert message in str(error.value)


def test_a_run_names_the_words_of_a_data_set():
    datasets = {"sim-iapr": ONE | {"words": "glove-6b"}, "corel5k": ONE}
    plan = Plan.read(CONFIG, default(datasets=datasets, methods=["popularity"], papers=[]), [])
    assert list(plan.words) == ["sim-iapr"]
    assert plan.about("sim-iapr")["words"]["title"] == "GloVe 6B, 300 dimensions"
    assert "words" in plan.provides(IAPR)
    assert "words" not in plan.provides(Place("corel5k", "distinct"))
    assert "words" in plan.outline.files
    assert "words" in plan.tables


def test_a_run_without_words_makes_no_table_of_them():
    plan = Plan.read(CONFIG, default(methods=["popularity"], papers=[]), [])
    assert plan.words == {}
    assert "words" not in plan.outline.files
    assert "words" not in plan.tables


def test_a_row_that_needs_words_is_left_out_where_there_are_none(monkeypatch):
    monkeypatch.setattr(load_method("popularity"), "needs", frozenset({"words"}))
    datasets = {"sim-iapr": ONE | {"words": "glove-6b"}, "corel5k": ONE}
    plan = Plan.read(CONFIG, default(datasets=datasets, methods=["popularity", "random"], papers=[]), [])
    assert plan.rows(IAPR) == ["popularity", "random"]
    assert plan.left_out_lines() == [f"Left out at corel5k/distinct: popularity: {NEEDS['words'].missing_reason}."]


def test_words_of_a_users_own_table_and_of_a_data_sets_file(tmp_path, folder):
    datasets = own_table(tmp_path, words="word2vec-news")
    plan = Plan.read(CONFIG, default(datasets=datasets, methods=["popularity"], papers=[]), [])
    assert plan.words["mine"].adapter == "word2vec_binary"
    path = folder / "datasets" / "corel5k.yaml"
    path.write_text(path.read_text() + "words: fasttext-crawl\n")
    plan = Plan.read(folder, default(datasets={"corel5k": ONE}, methods=["popularity"], papers=[]), [])
    assert plan.words["corel5k"].title == "fastText, Common Crawl, 300 dimensions"


@pytest.mark.parametrize(
    ("datasets", "message"),
    [
        ({"sim-iapr": ONE | {"words": "glove"}}, r"datasets\.sim-iapr\.words: 'glove' has no file .*words/glove\.yaml"),
        ({"sim-iapr": ONE | {"words": "../glove"}}, r"datasets\.sim-iapr\.words: '\.\./glove' has no file"),
    ],
)
def test_a_source_of_words_that_is_not_there_is_named(datasets, message):
    with pytest.raises(UserError, match=message):
        Plan.read(CONFIG, default(datasets=datasets, methods=["popularity"], papers=[]), [])


def test_a_users_own_file_of_words_has_to_be_there(folder, tmp_path):
    path = folder / "words" / "mine.yaml"
    lines = ["title: t", "licence: l", "citation: c", "adapter: text_vectors", "options:", f"  file: {tmp_path}/w.txt"]
    path.write_text("\n".join(lines) + "\n")
    values = default(datasets={"sim-iapr": ONE | {"words": "mine"}}, methods=["popularity"], papers=[])
    with pytest.raises(UserError, match=r"words/mine\.yaml: options\.file: there is no file"):
        Plan.read(folder, values, [])
    (tmp_path / "w.txt").write_text("sky 1 2\n")
    assert Plan.read(folder, values, []).words["sim-iapr"].own_file == f"{tmp_path}/w.txt"


@pytest.mark.parametrize("path", sorted((CONFIG / "words").glob("*.yaml")), ids=lambda path: path.stem)
def test_files_of_words_are_valid(path):
    config = read_config(WordsConfig, path)
    options = load_adapter(config.adapter, str(path), "read_vectors").Options(**config.options)
    if config.adapter == "simulated_words":
        assert not config.files
        assert config.own_file is None
    else:
        assert options.file in {file.name for file in config.files}


def unseen_labels(protocols, rows, words="glove-6b", **changes):
    """A run on a data set with features and words, under protocols of unseen labels."""
    entry = {"protocols": protocols} | ({"words": words} if words else {}) | changes.pop("entry", {})
    rest = {"metrics": ["map"], "decisions": {}, "sweeps": {}, "papers": []} | changes
    return default(datasets={"corel5k-densehue": entry}, methods=rows, **rest)


def test_where_all_candidates_are_unseen_rows_run_that_know_labels_otherwise():
    rows = ["popularity", "ridge", "conse", "x_ent", "constant_direction", "random", "unseen_frequency"]
    protocols = ["official", "unseen_labels", "unseen_labels_all", "unseen_labels_by_frequency"]
    plan = Plan.read(CONFIG, unseen_labels(protocols, rows), [])
    found = {name: plan.rows(Place("corel5k-densehue", name)) for name in protocols}
    for name in ("unseen_labels", "unseen_labels_by_frequency"):
        assert found[name] == rows[2:]
        assert plan.oracles(Place("corel5k-densehue", name)) == ["unseen_frequency"]
    assert found["official"] == rows[:-1]
    assert found["unseen_labels_all"] == rows
    assert plan.left_out_lines()[0].endswith(f"official: unseen_frequency: {NEEDS['test_labels'].missing_reason}.")
    assert plan.left_out_lines()[1].endswith(
        f"unseen_labels: popularity, ridge: {NEEDS['trained_labels'].missing_reason}."
    )


def test_unseen_labels_without_words_are_refused_in_one_line():
    with pytest.raises(UserError) as error:
        Plan.read(CONFIG, unseen_labels(["unseen_labels"], ["random"], words=None), [])
    assert str(error.value) == (
        "the command line: datasets.corel5k-densehue.protocols: unseen_labels is for labels with word vectors, and "
        f"nothing says where these are from; name a file of {CONFIG}/words under `words` of corel5k-densehue"
    )


def test_no_decision_is_taught_where_validation_asks_for_other_labels_than_the_test():
    changes = {"metrics": ["map", "exact_match"], "decisions": {"threshold": ["x_ent"]}, "entry": {"refit": False}}
    plan = Plan.read(CONFIG, unseen_labels(["official", "unseen_labels"], ["x_ent"], **changes), [])
    assert [entry.row for entry in plan.decided(Place("corel5k-densehue", "official"))] == ["x_ent"]
    assert plan.decided(Place("corel5k-densehue", "unseen_labels")) == []
    assert any("its validation images are asked for other labels" in line for line in plan.left_out_lines())


def test_a_row_that_reads_the_test_labels_is_an_oracle(folder):
    path = folder / "methods" / "unseen_frequency.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("role: oracle", "role: control"), encoding="utf-8")
    with pytest.raises(UserError, match=r"unseen_frequency\.yaml: role: UnseenFrequency reads the test labels"):
        Plan.read(folder, unseen_labels(["unseen_labels"], ["unseen_frequency"]), [])


def transfer(protocol="from-sim-features", **entries):
    """A run that trains on one data set and tests on another."""
    tested = {"protocols": [protocol], "words": "glove-6b"} | entries.pop("tested", {})
    trained = {"protocols": ["images"], "words": "glove-6b"} | entries.pop("trained", {})
    datasets = {"corel5k-densehue": tested, "sim-features": trained, "corel5k": ONE | {"words": "glove-6b"}}
    rest = {"metrics": ["map"], "decisions": {}, "sweeps": {}, "papers": []}
    return default(datasets=datasets, methods=["random", "conse", "ridge", "popularity", "oracle"], **rest)


def test_a_row_runs_after_transfer_where_both_data_sets_have_what_it_needs():
    plan = Plan.read(CONFIG, transfer(), [])
    place = Place("corel5k-densehue", "from-sim-features")
    assert plan.rows(place) == ["random", "conse", "ridge", "popularity"]
    assert plan.joined == [place]
    assert plan.joined_features(place) == [
        "data/processed/corel5k-densehue/features.npy", "data/processed/sim-features/features.npy",
    ]  # fmt: skip
    assert "sim-features" in plan.outline.protocols["from-sim-features"]
    plan = Plan.read(CONFIG, transfer("from-corel5k"), [])
    place = Place("corel5k-densehue", "from-corel5k")
    assert plan.rows(place) == ["random", "popularity"]  # corel5k has no features
    assert "given_labels" in plan.provides(place)
    assert "given_labels" not in plan.provides(Place("sim-features", "images"))
    assert plan.joined_features(place) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protocol": "from-mirflickr38"}, "'mirflickr38' is no other data set of the run; add it under `datasets`"),
        ({"protocol": "from-corel5k-densehue"}, "'corel5k-densehue' is no other data set of the run"),
        ({"trained": {"words": None}}, "nothing says where these are from; name a file of"),
        ({"trained": {"words": "word2vec-news"}}, "the words are from glove-6b and word2vec-news; name the same file"),
    ],
)
def test_mistakes_about_what_is_trained_on_name_the_key(changes, message):
    with pytest.raises(UserError) as error:
        Plan.read(CONFIG, transfer(**changes), [])
    assert "datasets.corel5k-densehue.protocols: from-" in str(error.value)
    assert message in str(error.value)


def test_a_protocol_under_which_no_row_can_run_is_left_out_and_said_so():
    chosen = {"sim-tags-rho05": {"protocols": ["official", "unseen_labels"]}}
    values = default(datasets=chosen, methods=["popularity"], decisions={}, sweeps={}, papers=[], metrics=["map"])
    plan = Plan.read(CONFIG, values, [])
    assert plan.places == [Place("sim-tags-rho05", "official")]
    reason = NEEDS["trained_labels"].missing_reason
    assert f"Left out at sim-tags-rho05/unseen_labels: popularity: {reason}." in plan.left_out_lines()
