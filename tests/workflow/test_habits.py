"""Commands that users of Snakemake are used to."""

import re

import pytest
import yaml

from tests.workflow.project import ROOT, Project

CONDA = "Specify a conda environment or container for each rule."
RULES = ROOT / "workflow" / "rules"
OF_PACKAGE = re.compile("[\"'](python -m vsebench|write_text) ")


def test_the_run_that_takes_no_configuration_plans(tmp_path):
    outcome = at_root(tmp_path, "--dry-run")
    assert outcome.status == 0, outcome.text
    assert {"download", "split", "fit", "time_methods", "scale", "test_claims", "report_page"} <= outcome.rules


def test_a_dry_run_of_a_real_configuration(tmp_path):
    for package in ("implicit", "lightfm"):
        pytest.importorskip(package, reason="optional, `make setup-peers` installs it")
    outcome = at_root(tmp_path, "--dry-run", "--configfile", ROOT / "config" / "iapr.yaml")
    assert outcome.status == 0, outcome.text
    expected = {"download", "prepare", "split", "fit", "rank", "measure", "sweep", "scale"}
    assert expected | {"test_claims", "compare_with_papers", "report_page"} <= outcome.rules
    assert "mem_mb=7000" in outcome.text  # of `prepare`, for a cluster


def test_the_papers_variants_can_be_fitted_with_a_hundred_factors(tmp_path):
    outcome = at_root(tmp_path, "--dry-run", "--printshellcmds", "--configfile", ROOT / "config" / "iapr-100.yaml")
    assert outcome.status == 0, outcome.text
    assert outcome.of("fit", "variant") == {
        "opt_auc",
        "warp",
        "warp_published",
        "vse_ens",
        "vse_fs",
        "vse_fs_published",
    }
    assert '"factors": 100' in outcome.text
    assert '"factors": 128' not in outcome.text


def test_the_name_of_a_folder_may_contain_what_snakemake_and_the_shell_replace(tmp_path):
    project = Project.copy(ROOT, tmp_path / "a {b} 100% $HOME; c")
    project.configure()
    assert "fit" in project.dry_run("accuracy").rules


@pytest.mark.parametrize(
    ("target", "makes", "leaves"),
    [
        ("splits", {"prepare", "split"}, {"fit", "compile_kernels"}),
        ("accuracy", {"measure", "table"}, {"time_methods", "figure", "report_page"}),
        ("timing", {"time_methods", "gather", "table"}, {"figure", "report_page"}),
    ],
)
def test_a_named_target_makes_what_it_says(finished, target, makes, leaves):
    outcome = finished.project.dry_run(target, "--forceall")
    assert makes <= outcome.rules
    assert not outcome.rules & leaves


def test_a_target_that_is_a_file_in_another_directory(finished, tmp_path):
    target = "results/sim-iapr/regions/seed1/popularity/ranks.parquet"
    project = finished.project
    outcome = project.snakemake(target, "--cores", "1", "--directory", tmp_path / "other place")
    assert outcome.status == 0, outcome.text[-3000:]
    assert "report.html" not in outcome.text.rpartition("steps (")[2]
    made = tmp_path / "other place" / target
    assert made.read_bytes() == (project.folder / target).read_bytes()


def test_lint_asks_for_nothing_but_conda_or_containers_for_rules_that_run_this_package(tmp_path):
    """Rules that run a user's command in a container or with conda name it; the linter has nothing to say about them.

    All other rules run this package in the environment of Snakemake. Snakemake has no directive that says so: with a
    file of conda, `--software-deployment-method conda`, which users' commands need, would run each of these jobs in a
    second installation, whose versions would not be those of `requirements`, and without the job server.
    """
    outcome = at_root(tmp_path, "--lint")
    titles = set(re.findall(r"^ {4}\* (.*?):?$", outcome.text, re.MULTILINE))
    assert titles == {CONDA}
    rules = re.split(r"^ *rule ?\w*:$", "".join(map(read, sorted(RULES.glob("*.smk")))), flags=re.MULTILINE)
    commands = {re.findall(r"^ *shell:\n *(.*)", rule, re.MULTILINE)[0]: rule for rule in rules if "shell:" in rule}
    of_users = [rule for command, rule in commands.items() if not OF_PACKAGE.match(command)]
    assert len(of_users) == 1
    assert "container:" in of_users[0]


def test_the_report_of_snakemake_itself(finished):
    outcome = finished.project.snakemake("--report", "snakemake-report.html")
    assert outcome.status == 0, outcome.text
    assert (finished.project.folder / "snakemake-report.html").stat().st_size > 100_000


def read(path):
    return path.read_text(encoding="utf-8")


def at_root(directory, *arguments):
    """Run in the checkout itself, with a working directory elsewhere."""
    return Project(ROOT).snakemake(*arguments, "--directory", directory / "work")


def test_the_rules_that_a_cluster_treats_apart_exist():
    """Snakemake accepts names that no rule has."""
    workflow = [ROOT / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in workflow)
    rules = set(re.findall(r"^ *(?:rule (\w+):|use rule \w+ as (\w+) with:)", text, re.MULTILINE))
    rules = {name for pair in rules for name in pair if name}
    local = re.search(r"^localrules:\n((?: {4}\w+,\n)+)", text, re.MULTILINE)
    assert local
    profile = yaml.safe_load((ROOT / "profiles" / "slurm" / "profile.yaml").read_text(encoding="utf-8"))
    grouped = dict(entry.split("=") for entry in profile["groups"])
    assert set(re.findall(r"\w+", local[1])) | grouped.keys() <= rules
    assert set(grouped.values()) == {entry.split("=")[0] for entry in profile["group-components"]}
