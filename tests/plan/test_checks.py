"""Mistakes in a run and in the files of its variants: one line that names file and key."""

import re

import pytest

from tests.plan.runs import CONFIG, ENSEMBLE, ONE, TREE, change_method, partitioned, planned, with_grid, with_variants
from vsebench.core.errors import UserError
from vsebench.data.needs import NEEDS
from vsebench.plan import read_plan

SCALING = {"dataset": "sim-iapr", "repeats": 2, "pairs": [10, 20], "labels": [10, 20], "factors": [1, 2]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": "three"}, "some.yaml: seeds: Input should be a valid list, not 'three'"),
        ({"seeds": [1, "2"]}, "some.yaml: seeds.1: Input should be a valid integer"),
        ({"sedes": [1]}, "some.yaml: sedes: unknown key; did you mean seeds"),
        ({"timing": {"repeat": 3}}, "some.yaml: timing.repeat: unknown key; did you mean repeats"),
        (
            {"datasets": {"mine": {"protocols": ["distinct"], "data": {"pairs": "a.csv", "normalize": ["l2"]}}}},
            "normalize: unknown key; did you mean normalise",
        ),
        (
            {"datasets": {"sim-iapr": {"protocols": ["leave-two-out"]}}},
            "some.yaml: datasets.sim-iapr.protocols: there is no protocol 'leave-two-out'; the protocols are ",
        ),
        ({"datasets": {"sim-iapr": {"protocols": []}}}, "some.yaml: datasets.sim-iapr.protocols"),
        ({"datasets": {"sim-iapr": {"protocols": ["regions"] * 2}}}, "protocols: 'regions' occurs more than once"),
        (
            {"datasets": {"sim-iapr": {"protocols": ["regions"], "protocol_methods": {"distinct": ["vse_fs"]}}}},
            "datasets.sim-iapr.protocol_methods: distinct is not among the data set's protocols; add it to `protocols`",
        ),
        (
            {"datasets": {"sim-iapr": {"protocols": ["regions"], "protocol_methods": {"regions": ["bce_linear"]}}}},
            "datasets.sim-iapr.protocol_methods.regions: bce_linear is not among the run's methods; add it",
        ),
        ({"methods": ["opt_auc", "opt_auc"]}, "some.yaml: methods: 'opt_auc' occurs more than once"),
        ({"seeds": [-1]}, "some.yaml: seeds: -1 is negative; use seeds of 0 or more"),
        ({"seeds": [2**63]}, f"some.yaml: seeds: {2**63} is too large; use seeds up to {2**63 - 1}"),
        ({"protocol_seeds": {"official": [1]}}, "protocol_seeds.official: the run has no protocol or task official"),
        (
            {"protocol_seeds": {"sim-iapr/regions": [1]}},
            "protocol_seeds.sim-iapr/regions: the run has no protocol or task sim-iapr/regions; remove this key",
        ),
        ({"protocol_seeds": {"distinct": [2, 3]}}, "protocol_seeds.distinct: the first seed must be 1"),
        (
            {"protocol_seeds": {"distinct": [1, 1]}},
            "protocol_seeds.distinct: 1 occurs more than once; name it only once",
        ),
        ({"protocol_seeds": {"distinct": [1, 4, 3]}}, "protocol_seeds.distinct: with protocol_seeds or method_seeds"),
        (
            {"method_seeds": {"resnet": 1}},
            "method_seeds.resnet: resnet is not among the run's methods; add it to `methods`",
        ),
        (
            {"without": {"sim-iapr/distinct/opt_acu": "it failed"}},
            "without: the run has no 'sim-iapr/distinct/opt_acu' (<data set>/<protocol>/<method>); did you mean",
        ),
        ({"method_seeds": {"default": 9}}, "method_seeds.default: no task has more than 5 seeds"),
        (
            {"method_seeds": {"vse_fs": 9}},
            "method_seeds.vse_fs: no task has more than 5 seeds, so this key has no effect",
        ),
        (
            {"metrics": ["recall"]},
            "some.yaml: metrics: the metric 'recall' needs a cut-off, such as recall@10",
        ),
        ({"metrics": ["recall@5", "recal@5"]}, "some.yaml: metrics: there is no metric 'recal@5'; did you mean recall"),
        ({"metrics": []}, "some.yaml: metrics"),
        ({"validation_metric": "coverage"}, "validation_metric: coverage cannot choose settings; use ndcg@10 or map"),
        ({"validation_metric": "label_map"}, "validation_metric: label_map cannot choose settings"),
        ({"datasets": {"imagenet": {"protocols": ["distinct"]}}}, "'imagenet' has no file"),
        ({"methods": ["opt_auc", "resnet"]}, "'resnet' has no file"),
        ({"factors": 0}, "some.yaml: factors"),
        ({"tune": True, "tuning_budget": 5}, "but must be 5 (tuning_budget) in every tuned grid"),
        (
            {"datasets": {"sim-iapr": ONE | {"sweeps": ["regions"]}}},
            "datasets.sim-iapr.sweeps: regions is not among the data set's protocols; add it to `protocols`",
        ),
        ({"epochs": {"vse_fx": {"maximum": 1, "patience": 1}}}, "'vse_fx' has no file"),
        ({"epochs": {"vse_fs": {"maximum": 0, "patience": 1}}}, "epochs.vse_fs.maximum"),
        ({"sweeps": {"popularity": {"alpha": [0]}}}, "popularity is not trained in epochs; remove it from this key"),
        (
            {"sweep_grids": {"opt_auc": {"factors": [2]}}},
            "some.yaml: sweep_grids: opt_auc is not among the run's sweeps",
        ),
        (
            {"sweeps": {"vse_fs": {"alpha": [0]}}, "sweep_grids": {"vse_fs": {"gama": [0]}}},
            "some.yaml: sweep_grids.vse_fs: gama: unknown key",
        ),
        ({"sweeps": {"vse_fs": {"alfa": [0]}}}, "some.yaml: sweeps.vse_fs: alfa: unknown key"),
        ({"sweeps": {"vse_fs": {"alpha": [0, -1]}}}, "some.yaml: sweeps.vse_fs: alpha"),
        ({"scaling": SCALING | {"dataset": "corel5k"}}, "scaling.dataset: corel5k is not simulated"),
        (
            {"scaling": SCALING | {"dataset": "sim-tree"}},
            "scaling: sim-tree has the sizes images, terms; give exactly these",
        ),
        ({"scaling": TREE | {"terms": None}}, "scaling: sim-tree has the sizes images, terms"),
        (
            {"scaling": TREE | {"options": {"terms": 1}}},
            "scaling.options: terms_per_node: must not be",
        ),
        (
            {"scaling": TREE | {"options": {"scale": 2.0}}},
            "scaling.options.scale: the sizes determine this option; remove",
        ),
        ({"scaling": TREE | {"images": [-600, 100]}}, "scaling.images.0: Input should be greater than or equal to 1"),
        ({"scaling": TREE | {"terms": [60, 60]}}, "scaling.terms: give two or more different sizes"),
        ({"scaling": TREE | {"methods": ["wsabie_100"]}}, "scaling.methods: wsabie_100 is not among the run's methods"),
        ({"scaling": TREE | {"methods": ["opt_auc"]}}, "scaling.methods: opt_auc cannot be timed on this data set"),
        ({"scaling": SCALING | {"pairs": [10]}}, "some.yaml: scaling.pairs"),
        (
            {"datasets": {"sim-iapr": ONE | {"vocabulary": {"top": 5}}}},
            "datasets.sim-iapr.vocabulary: top: unknown key",
        ),
        (
            {"datasets": {"mine": ONE | {"data": {"pairs": "no.csv"}}}},
            "datasets.mine.data.pairs: there is no file /",
        ),
        (
            {"datasets": {"mine": ONE | {"data": {"file": "x"}}}},
            "datasets.mine.data: pairs: this key is missing; add it",
        ),
        (
            {"datasets": {"Mine": ONE | {"data": {"pairs": "x"}}}},
            "'Mine' is not a valid name; begin with a lower-case",
        ),
        ({"datasets": {"corel5k": ONE | {"data": {"pairs": "x"}}}}, "has a data set of this name; choose another name"),
        ({"validation_metric": "f2"}, "validation_metric: there is no metric 'f2'"),
    ],
)
def test_mistakes_name_file_and_key(changes, message):
    with pytest.raises(UserError) as error:
        planned(**changes)
    assert message in str(error.value).replace("the command line", "some.yaml")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("variant", "grid", "message"),
    [
        ("opt_auc", {"learning_rate": [0.1, -1]}, "the command line: grids.opt_auc: learning_rate"),
        ("opt_auc", {"learning_rat": [0.1, 0.2]}, "the command line: grids.opt_auc: learning_rat: unknown key"),
        (
            "opt_auc",
            {"learning_rate": [0.1]},
            "the command line: grids.opt_auc: the number of configurations is 1, but must be",
        ),
        ("ease", {"regularisation": [1, 2]}, "the command line: grids: ease is not among the run's methods"),
    ],
)
def test_mistakes_in_the_grid_of_a_run_name_it(variant, grid, message):
    with pytest.raises(UserError, match=re.escape(message)):
        read_plan(CONFIG, with_grid(variant, grid), [])


@pytest.mark.parametrize(
    ("variant", "changes", "message"),
    [
        ("opt_auc", {"epochs": None, "grid": None}, "epochs: this key is missing; OptAuc is trained in epochs"),
        (
            "popularity",
            {"epochs": {"maximum": 1, "patience": 1}},
            "epochs: Popularity is not trained in epochs; remove this key",
        ),
        ("opt_auc", {"role": "rival"}, "role: Input should be 'paper', 'baseline', 'control', 'oracle' or"),
        ("opt_auc", {"method": "sgd"}, "no module in src/vsebench/methods has this name in its METHODS"),
        ("opt_auc", {"settings": {"factors": 8}}, "settings: learning_rate: this key is missing; add it"),
        ("opt_auc", {"grid": {"learning_rate": [0.1, -1]}}, "grid: learning_rate"),
        ("opt_auc", {"family_settings": {"iapr": {"typo": 1}}}, "family_settings.iapr: typo: unknown key"),
    ],
)
def test_mistakes_in_the_file_of_a_variant_name_it(folder, variant, changes, message):
    change_method(folder, variant, **changes)
    with pytest.raises(UserError) as error:
        planned(folder=folder, methods=["vse_fs", variant])
    assert str(error.value).startswith(f"{folder}/methods/{variant}.yaml: ")
    assert message in str(error.value)


def test_an_ensemble_of_variants_that_the_run_lacks_is_refused():
    with pytest.raises(UserError, match="methods: wsabie_100_200 is an ensemble of wsabie_200, which is missing"):
        partitioned(methods=["wsabie_100", ENSEMBLE])


@pytest.mark.parametrize(
    ("variant", "changes", "message"),
    [
        (ENSEMBLE, {"members": ["wsabie_100"]}, "members: name two or more different methods"),
        (ENSEMBLE, {"members": ["wsabie_100", "wsabie_100"]}, "members: name two or more different methods"),
        (ENSEMBLE, {"members": ["wsabie_100", "ridge"]}, "members: WsabieEnsemble cannot contain ridge"),
        (ENSEMBLE, {"settings": {"factors": 3}}, "settings, family_settings, grid: an ensemble has none"),
        ("ridge", {"members": ["wsabie_100", "wsabie_200"]}, "members: Ridge is not an ensemble; remove this key"),
    ],
)
def test_mistakes_about_members_name_file_and_key(folder, variant, changes, message):
    change_method(folder, variant, **changes)
    with pytest.raises(UserError) as error:
        partitioned(folder=folder, methods=["wsabie_100", "wsabie_200", ENSEMBLE, "ridge"])
    assert str(error.value).startswith(f"{folder}/methods/{variant}.yaml: {message}")


@pytest.mark.parametrize(
    ("variants", "message"),
    [
        (["ridge", "softmax"], "softmax is not among the run's methods; add it to `methods`"),
        (["ridge", "ridge"], "'ridge' occurs more than once"),
        ([], "List should have at least 1 item"),
        ([ENSEMBLE, "wsabie_100"], "wsabie_100_200 is an ensemble of wsabie_200, which is missing; add it"),
    ],
)
def test_mistakes_about_the_variants_of_a_data_set_name_the_key(variants, message):
    with pytest.raises(UserError) as error:
        read_plan(CONFIG, with_variants(variants), [])
    assert f"datasets.corel5k-densehue.methods: {message}" in str(error.value)


def test_a_data_set_where_no_variant_can_run_is_refused_with_all_reasons():
    datasets = {"corel5k-densehue": {"protocols": ["official"]}, "sim-iapr": ONE}
    with pytest.raises(UserError) as error:
        planned(datasets=datasets, papers=[], methods=["opt_auc", "oracle"])
    message = str(error.value)
    assert "datasets.corel5k-densehue: no method can run on this data set (under official" in message
    assert f"opt_auc: {NEEDS['known_labels'].missing_reason}; oracle: {NEEDS['truth'].missing_reason}" in message


def test_a_run_has_only_tables_and_figures_with_content():
    labels = planned(methods=["popularity", "warp", "vse_fs"])
    assert {"vse_ens_figure1", "vse_fs_figure2", "trials", "lsep_theorem1"} <= {*labels.tables, *labels.figures}
    missing = {"lsep_table1", "wsabie_table3", "lsep_figure3", "sampled_tagging_figure_s1", "published-against-ours"}
    assert missing.isdisjoint({*labels.tables, *labels.figures})
    assert not any(name.startswith(("mean-ranks", "effects-of-claims-wsabie")) for name in labels.figures)
    two = {"sim-iapr": ONE, "sim-nuswide": ONE}
    several = [
        planned(datasets=names, methods=["popularity", "warp", "vse_fs"])
        for names in (two, two | {"sim-openimages": ONE})
    ]
    assert ["mean-ranks" in plan.figures for plan in several] == [False, True]
    real = planned(datasets={"saiapr": {"protocols": ["regions"]}}, methods=["warp", "vse_ens"])
    assert {"published-against-ours", "effects-of-claims-vse-ens"} <= real.figures.keys()
    assert "vse_ens_table2" in real.tables
    assert not any("claims" in name or "audit" in name for name in planned(methods=["warp"], papers=[]).tables)
