"""Settings, epochs, grids and sweeps of variants."""

import json
from dataclasses import replace

import pytest

from tests.plan.runs import CONFIG, IAPR, ONE, TREE, change_method, partitioned, planned, values, with_grid
from vsebench.config.dataset import Partition
from vsebench.core.errors import UserError
from vsebench.core.tasks import Task
from vsebench.plan import read_plan
from vsebench.plan.jobs import Wildcards, job
from vsebench.plan.settings import (
    beyond_edges,
    compiled_settings,
    data_checksum,
    data_read,
    epochs_of,
    grid_of,
    more_seeds,
    not_tuned,
    recorded_search,
    scaled_variants,
    seed_of_settings,
    settings_of,
    validation_metric,
)


def test_settings_of_a_variant_depend_on_the_family_and_the_runs_factors():
    datasets = {"sim-iapr": ONE, "sim-nuswide": ONE}
    plan = planned(factors=7, datasets=datasets, methods=["popularity", "vse_fs_published"])
    assert settings_of(plan, "vse_fs_published", "sim-nuswide")["beta_0"] == 3.0
    assert settings_of(plan, "vse_fs_published", "sim-iapr")["beta_0"] == 128.0
    assert settings_of(plan, "vse_fs_published", "sim-iapr")["factors"] == 7
    assert settings_of(plan, "popularity", "sim-iapr") == {}


def test_a_variant_whose_file_names_factors_keeps_them(folder):
    change_method(folder, "opt_auc", settings=values(folder / "methods" / "opt_auc.yaml")["settings"] | {"factors": 5})
    plan = planned(folder=folder, factors=7, methods=["opt_auc", "warp"])
    assert settings_of(plan, "opt_auc", "sim-iapr")["factors"] == compiled_settings(plan, "opt_auc")["factors"] == 5
    assert settings_of(plan, "warp", "sim-iapr")["factors"] == compiled_settings(plan, "warp")["factors"] == 7
    assert list(scaled_variants(plan)) == ["opt_auc", "warp"]  # growth is measured at other sizes anyway


def test_no_variant_of_the_default_run_has_factors_of_its_own():
    plan = read_plan(CONFIG, values(CONFIG / "config.yaml"), [])
    found = {
        settings_of(plan, variant, task.dataset).get("factors")
        for task in plan.tasks
        for variant in plan.variants(task)
    }
    assert found == {None, plan.config.factors}


def test_features_are_normalised_as_the_data_set_says_unless_the_variant_does(folder):
    change_method(folder, "nearest_images", settings={"neighbours": 5, "normalise": ["l2"]})
    plan = partitioned(folder=folder, methods=["ridge", "nearest_images", "opt_auc"])
    assert settings_of(plan, "ridge", "corel5k-densehue")["normalise"] == ["root", "standard"]
    assert settings_of(plan, "nearest_images", "corel5k-densehue")["normalise"] == ["l2"]


def test_a_run_limits_the_epochs_of_single_variants():
    usual = planned()
    plan = planned(epochs={"vse_fs": {"maximum": 3, "patience": 2}})
    assert plan.methods["vse_fs"].epochs.model_dump() == {"maximum": 3, "patience": 2}
    assert plan.methods["opt_auc"] == usual.methods["opt_auc"]


def test_a_data_set_limits_the_epochs_of_single_variants():
    limits = {"vse_fs": {"maximum": 3, "patience": 2}}
    sets = {"sim-iapr": ONE | {"epochs": limits}, "sim-openimages": ONE}
    plan = planned(datasets=sets, epochs={"vse_fs": {"maximum": 9, "patience": 9}})
    assert epochs_of(plan, "vse_fs", "sim-iapr").model_dump() == limits["vse_fs"]
    assert epochs_of(plan, "vse_fs", "sim-openimages").maximum == 9
    assert epochs_of(plan, "opt_auc", "sim-iapr") == plan.methods["opt_auc"].epochs
    assert epochs_of(plan, "popularity", "sim-iapr") is None
    message = r"datasets\.sim-iapr\.epochs: popularity is not trained in epochs; remove it from this key"
    with pytest.raises(UserError, match=message):
        planned(datasets={"sim-iapr": ONE | {"epochs": {"popularity": limits["vse_fs"]}}})


def test_a_default_number_of_epochs_is_for_variants_that_are_not_named_and_have_epochs(folder):
    epochs = {"default": {"maximum": 7, "patience": 3}, "warp": {"maximum": 8, "patience": 3}}
    changes = {"methods": ["popularity", "opt_auc", "warp"], "epochs": epochs}
    plan = read_plan(
        folder, values(CONFIG / "config.yaml") | changes | {"datasets": {"sim-iapr": {"protocols": ["distinct"]}}}, []
    )
    found = {
        variant: limits and limits.maximum
        for variant in plan.methods
        for limits in [epochs_of(plan, variant, "sim-iapr")]
    }
    assert found == {"popularity": None, "opt_auc": 7, "warp": 8}


def test_a_default_number_of_epochs_on_a_data_set_goes_before_the_runs_numbers():
    limits = {"opt_auc": {"maximum": 7, "patience": 3}, "vse_fs": {"maximum": 9, "patience": 9}}
    on_dataset = {"vse_fs": {"maximum": 4, "patience": 2}, "default": {"maximum": 5, "patience": 2}}
    sets = {"sim-iapr": ONE | {"epochs": on_dataset}, "sim-openimages": ONE}
    plan = planned(datasets=sets, epochs=limits)
    variants = ("opt_auc", "vse_fs", "popularity")
    found = [[epochs_of(plan, variant, name) for variant in variants] for name in sets]
    assert [[each and each.maximum for each in of_set] for of_set in found] == [[5, 4, None], [7, 9, None]]


def test_untuned_runs_try_nothing():
    assert grid_of(planned(), "opt_auc") == {}
    assert len(grid_of(planned(tune=True), "opt_auc")) == 2


def test_a_run_can_tune_some_of_its_variants():
    plan = planned(methods=["opt_auc", "vse_ens"], tune=["opt_auc"])
    assert grid_of(plan, "opt_auc")
    assert grid_of(plan, "vse_ens") == {}
    assert set(not_tuned(plan)) == {f"{IAPR}/vse_ens"}
    with pytest.raises(UserError, match="tune: ease is not among the run's methods"):
        planned(methods=["opt_auc"], tune=["ease"])


def test_a_run_can_replace_the_grid_of_a_variant():
    grid = {"learning_rate": [0.3, 0.4]}
    assert grid_of(read_plan(CONFIG, with_grid("opt_auc", grid), []), "opt_auc") == grid


def test_more_seeds_are_searched_only_where_they_share_a_split_and_differ():
    sets = {"sim-tree": {"protocols": ["official", "images"]}}
    changes = {"datasets": sets, "methods": ["wsabie", "ridge", "random_projection_tree"], "seeds": [7, 2, 5]}
    plan = planned(**changes, tune=True, tuning_budget=8, tuning_seeds=2)
    searched = {(task.protocol, name): more_seeds(plan, name, task) for task in plan.tasks for name in plan.methods}
    assert searched == {
        ("official", "wsabie"): [2],
        ("official", "ridge"): [],
        ("official", "random_projection_tree"): [2],
        ("images", "wsabie"): [],
        ("images", "ridge"): [],
        ("images", "random_projection_tree"): [],
    }
    untuned = planned(**changes, tuning_seeds=2)
    assert more_seeds(untuned, "wsabie", untuned.tasks[0]) == []


@pytest.mark.parametrize("protocol", ["official", "images"])
def test_the_spread_of_a_choice_is_estimated_only_where_one_choice_serves_all_seeds(protocol):
    plan = planned(
        datasets={"sim-tree": {"protocols": [protocol]}}, methods=["wsabie", "random"], tune=True, tuning_budget=8
    )
    of_fits = {name: job(plan, "fit", Wildcards("sim-tree", protocol, "1", name)).options for name in plan.methods}
    asked = {name: "--with-spread" in options for name, options in of_fits.items()}
    assert asked == {"wsabie": protocol == "official", "random": False}


@pytest.mark.parametrize("metric", ["recall@10", "sibling_precision@10"])
def test_a_search_reads_the_siblings_of_labels_only_if_the_run_has_a_metric_of_them(metric):
    both = {"sim-tree": {"protocols": ["official"]}, "scene": {"protocols": ["official"]}}
    changes = {"methods": ["ridge", "bce"], "metrics": ["map", metric], "seeds": [1, 2], "tuning_budget": 8}
    plan = planned(datasets=both, tune=True, **changes)
    read = {
        (name, seed, variant)
        for name in both
        for seed in ("1", "2")
        for variant in plan.methods
        for fit in [job(plan, "fit", Wildcards(name, "official", seed, variant))]
        if fit.inputs["siblings"]
    }
    table = "data/processed/sim-tree/siblings.parquet"
    searches = {("sim-tree", "1", name) for name in ("ridge", "bce")}
    assert read == (searches if metric == "sibling_precision@10" else set())
    for of_case in read:
        of_fit = job(plan, "fit", Wildcards(of_case[0], "official", *of_case[1:]))
        assert of_fit.inputs["siblings"] == [table]
        assert f"--siblings {table}" in of_fit.options


def test_a_fit_with_recorded_settings_knows_the_recorded_spread():
    plan = planned(datasets={"scene": {"protocols": ["official"], "refit": False}}, methods=["lsep", "bce"], seeds=[1])
    searches = plan.chosen["scene"].protocols["official"].variants
    for name, spread in (("lsep", {"map": 0.25}), ("bce", {})):
        searches[name].spread.clear()
        searches[name].spread.update(spread)
    of_fits = [job(plan, "fit", Wildcards("scene", "official", "1", name)).options for name in ("lsep", "bce")]
    assert ["--spread '{\"map\": 0.25}'" in options for options in of_fits] == [True, False]
    assert "--spread" not in of_fits[1]


NETWORK, OF_TAGS = Task("corel5k-network", "official"), Task("corel5k-network", "from-mirflickr-tags457")


def with_features(dataset):
    return dataset.model_copy(update={"features": dataset.features.model_copy(update={"file": "other.npy"})})


def with_partition(dataset):
    return dataset.model_copy(update={"partition": Partition(test="test.txt")})


def with_vocabulary(dataset):
    return dataset.model_copy(update={"vocabulary": dataset.vocabulary.model_copy(update={"top_labels": 99})})


@pytest.mark.parametrize(
    ("changed", "change", "used"),
    [
        ("corel5k-network", with_features, set()),
        ("corel5k-network", with_partition, set()),
        ("mirflickr-tags457", with_features, {("ridge", NETWORK), ("x_ent", NETWORK)}),
        ("mirflickr-tags457", with_vocabulary, {("ridge", NETWORK), ("x_ent", NETWORK)}),
        (None, None, {("ridge", NETWORK)}),
    ],
)
def test_a_record_is_not_used_on_other_data(changed, change, used):
    """Without `changed`, the word vectors have another source, which x_ent and the split of unseen labels read."""
    vectors = {"word_vectors": "glove-6b-subset" if changed else "word2vec-subset"}
    plan = planned(
        datasets={
            "corel5k-network": {"protocols": ["official", "from-mirflickr-tags457"]} | vectors,
            "mirflickr-tags457": {"protocols": ["official"]} | vectors,
        },
        methods=["ridge", "x_ent"],
    )
    both = [("ridge", NETWORK), ("x_ent", NETWORK), ("ridge", OF_TAGS)]
    if changed:
        assert all(recorded_search(plan, *each) for each in both)
        plan = replace(plan, datasets=plan.datasets | {changed: change(plan.datasets[changed])})
    assert {each for each in both if recorded_search(plan, *each)} == used


def test_the_list_of_unseen_labels_is_part_of_the_data(tmp_path):
    task, checksums = Task("corel5k-network", "unseen_labels"), []
    for names in (None, "tiger", "bear"):
        entry = {"protocols": ["unseen_labels", "official"], "word_vectors": "glove-6b-subset"}
        if names:
            (tmp_path / "unseen.txt").write_text(f"{names}\n")
            entry["unseen_labels"] = str(tmp_path / "unseen.txt")
        plan = planned(datasets={"corel5k-network": entry}, methods=["x_ent"])
        checksums.append([data_checksum(plan, "x_ent", each) for each in (task, NETWORK)])
    of_unseen, of_official = zip(*checksums, strict=True)
    assert len(set(of_unseen)) == 3
    assert set(of_official) == {of_unseen[0]}


def test_a_partition_is_part_of_the_data_only_where_the_split_reads_it():
    sets = {"corel5k-network": {"protocols": ["official", "images"]}}
    plan = planned(datasets=sets, methods=["ridge"])
    divided = replace(plan, datasets={"corel5k-network": with_partition(plan.datasets["corel5k-network"])})
    differs = {
        task.protocol: len({data_checksum(each, "ridge", task) for each in (plan, divided)}) for task in plan.tasks
    }
    assert differs == {"official": 2, "images": 1}


def test_the_checksum_of_the_data_is_recorded_with_a_search():
    plan = planned(datasets={"corel5k-network": {"protocols": ["official"]}}, methods=["ridge", "random"], tune=True)
    assert data_read(plan) == {f"{NETWORK}/ridge": data_checksum(plan, "ridge", NETWORK)}
    gathered = job(plan, "gather", Wildcards(name="settings.json")).options
    assert f"--data-read '{json.dumps(data_read(plan))}'" in gathered


def test_how_far_a_search_goes_beyond_the_edges_of_a_grid():
    changes = {"methods": ["vse_ens", "vse_ens_published"], "tuning_beyond_edges": 3}
    plan = planned(**changes)
    assert [beyond_edges(plan, variant) for variant in plan.methods] == [3, 0]  # the second stays in its printed range
    assert beyond_edges(plan, "vse_ens", sweep=True) == 3
    plan = planned(**changes, sweeps_beyond_edges=9)
    assert beyond_edges(plan, "vse_ens") == 3
    assert beyond_edges(plan, "vse_ens", sweep=True) == 9


def test_the_first_seed_chooses_settings_where_all_seeds_have_the_same_split():
    sets = {"sim-tree": {"protocols": ["official", "images"]}}
    plan = planned(datasets=sets, methods=["ridge", "random"], seeds=[7, 2], tune=True)
    official, images = (Task("sim-tree", name) for name in ("official", "images"))
    assert [seed_of_settings(plan, "ridge", official, seed) for seed in (7, 2)] == [7, 7]
    assert [seed_of_settings(plan, "ridge", images, seed) for seed in (7, 2)] == [7, 2]
    assert seed_of_settings(plan, "random", official, 2) == 2  # nothing is tried


def test_settings_are_chosen_by_the_protocols_metric_unless_the_run_names_one():
    plan = partitioned(methods=["opt_auc", "popularity"])
    assert validation_metric(plan, IAPR) == "ndcg@10"
    assert validation_metric(plan, Task("corel5k-densehue", "official")) == "map"
    plan = partitioned(methods=["opt_auc", "popularity"], validation_metric="mrr")
    assert validation_metric(plan, IAPR) == "mrr"


def test_a_sweep_of_a_method_that_is_not_in_the_run_is_left_out():
    plan = planned(methods=["opt_auc"], sweeps={"vse_fs": {"alpha": [0]}})
    assert plan.sweeps(IAPR) == []
    plan = planned(sweeps={"vse_fs": {"alpha": [0], "gamma": [0]}})
    assert plan.sweeps(IAPR) == [("vse_fs", "alpha"), ("vse_fs", "gamma")]


def test_a_data_set_without_sweeps():
    changes = {"sweeps": {"vse_fs": {"alpha": [0]}}, "datasets": {"sim-iapr": ONE | {"sweeps": []}}}
    plan = planned(**changes)
    assert plan.sweeps(IAPR) == []
    assert "sweeps" not in plan.outline.files


def test_growth_of_scoring_is_measured_of_variants_that_need_features_alone():
    variants = ["opt_auc", "wsabie", "wsabie_100", "wsabie_200", "wsabie_100_200", "vote_by_cosine", "oracle"]
    plan = partitioned(methods=variants, scaling=TREE)
    assert list(scaled_variants(plan)) == ["wsabie", "wsabie_100", "wsabie_200", "vote_by_cosine"]
    module, settings = scaled_variants(plan)["wsabie"]
    assert (module, settings["normalise"]) == ("wsabie", ["root", "idf", "l2"])  # those of sim-tree
    plan = partitioned(methods=variants, scaling=TREE | {"methods": ["wsabie"]})
    assert list(scaled_variants(plan)) == ["wsabie"]


def test_growth_is_measured_of_variants_that_learn_from_labels_alone():
    plan = partitioned(methods=["opt_auc", "warp", "ease", "wsabie", "linear_warp"])
    assert list(scaled_variants(plan)) == ["opt_auc", "warp"]
