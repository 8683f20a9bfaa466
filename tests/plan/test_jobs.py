"""What jobs read, and the options of their commands."""

import json
import shlex
from itertools import pairwise

import pytest

from tests.plan.runs import CONFIG, IAPR, ONE, default, own_table, partitioned, planned
from vsebench.config.run import DEFAULT_METRICS, NEW_IMAGE_METRICS, SEEN_METRICS, default_metrics
from vsebench.core.tasks import Task
from vsebench.plan import read_plan
from vsebench.plan.jobs import Wildcards, job
from vsebench.plan.jobs.results import parts

OFFICIAL = Task("corel5k-densehue", "official")


def job_of(plan, rule, task, variant="", seed=1, **more):
    return job(plan, rule, Wildcards(task.dataset, task.protocol, str(seed), variant, **more))


def value(options, name):
    """Return the first word after an option, read as JSON where it is some; None without the option."""
    text = dict(pairwise(shlex.split(options))).get(name)
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


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
def test_a_fit_is_the_same_whatever_else_a_run_says(changes):
    plan, usual = planned(**changes), planned()
    for variant in usual.variants(IAPR):
        assert job_of(plan, "fit", IAPR, variant) == job_of(usual, "fit", IAPR, variant)


def test_a_fit_reads_what_its_method_needs_and_the_sources_of_its_method_and_metric():
    plan = partitioned(methods=["opt_auc", "ridge", "popularity", "oracle"])
    ridge = job_of(plan, "fit", OFFICIAL, "ridge")
    assert ridge.inputs["needs"] == [
        "data/processed/corel5k-densehue/features.npy", "data/processed/corel5k-densehue/images.parquet",
    ]  # fmt: skip
    assert value(ridge.options, "--features") == ridge.inputs["needs"][0]
    assert any(file.endswith("methods/by_features/ridge.py") for file in ridge.inputs["sources"])
    assert any(file.endswith("metrics/map_and_ndcg.py") for file in ridge.inputs["sources"])
    assert ridge.inputs["kernels"] == []  # it has no epochs
    popularity = job_of(plan, "fit", IAPR, "popularity")
    assert popularity.inputs["needs"] == []
    # Nothing is chosen.
    assert not any(file.endswith("metrics/map_and_ndcg.py") for file in popularity.inputs["sources"])
    assert job_of(plan, "fit", IAPR, "opt_auc").inputs["kernels"] == ["results/kernels/opt_auc.json"]
    assert value(job_of(plan, "fit", IAPR, "oracle").options, "--truth") == "data/processed/sim-iapr/truth.npz"


def test_a_fit_chooses_from_the_grid_or_takes_over_what_the_first_seed_has_chosen():
    sets = {"sim-tree": {"protocols": ["official"]}}
    plan = planned(datasets=sets, methods=["ridge"], seeds=[7, 2], tune=True)
    task = Task("sim-tree", "official")  # the same split with every seed
    first, second = (job_of(plan, "fit", task, "ridge", seed) for seed in (7, 2))
    assert value(first.options, "--grid") == plan.methods["ridge"].grid
    assert value(first.options, "--beyond") == plan.config.tuning_beyond_edges
    assert "--grid" not in second.options
    chosen = "results/sim-tree/official/seed7/ridge/run.json"
    assert second.inputs["chosen"] == [value(second.options, "--chosen")] == [chosen]


def test_a_method_with_fewer_seeds_is_fitted_and_measured_with_the_first_seeds_of_the_protocol():
    sets = {"sim-iapr": {"protocols": ["distinct", "regions"]}}
    seeds = {"seeds": [1, 2], "protocol_seeds": {"regions": [1, 2, 3, 4]}, "method_seeds": {"opt_auc": 3}}
    seeds["timing"] = {"repeats": 4}
    plan = planned(datasets=sets, methods=["opt_auc", "popularity"], **seeds)
    distinct, regions = plan.tasks
    measure = job_of(plan, "measure", regions)
    assert "--seeds 1 2 3 4 " in measure.options
    assert value(measure.options, "--own-seeds") == {"sim-iapr/regions/opt_auc": [1, 2, 3]}
    ranked = [path.split("/")[3:5] for path in measure.inputs["ranks"] if path.endswith("/ranks.parquet")]
    assert [folder[0] for folder in ranked] == [f"seed{seed}" for seed in (1, 1, 2, 2, 3, 3, 4)]
    assert len(measure.inputs["split"]) == 4 * 4
    assert "--own-seeds" not in job_of(plan, "measure", distinct).options
    claims = job_of(plan, "test_claims", regions)
    of_regions = {"sim-iapr/regions/opt_auc": [1, 2, 3], "sim-iapr/regions/popularity": [1, 2, 3, 4]}
    assert value(claims.options, "--own-seeds") == of_regions
    assert plan.timed_seeds(regions) == [1, 2, 3, 1]
    assert plan.outline.number_of_seeds == "2 to 4"


def test_a_task_can_have_its_own_seeds():
    sets = {"sim-iapr": {"protocols": ["distinct", "regions"]}, "sim-tree": {"protocols": ["regions"]}}
    seeds = {"seeds": [1, 2], "protocol_seeds": {"regions": [1, 2, 3], "sim-tree/regions": [1]}}
    plan = planned(datasets=sets, methods=["popularity"], **seeds)
    numbers = {str(task): plan.seeds(task) for task in plan.tasks}
    assert numbers == {"sim-iapr/distinct": [1, 2], "sim-iapr/regions": [1, 2, 3], "sim-tree/regions": [1]}
    assert "--seeds 1 " in job_of(plan, "measure", Task("sim-tree", "regions")).options


def test_methods_without_a_number_of_seeds_have_the_default_one():
    seeds = {"seeds": [1, 2, 3], "method_seeds": {"default": 1, "opt_auc": 2, "ease": 3}}
    plan = planned(methods=["opt_auc", "ease", "popularity"], **seeds)
    (task,) = plan.tasks
    assert {variant: plan.seeds(task, variant) for variant in plan.methods} == {
        "opt_auc": [1, 2],
        "ease": [1, 2, 3],
        "popularity": [1],
    }
    assert plan.seeds(task, "opt_auc", "ease") == [1, 2]


def test_a_model_that_keeps_the_validation_labels_out_says_so_wherever_it_is_read():
    sets = {"sim-features": {"protocols": ["images"], "refit": False}, "sim-iapr": ONE | {"refit": False}}
    plan = planned(datasets=sets, methods=["popularity", "opt_auc", "ridge"])
    new = Task("sim-features", "images")
    assert "--no-refit" in job_of(plan, "fit", new, "ridge").options
    assert "--no-refit" in job_of(plan, "time_methods", new).options
    assert "--no-refit" in job_of(plan, "rank", IAPR, "popularity").options
    assert "--no-refit" not in job_of(plan, "rank", new, "popularity").options  # new images are of no training


def test_a_sweep_varies_one_setting():
    plan = planned(sweeps={"vse_fs": {"alpha": [0, 0.5]}})
    sweep = job_of(plan, "sweep", IAPR, "vse_fs", parameter="alpha")
    assert value(sweep.options, "--parameter") == "alpha"
    assert value(sweep.options, "--values") == [0, 0.5]
    assert value(sweep.options, "--beyond") == 0
    assert "--tuned-sweeps" not in job(plan, "test_claims", Wildcards()).options


def test_the_sweeps_of_a_run_that_does_not_tune_can_be_tuned():
    grid = {"beta_0": [2.0, 4.0]}
    plan = planned(sweeps={"vse_fs": {"alpha": [0, 0.5]}}, sweep_grids={"vse_fs": grid})
    assert value(job_of(plan, "sweep", IAPR, "vse_fs", parameter="alpha").options, "--grid") == grid
    assert value(job_of(plan, "fit", IAPR, "vse_fs").options, "--grid") == {}
    assert "--tuned-sweeps vse_fs" in job(plan, "test_claims", Wildcards()).options


def test_sweeps_are_measured_by_the_metrics_of_images():
    plan = planned(metrics=["map", "label_map", "macro_f1@5", "recall@5"])
    assert job(plan, "measure_sweeps", Wildcards()).options == "--metrics map recall@5"


def test_decisions_read_the_truth_where_they_need_the_label_distribution():
    sets = {"sim-catalogue": {"protocols": ["official"], "refit": False}}
    decisions = {"score_above_0": ["oracle"], "best_exact_match": ["oracle"], "threshold": ["popularity"]}
    changes = {"methods": ["popularity", "oracle"], "decisions": decisions, "metrics": ["map", "exact_match"]}
    plan = planned(datasets=sets, papers=[], sweeps={}, **changes)
    task = Task("sim-catalogue", "official")
    oracle, popularity = (job_of(plan, "decide", task, variant) for variant in ("oracle", "popularity"))
    assert "data/processed/sim-catalogue/truth.npz" in oracle.inputs["needs"]
    assert list(value(oracle.options, "--decisions")) == ["best_exact_match", "score_above_0"]
    assert popularity.inputs["needs"] == []
    assert any(file.endswith("metrics/label_sets.py") for file in popularity.inputs["sources"])  # it is tuned for it
    measure = job_of(plan, "measure", task)
    assert "--not-compared oracle oracle/score_above_0 oracle/best_exact_match " in measure.options
    assert [path.split("/")[4] for path in measure.inputs["decisions"][:2]] == ["popularity", "oracle"]
    records = [path.replace(".parquet", ".json") for path in measure.inputs["decisions"]]
    assert job(plan, "gather", Wildcards(name="decisions.json")).inputs["parts"] == records
    assert "--decided results/decisions.json " in job(plan, "test_claims", Wildcards()).options


def test_siblings_are_read_where_a_metric_of_the_run_reads_them():
    def siblings(metrics):
        sets = {"corel5k": ONE, "sim-iapr": ONE}
        plan = planned(datasets=sets, methods=["popularity"], papers=[], metrics=metrics)
        return [job_of(plan, "measure", Task(name, "distinct")).inputs["siblings"] for name in sets]

    assert siblings(["map"]) == [[], []]
    assert siblings(["map", "sibling_precision@10"]) == [["data/processed/corel5k/siblings.parquet"], []]


def test_an_analysis_reads_the_sources_of_the_metrics_that_it_computes():
    plan = planned(methods=["popularity"], papers=[])
    files = job(plan, "analyse", Wildcards(analysis="precision_at")).inputs["sources"]
    for module in ("ranks", "siblings"):
        assert any(file.endswith(f"metrics/{module}.py") for file in files)


def test_only_what_a_run_has_parts_of_is_gathered():
    plan = planned(methods=["popularity"], papers=[])
    assert not {"word_vectors.json", "decisions.json"} & set(parts(plan))
    assert job(plan, "gather", Wildcards(name="metrics.parquet")).inputs["parts"] == [
        "results/sim-iapr/distinct/metrics.parquet"
    ]


def test_the_settings_are_gathered_with_titles_whatever_they_contain(folder):
    path = folder / "methods" / "popularity.yaml"
    path.write_text(path.read_text().replace("title: ", "title: It's {braces} "))
    plan = planned(folder=folder, methods=["popularity"], papers=[])
    options = job(plan, "gather", Wildcards(name="settings.json")).options
    assert value(options, "--variants")["popularity"]["title"].startswith("It's {braces} ")


def test_a_users_own_table_is_read_and_not_downloaded(tmp_path):
    plan = planned(datasets=own_table(tmp_path), methods=["popularity"], papers=[])
    table = str(tmp_path / "t.csv")
    assert job(plan, "download", Wildcards(kind="raw", name="mine")).inputs == {"own": [table]}
    assert table in job(plan, "prepare", Wildcards(dataset="mine")).inputs["own"]


def test_a_downloaded_word_vectors_config_is_read_by_its_record():
    sets = {"sim-iapr": ONE | {"word_vectors": "glove-6b"}}
    plan = planned(datasets=sets, methods=["popularity"], papers=[])
    assert job(plan, "word_vectors", Wildcards(dataset="sim-iapr")).inputs["vectors"] == [
        "data/word_vectors/glove-6b/provenance.json"
    ]
    download = job(plan, "download", Wildcards(kind="word_vectors", name="glove-6b"))
    assert value(download.options, "--definition").keys() == {"adapter", "files"}


def test_an_edited_claim_redraws_no_table_and_another_title_of_a_paper_does():
    plan = planned(papers=["vse_ens"])
    (paper,) = plan.papers
    name = next(name for name, table in plan.tables.items() if table.paper)
    before, tested = job(plan, "table", Wildcards(name=name)), job(plan, "test_claims", Wildcards())
    paper.claims.pop()
    assert job(plan, "table", Wildcards(name=name)) == before
    assert job(plan, "test_claims", Wildcards()).content != tested.content
    object.__setattr__(paper, "title", "Another")
    assert job(plan, "table", Wildcards(name=name)).content != before.content


def test_measuring_is_told_the_propensity_of_the_data_set_if_a_metric_needs_frequencies(tmp_path):
    datasets = own_table(tmp_path, propensity={"a": 0.6, "b": 2.6}) | {"sim-iapr": ONE}
    plan = planned(datasets=datasets, metrics=["map", "psp@5"], methods=["popularity"], papers=[], sweeps={})
    own, simulated = (job_of(plan, "measure", task) for task in plan.tasks)
    assert value(own.options, "--propensity") == {"a": 0.6, "b": 2.6}
    assert value(simulated.options, "--propensity") == {"a": 0.55, "b": 1.5}
    assert f"results/{IAPR}/seed1/split/images.parquet" in simulated.inputs["split"]
    without = planned(metrics=["map", "n_plus@5"])
    assert value(job_of(without, "measure", IAPR).options, "--propensity") is None


@pytest.mark.parametrize(("other", "new"), [("distinct", False), ("official", True)])
def test_a_run_that_names_no_metrics_also_measures_the_headline_metrics_of_new_images_if_it_has_some(other, new):
    datasets = {"corel5k-densehue": {"protocols": ["regions", other]}}
    values = default(datasets=datasets, methods=["popularity"], decisions={}, sweeps={}, scaling=None, papers=[])
    del values["metrics"]
    metrics = read_plan(CONFIG, values, []).config.metrics
    assert metrics == default_metrics(new, False)
    assert set(DEFAULT_METRICS) <= set(metrics)
    assert set(NEW_IMAGE_METRICS) <= set(metrics) or not new
    assert read_plan(CONFIG, values | {"metrics": ["map"]}, []).config.metrics == ["map"]


@pytest.mark.parametrize(("protocol", "both"), [("unseen_labels_all", True), ("unseen_labels", False)])
def test_a_run_that_names_no_metrics_measures_seen_and_unseen_labels_if_it_ranks_them_together(protocol, both):
    datasets = {"corel5k-network": {"protocols": [protocol], "word_vectors": "glove-6b-subset"}}
    values = default(datasets=datasets, methods=["conse"], decisions={}, sweeps={}, scaling=None, papers=[])
    del values["metrics"]
    plan = read_plan(CONFIG, values, [])
    assert plan.config.metrics == default_metrics(True, both)
    assert (set(SEEN_METRICS) <= set(plan.config.metrics)) == both
