"""After a change, only affected jobs run again: dry-runs on a finished project, and one real run.

tests/core/test_sources.py tests the same without Snakemake, for every method and stage.
"""

import json

from tests.workflow.project import MODELS, ON_LABELS, SAME, TINY, TRAINED, Project, tiny_set

RENDERING = {"outline", "table", "figure", "report_page", "all", "test_claims", "compare_with_papers"}
GATHERED = {"metrics.parquet", "summary.parquet", "cold.parquet", "by_frequency.parquet"}
FITS = ("fit", "rank")


def test_a_new_seed_fits_that_seed_only(changed):
    outcome = changed("--config", "seeds=[1, 2]")
    for rule in ("split", *FITS):
        assert outcome.of(rule, "seed") == {"2"}
    assert outcome.of("fit", "variant") == {*ON_LABELS, "ridge"}
    assert not outcome.rules & {"time_methods", "download", "prepare", "compile_kernels"}
    assert "timing.parquet" not in outcome.of("gather", "name")


def test_a_new_method_is_one_file_and_fits_that_method_only(changed):
    def add(clone):
        methods = clone.folder / "config" / "methods"
        (methods / "heavy.yaml").write_text((methods / "vse_fs.yaml").read_text())

    outcome = changed("--config", f"methods={json.dumps([*TINY['methods'], 'heavy'])}", change=add)
    for rule in FITS:
        assert outcome.of(rule, "variant") == {"heavy"}
    assert not outcome.rules & {"download", "prepare", "split"}
    assert "time_methods" in outcome.rules  # methods are timed side by side


def test_an_edited_kernel_fits_the_methods_that_use_it(changed):
    # Behind an `ancient` input that is made again, Snakemake 9 overlooked this until the run after the next.
    file = "src/vsebench/kernels/full_sample.py"
    outcome = changed(change=lambda clone: clone.edit(file, "\nimport numpy", "\n# edited\nimport numpy"))
    assert outcome.of("fit", "variant") == outcome.of("compile_kernels", "variant") == {"vse_fs"}
    assert not outcome.rules & {"prepare", "split"}


def test_a_new_metric_fits_and_ranks_nothing(changed):
    outcome = changed("--config", f"metrics={json.dumps([*TINY['metrics'], 'f1@5'])}")
    assert {"measure", "gather"} <= outcome.rules <= {"measure", "gather"} | RENDERING
    assert outcome.of("gather", "name") == GATHERED


def test_an_edit_that_can_change_no_number_repeats_nothing(changed):
    def edit(clone):
        clone.edit("src/vsebench/core/errors.py", "LONGEST = 1000", "LONGEST = 1001")
        clone.edit("config/datasets/sim-iapr.yaml", "title: simulated", "# a comment\ntitle: simulated")
        clone.edit("config/methods/vse_fs.yaml", "title: VSE-fs", "# a comment\ntitle: VSE-fs")
        clone.change("vse_fs", "grid", alpha=[0.25, 0.75])  # nothing is tuned

    assert "Nothing to be done" in changed(change=edit).text


def test_another_protocol_fits_that_protocol_only(changed):
    datasets = TINY["datasets"] | tiny_set("regions", "distinct")
    outcome = changed(change=lambda clone: clone.configure(datasets=datasets))
    for rule in ("split", *FITS, "measure", "time_methods"):
        assert outcome.of(rule, "protocol") == {"distinct"}
    assert not outcome.rules & {"download", "prepare", "compile_kernels"}


def test_another_scale_makes_everything_of_the_data_set_again(changed):
    datasets = TINY["datasets"] | {"sim-iapr": {"protocols": ["regions"], "options": {"scale": 0.02}}}
    outcome = changed(change=lambda clone: clone.configure(datasets=datasets))
    assert {"prepare", "split", "fit", "time_methods", "report_page"} <= outcome.rules
    assert outcome.of("fit", "variant") == set(ON_LABELS)
    assert outcome.of("fit", "dataset") == {"sim-iapr"}
    assert not outcome.rules & {"download", "compile_kernels", "describe_machine"}


def test_the_results_are_those_of_a_fresh_run(finished, fresh, tmp_path):
    """A folder with all results of an older configuration and an empty folder give the same bytes."""
    older = Project.clone(finished.project, tmp_path / "older")
    rows = ["popularity", "opt_auc"]
    for project in (older, fresh):
        project.configure(methods=rows, bootstrap=150, datasets=tiny_set("regions"))
        project.change("opt_auc", "settings", learning_rate=0.07)
        file, labels = "src/vsebench/methods/controls/without_images.py", "self.problem.training.labels"
        project.edit(file, f"by_frequency({labels})", f"by_frequency({labels} + {labels})")
    for project in (older, fresh):
        outcome = project.snakemake("results/sim-iapr/regions/metrics.parquet")
        assert outcome.status == 0, outcome.text[-3000:]
    made = fresh.found(*SAME)
    assert len(made) > 3 * len(rows)
    assert made == {name: older.found(name)[name] for name in made}
    kept, was = older.found(MODELS), finished.project.found(MODELS)
    assert {name.split("/")[4] for name in kept if kept[name] != was[name]} == set(rows)
    assert {name.split("/")[4] for name in kept} >= set(TRAINED)  # models of other methods stay
