"""Mistakes of a user: a message that names file and key, no traceback, and an exit status that is not 0."""

import pytest

DIVERGING = 1e9


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"metrics": ["rec"]}, ["config.yaml", "metrics: unknown key"]),
        ({"seeds": "three"}, ["config.yaml", "seeds", "'three'"]),
        ({"seeds": [1, 1]}, ["config.yaml", "seeds", "more than once"]),
        ({"methods": ["vse_fx"]}, ["config.yaml", "methods", "'vse_fx'", "there are", "vse_fs"]),
        ({"datasets": {"sim-iapt": {"protocols": ["regions"]}}}, ["config.yaml", "'sim-iapt'", "sim-iapr"]),
        ({"datasets": {"sim-iapr": {"protocols": ["region"]}}}, ["config.yaml", "datasets.sim-iapr.protocols"]),
        ({"validation_metric": "recall@10"}, ["config.yaml", "validation_metric", "'recall@10'", "rec@10"]),
    ],
)
def test_a_mistake_in_the_configuration_file(finished, changes, words):
    path = finished.project.configure("mistake/config.yaml", **changes)
    outcome = finished.project.snakemake("--dry-run", "--configfile", path)
    assert_explained(outcome, words)


def test_a_mistake_on_the_command_line(finished):
    outcome = finished.project.snakemake("--dry-run", "--config", "tune=true", "tuning_budget=5")
    assert_explained(outcome, ["config/methods/opt_auc.yaml", "grid: ", "tuning_budget is 5"])
    outcome = finished.project.snakemake("--dry-run", "--config", "seeds=three")
    assert_explained(outcome, ["--config", "seeds", "'three'"])


def test_a_mistake_in_a_method_file(fresh):
    fresh.edit("config/methods/warp.yaml", "method: warp", "method: warq")
    assert_explained(fresh.snakemake("--dry-run"), ["config/methods/warp.yaml", "method", "warq.py"])


def test_a_setting_that_the_method_does_not_know(fresh):
    fresh.change("warp", "settings", trails=10)
    assert_explained(fresh.snakemake("--dry-run"), ["config/methods/warp.yaml: settings", "trails: unknown key"])


def test_a_value_in_a_grid_that_the_method_does_not_take(fresh):
    fresh.change("vse_fs", "grid", alpha=["much", 0.5])
    assert_explained(fresh.snakemake("--dry-run"), ["config/methods/vse_fs.yaml: grid", "alpha", "'much'"])


def test_a_data_set_that_cannot_be_downloaded(fresh, tmp_path):
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    fresh.configure(datasets={"corel5k": {"protocols": ["distinct"]}})
    closed = "http://127.0.0.1:9"
    outcome = fresh.snakemake(
        "data/raw/corel5k/provenance.json", VSEBENCH_MIRROR=mirror, HTTPS_PROXY=closed, https_proxy=closed
    )
    name = "corel5k.20091111.tar.bz2"
    assert_explained(outcome, [name])
    lines = {line for line in outcome.text.splitlines() if line.startswith("vsebench download:")}
    (line,) = lines
    for words in (
        str(mirror / name),
        f"https://lear.inrialpes.fr/people/guillaumin/data/iccv09/{name}",
        "data/raw/corel5k",
    ):
        assert words in line


def test_a_method_that_diverges_leaves_the_others_their_results(fresh):
    fresh.configure(
        methods=["popularity", "opt_auc"],
    )
    fresh.change("opt_auc", "settings", learning_rate=DIVERGING)
    outcome = fresh.snakemake("accuracy")
    words = ["opt_auc on sim-iapr (regions, seed 1): training diverged", f'"learning_rate": {DIVERGING}']
    assert_explained(outcome, [*words, "config/methods/opt_auc.yaml"])
    results = fresh.folder / "results" / "sim-iapr" / "regions" / "seed1"
    assert (results / "popularity" / "metrics.parquet").is_file()
    assert not (results / "opt_auc" / "model.npz").exists()
    assert not (fresh.folder / "results" / "metrics.parquet").exists()  # it would lack a method


def assert_explained(outcome, words):
    assert outcome.status != 0
    assert "Traceback" not in outcome.text
    for word in words:
        assert word in outcome.text
