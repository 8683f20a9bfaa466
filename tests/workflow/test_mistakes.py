"""A user's mistakes give a message that names file and key, no traceback, and an exit status other than 0.

Mistakes that the plan rejects before the first job are tested without Snakemake (tests/plan).
"""

import re

DIVERGING = 1e9
# Errors in a user's method, when it returns its model.
BUG = "    def model(self):\n        return [][1]\n"
KILLED = "    def model(self):\n        import os, signal\n        os.kill(os.getpid(), signal.SIGKILL)\n"
MEMORY = (
    "    def model(self):\n        import numpy, resource\n"
    "        resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))\n        return numpy.ones(1 << 40)\n"
)


def test_a_mistake_in_the_configuration_ends_before_the_first_job(finished):
    path = finished.project.configure("mistake/config.yaml", seeds="three", methods=["vse_fx"])
    outcome = finished.project.snakemake("--dry-run", "--configfile", path)
    assert_explained(outcome, ["config.yaml", "seeds", "'three'"])
    outcome = finished.project.snakemake("--dry-run", "--config", "tune=true", "tuning_budget=5")
    assert_explained(outcome, ["config/methods/opt_auc.yaml", "grid: ", "must be 5 (tuning_budget)"])


def test_no_core_for_the_jobs_is_told_before_the_first_one(finished):
    outcome = finished.project.snakemake("--cores", "0")
    assert_explained(outcome, ["--cores 0: no job can run; use 1 or more, or all"])


def test_a_title_or_source_may_have_braces(unfitted):
    unfitted.edit("config/methods/popularity.yaml", "title: ", "title: A {b} ")
    unfitted.edit("config/methods/popularity.yaml", "source: ", "source: see {wildcards} and ")
    assert unfitted.dry_run("results/settings.json").of("gather", "name") == {"settings.json"}


def test_methods_that_break_leave_the_others_their_results(unfitted):
    broken = {
        "bug": (BUG, "IndexError: list index out of range"),
        "memory": (MEMORY, "Unable to allocate 8.00 TiB"),
        "killed": (KILLED, "vsebench: this job was killed, most likely because memory ran out"),
    }
    for row, (code, _) in broken.items():
        add_method(unfitted, row, code)
    unfitted.configure(methods=["popularity", *broken, "opt_auc"])
    unfitted.change("opt_auc", "settings", learning_rate=DIVERGING)
    outcome = unfitted.snakemake("results/sim-iapr/regions/metrics.parquet")
    assert outcome.status == 1
    results = unfitted.folder / "results" / "sim-iapr" / "regions" / "seed1"
    _, failed, summary = outcome.text.rpartition("Failed jobs (all other results are kept")
    assert failed
    messages = {row: message for row, (_, message) in broken.items()}
    messages["opt_auc"] = "opt_auc on sim-iapr (regions, seed 1): training diverged"
    for row, expected in messages.items():
        log = results / row / "fit.log"
        assert re.search(
            rf"fit: .*variant {row}\n    {log.relative_to(unfitted.folder)}: .*{re.escape(expected)}", summary
        )
        assert expected in log.read_text()
        assert not (results / row / "model.npz").exists()
    assert "Traceback" in (results / "bug" / "fit.log").read_text()
    assert "methods/bug.py" in (results / "bug" / "fit.log").read_text()
    diverged = (results / "opt_auc" / "fit.log").read_text()
    assert "config/methods/opt_auc.yaml" in diverged
    assert "Traceback" not in diverged
    assert (results / "popularity" / "ranks.parquet").is_file()
    assert "popularity" not in summary
    assert not (
        unfitted.folder / "results" / "sim-iapr" / "regions" / "metrics.parquet"
    ).exists()  # it would lack a method


def add_method(project, row, code):
    """Add a control as a user does: a module and a configuration file."""
    text = "from vsebench.methods.controls.without_images import Popularity\n\n\nclass Broken(Popularity):\n" + code
    text += f"\n\nMETHODS = {{'{row}': Broken}}\n"
    (project.folder / "src" / "vsebench" / "methods" / f"{row}.py").write_text(text)
    settings = f"title: {row}\nmethod: {row}\nrole: control\nsource: a test\n"
    (project.folder / "config" / "methods" / f"{row}.yaml").write_text(settings)


def assert_explained(outcome, parts):
    assert outcome.status != 0
    assert "Traceback" not in outcome.text
    assert "common.smk" not in outcome.text
    for word in parts:
        assert word in outcome.text
