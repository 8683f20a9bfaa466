"""After a change, what it touches is made again, and nothing else. Dry-runs on a finished project, and real runs."""

import json

import pytest

from tests.workflow.project import SAME, TINY, TRAINED, UNTRAINED, Project, tiny_set

PAPERS = {"test_claims", "claims_table", "compare", "paper_table", "paper_figure"}
RENDERING = {"table", "figure", "report_page", "all"} | PAPERS
EVALUATION = {"measure", "summarise", "gather_metrics", "gather_summary"}
TRAINING = {"select", "train", "rank", *EVALUATION, "gather_history", "gather_settings"}
TIMING = {"time_methods", "gather_timing"}


def test_a_copy_of_a_finished_project_is_finished(changed):
    assert "Nothing to be done" in changed().text


def test_a_new_seed_trains_that_seed_only(changed):
    outcome = changed("--config", "seeds=[1, 2]")
    for rule in ("split", "select", "train", "rank", "measure"):
        assert outcome.of(rule, "seed") == {"2"}
    assert outcome.of("train", "row") == set(TRAINED + UNTRAINED)
    assert not outcome.rules & (TIMING | {"download", "prepare", "compile_kernels"})


def test_a_new_method_is_one_file_and_trains_that_method_only(changed):
    def add(clone):
        methods = clone.folder / "config" / "methods"
        (methods / "heavy.yaml").write_text((methods / "vse_fs.yaml").read_text())

    outcome = changed("--config", f"methods={json.dumps([*TINY['methods'], 'heavy'])}", change=add)
    for rule in ("select", "train", "rank", "measure"):
        assert outcome.of(rule, "row") == {"heavy"}
    assert not outcome.rules & {"download", "prepare", "split"}
    assert "time_methods" in outcome.rules  # methods are timed side by side


def test_a_changed_setting_retrains_its_row_only(changed):
    outcome = changed(change=lambda clone: clone.change("vse_fs", "settings", deviation=0.123))
    for rule in ("select", "train", "rank", "measure"):
        assert outcome.of(rule, "row") == {"vse_fs"}


def test_another_number_of_factors_retrains_what_has_factors(changed):
    outcome = changed("--config", "factors=9")
    assert outcome.of("select", "row") == outcome.of("train", "row") == set(TRAINED)
    assert not outcome.rules & {"prepare", "split"}


def test_more_resamples_repeat_the_evaluation_only(changed):
    outcome = changed("--config", "bootstrap=200")
    assert EVALUATION <= outcome.rules <= EVALUATION | RENDERING


def test_more_timing_touches_neither_models_nor_accuracy(changed):
    outcome = changed("--config", "timing={repeats: 2, epochs: 1}")
    assert TIMING <= outcome.rules <= TIMING | RENDERING
    assert outcome.of("table", "name") == outcome.of("figure", "name") == {"training-time"}


def test_an_edited_kernel_retrains_the_methods_that_use_it(changed):
    # Behind an `ancient` input that is made again, Snakemake 9 overlooked this until the run after the next.
    outcome = changed(
        change=lambda clone: clone.edit(
            "src/vsebench/kernels/full_sample.py", "\nimport numpy", "\n# edited\nimport numpy"
        )
    )
    assert outcome.of("select", "row") == outcome.of("train", "row") == {"vse_fs", "vse_fs_published"}
    assert outcome.of("compile_kernels", "row") == {"vse_fs", "vse_fs_published"}
    assert not outcome.rules & {"prepare", "split"}


@pytest.mark.parametrize(
    "entry",
    [
        {"options": {"scale": 0.02}},
        {"options": {"scale": 0.01}, "vocabulary": {"min_images_per_label": 3}},
    ],
)
def test_another_data_set_makes_everything_but_the_kernels_again(changed, entry):
    datasets = {"sim-iapr": {"protocols": ["regions"]} | entry}
    outcome = changed(change=lambda clone: clone.configure(datasets=datasets))
    assert {"prepare", "split", "train", "time_methods", "report_page"} <= outcome.rules
    assert outcome.of("train", "row") == set(TRAINED + UNTRAINED)
    assert not outcome.rules & {"download", "compile_kernels", "describe_machine"}


def test_another_protocol_trains_that_protocol_only(changed):
    outcome = changed(change=lambda clone: clone.configure(datasets=tiny_set("regions", "distinct")))
    for rule in ("split", "select", "train", "rank", "measure", "time_methods"):
        assert outcome.of(rule, "protocol") == {"distinct"}
    assert not outcome.rules & {"download", "prepare", "compile_kernels"}


def test_a_removed_method_trains_nothing(changed):
    rows = [row for row in TINY["methods"] if row != "warp"]
    outcome = changed(change=lambda clone: clone.configure(methods=rows))
    assert outcome.rules <= EVALUATION - {"measure"} | RENDERING | TIMING | {
        "gather_history",
        "gather_settings",
        "describe_machine",
    }


def test_a_removed_seed_trains_nothing(finished, tmp_path):
    clone = Project.clone(finished.project, tmp_path / "clone")
    clone.configure(methods=["popularity", "opt_auc"], seeds=[2, 1])
    target = "results/metrics.parquet"
    assert clone.snakemake(target).status == 0
    clone.configure(methods=["popularity", "opt_auc"])
    assert clone.dry_run(target).rules == {"gather_metrics"}


def test_tuning_selects_again(changed):
    def tune(clone):
        clone.configure(methods=["popularity", "vse_fs"], tune=True, tuning_budget=2)
        clone.change("vse_fs", "grid", alpha=None, beta_0=None, gamma=None, weights=None, regularisation=[5.0, 8.0])

    outcome = changed(change=tune)
    for rule in ("select", "train", "rank", "measure"):
        assert outcome.of(rule, "row") == {"vse_fs"}
    assert not outcome.rules & {"prepare", "split"}


def test_a_grid_does_not_matter_where_nothing_is_tuned(changed):
    outcome = changed(change=lambda clone: clone.change("vse_fs", "grid", alpha=[0.25, 0.75]))
    assert "Nothing to be done" in outcome.text


def test_the_results_are_those_of_a_fresh_run(finished, fresh, tmp_path):
    """A folder of an older configuration, with all its results, and an empty one: the same bytes."""
    older = Project.clone(finished.project, tmp_path / "older")
    rows = ["popularity", "opt_auc", "vse_fs"]
    for project in (older, fresh):
        project.configure(methods=rows, bootstrap=150)
        project.change("opt_auc", "settings", learning_rate=0.07)
        project.edit("src/vsebench/methods/popularity.py", "np.ones((train", "2 * np.ones((train")
    assert older.dry_run("accuracy").of("train", "row") == {"popularity", "opt_auc"}
    for project in (older, fresh):
        outcome = project.snakemake("accuracy")
        assert outcome.status == 0, outcome.text[-3000:]
    made = fresh.found(*SAME)
    assert len(made) > 3 * len(rows)
    assert made == {name: older.found(name)[name] for name in made}
    models = "results/*/*/*/*/model.npz"
    kept, was = older.found(models), finished.project.found(models)
    assert {name.split("/")[4] for name in kept if kept[name] != was[name]} == {"popularity", "opt_auc"}


def test_an_edited_figure_module_redraws_only(changed):
    outcome = changed(
        change=lambda clone: clone.edit(
            "src/vsebench/rendering/style.py", "\nimport seaborn", "\n# edited\nimport seaborn"
        )
    )
    assert {"figure"} <= outcome.rules <= RENDERING


def test_forcing_a_rule_repeats_it_and_what_follows(changed):
    outcome = changed("--forcerun", "measure")
    assert {"measure", "gather_metrics"} <= outcome.rules
    assert not outcome.rules & {"split", "select", "train", "rank", *TIMING}
