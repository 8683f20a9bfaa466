"""Mistakes of a user: a message that names file and key, no traceback, and an exit status that is not 0."""

import re

import pytest

DIVERGING = 1e9
# What may go wrong in a method of the user, when the model is asked for.
BUG = "    def scorer(self):\n        return 1 // 0\n"
KILLED = "    def scorer(self):\n        import os, signal\n        os.kill(os.getpid(), signal.SIGKILL)\n"
MEMORY = (
    "    def scorer(self):\n        import numpy, resource\n"
    "        resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))\n        return numpy.ones(1 << 40)\n"
)


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


def test_methods_that_break_leave_the_others_their_results(fresh):
    broken = {
        "bug": (BUG, "ZeroDivisionError: integer division or modulo by zero"),
        "memory": (MEMORY, "Unable to allocate 8.00 TiB"),
        "killed": (KILLED, "vsebench: this job was killed, most likely because memory ran out"),
    }
    for row, (code, _) in broken.items():
        add_method(fresh, row, code)
    fresh.configure(methods=["popularity", *broken, "opt_auc"])
    outcome = fresh.snakemake("accuracy")
    assert outcome.status == 1
    results = fresh.folder / "results" / "sim-iapr" / "regions" / "seed1"
    _, _, summary = outcome.text.rpartition("Failed; the results of the others stay")
    for row, (_, words) in broken.items():
        log = results / row / "train.log"
        assert re.search(rf"train: .*row {row}\n    {log.relative_to(fresh.folder)}: .*{re.escape(words)}", summary)
        assert words in log.read_text()
        assert not (results / row / "model.npz").exists()
    assert "Traceback" in (results / "bug" / "train.log").read_text()
    assert "methods/bug.py" in (results / "bug" / "train.log").read_text()
    for row in ("popularity", "opt_auc"):
        assert (results / row / "metrics.parquet").is_file()
        assert row not in summary


def add_method(project, row, code):
    """Add an untrained method as a user does: a module and a configuration file."""
    text = "from vsebench.methods.popularity import Model as Popularity\n\n\nclass Model(Popularity):\n" + code
    (project.folder / "src" / "vsebench" / "methods" / f"{row}.py").write_text(text)
    settings = f"title: {row}\nmethod: {row}\nsource: a test\n"
    (project.folder / "config" / "methods" / f"{row}.yaml").write_text(settings)


def assert_explained(outcome, words):
    assert outcome.status != 0
    assert "Traceback" not in outcome.text
    for word in words:
        assert word in outcome.text
