"""Plans with models that a command trains and scores."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from tests.plan.runs import IAPR, ONE, planned
from vsebench.core.errors import UserError
from vsebench.plan.checks import check_software
from vsebench.plan.jobs import Wildcards, job
from vsebench.plan.jobs.commands import environment_name, failed_elsewhere
from vsebench.plan.settings import starting_settings
from vsebench.plan.sharing import share_data

ROW = {
    "title": "My network",
    "command": "python train.py {problem} {scores}.npz --seed {seed}",
    "source": "a paper",
    "tuned": "by its author",
}
AT = Wildcards("sim-iapr", "distinct", "2", "mine")
MODEL = "results/sim-iapr/distinct/seed2/mine"


@pytest.fixture
def mine(folder, tmp_path, monkeypatch):
    """Return a function that plans a run with the command; the folder has a program and requirements."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("print()\n")
    Path("needs.txt").write_text("# nothing\n")

    def plan(datasets=None, seeds=(1, 2), **changes):
        values = {key: value for key, value in (ROW | changes).items() if value is not None}
        (folder / "methods/mine.yaml").write_text(yaml.safe_dump(values))
        methods = {"methods": ["popularity", "mine"], "seeds": list(seeds), "papers": [], "decisions": {}}
        return planned(folder, **methods, sweeps={}, metrics=["map"], datasets=datasets or {"sim-iapr": ONE})

    return plan


def test_a_command_runs_before_the_fit_that_reads_its_scores(mine):
    plan = mine()
    variant = plan.outline.variants["mine"]
    assert (variant.role, variant.tuned, variant.by_command) == ("external", "by its author", True)
    assert starting_settings(plan, "mine", IAPR, 2) == {"file": f"{MODEL}/scores.npz"}
    fit = job(plan, "fit", AT)
    assert fit.inputs["scores"] == [f"{MODEL}/scores.npz"]
    assert fit.inputs["command"] == [f"{MODEL}/command.json"]
    assert f"--command {MODEL}/command.json" in fit.options
    command = job(plan, "command", AT)
    assert command.inputs["named"] == ["train.py"]
    assert "results/sim-iapr/distinct/seed2/split/exported/split.json" in command.inputs["problem"]
    assert not any("test" in path for paths in command.inputs.values() for path in paths)
    assert "--command 'python train.py {problem} {scores}.npz --seed {seed}' --folder ." in command.options
    assert "--environment" not in command.options
    assert plan.variants(IAPR) == ["popularity", "mine"]


def test_features_are_inputs_of_a_command_where_a_data_set_has_them(mine):
    plan = mine(datasets={"sim-features": {"protocols": ["images"]}})
    at = Wildcards("sim-features", "images", "1", "mine")
    expected = ["data/processed/sim-features/features.npy", "data/processed/sim-features/images.parquet"]
    for rule in ("command", "export_split"):
        assert job(plan, rule, at).inputs["needs"] == expected


@pytest.mark.parametrize("written", ["{scores}", "{scores}.csv", "{scores} && echo {scores}.ids.txt"])
def test_scores_are_a_csv_file_unless_the_command_says_otherwise(mine, written):
    plan = mine(command=f"awk -f x {{problem}} > {written}")
    assert plan.scores_file("mine", IAPR, 1).endswith("seed1/mine/scores.csv")


def test_the_time_of_a_command_is_gathered_with_the_times_of_methods(mine):
    plan = mine()
    gathered = job(plan, "gather", Wildcards(name="timing.parquet")).inputs["parts"]
    assert gathered == [
        "results/sim-iapr/distinct/timing.parquet",
        "results/sim-iapr/distinct/seed1/mine/timing.parquet",
        f"{MODEL}/timing.parquet",
    ]


def test_the_files_that_a_command_names_are_found_from_any_folder(mine, tmp_path, monkeypatch):
    (tmp_path / "my programs").mkdir()
    (tmp_path / "my programs/a file.R").write_text("")
    (tmp_path / "it's.awk").write_text("")
    outside = tmp_path.parent / "outside.py"
    outside.write_text("")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    named = f"Rscript 'my programs/a file.R' train.py train.py {outside} {'x' * 5000} {{problem}} {{scores}}"
    assert job(mine(command=named), "command", AT).inputs["named"] == ["../my programs/a file.R", "../train.py"]
    single = mine(command="awk -f train.py {problem} > {scores} # don't")
    assert job(single, "command", AT).inputs["named"] == ["../train.py"]
    assert "--folder .. " in job(single, "command", AT).options


def test_an_environment_has_the_name_of_its_content(mine, monkeypatch):
    first = job(mine(environment="needs.txt"), "command", AT)
    (path,) = first.inputs["environment"]
    assert f"--environment {Path(path).parent}" in first.options
    at = Wildcards(name=Path(path).parent.name)
    assert job(mine(environment="needs.txt"), "environment", at).options == "--requirements needs.txt"
    Path("needs.txt").write_text("numpy\n")
    second = job(mine(environment="needs.txt"), "command", AT).inputs["environment"]
    assert second != [path]
    monkeypatch.setattr("platform.python_version", lambda: "3.99.0")
    assert job(mine(environment="needs.txt"), "command", AT).inputs["environment"] not in ([path], second)


def test_a_container_runs_the_command_alone_and_the_package_checks_what_it_wrote(mine):
    plan = mine(container="mine.sif", threads=2, command="Rscript train.py {problem} {scores} {threads} {dataset}")
    alone = job(plan, "run_in_container", AT)
    problem = "results/sim-iapr/distinct/seed2/split/exported"
    assert alone.content == f"Rscript train.py {problem} {MODEL}/container/scores.csv 2 sim-iapr"
    assert alone.inputs["named"] == ["train.py"]
    checked = job(plan, "command", AT)
    assert checked.inputs["ran"] == [f"{MODEL}/container", f"{MODEL}/container.tsv"]
    assert f"--ran {MODEL}/container" in checked.options


@pytest.mark.parametrize(("key", "value", "method"), [("conda", "r-4", "conda"), ("container", "r.sif", "apptainer")])
def test_software_that_snakemake_does_not_deploy_is_one_line(mine, folder, key, value, method):
    plan = mine(**{key: value})
    with pytest.raises(UserError) as error:
        check_software(plan, {"env-modules"})
    assert str(error.value) == (
        f"{folder}/methods/mine.yaml: {key}: Snakemake deploys this software only with the option "
        f"--software-deployment-method {method}; add the option"
    )
    check_software(plan, {method})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"command": "python train.py {scores}"}, "{problem} is missing in `command`"),
        ({"command": "python train.py {problem}"}, "{scores} is missing in `command`"),
        (
            {"command": "x {problem} {scores}.mat"},
            "{scores}.mat: the name of a file of scores must end in .npy",
        ),
        ({"scores": "a.npz"}, "`command` takes the place of `scores`; remove one of the two keys"),
        ({"method": "ridge"}, "`command` takes the place of `method`"),
        ({"role": "paper"}, "`command` takes the place of `method`; remove `method`, and `role` unless it is external"),
        ({"tuned": None}, "`tuned` is missing; state who chose the settings"),
        ({"settings": {"a": 1}}, "`command` takes the place of `method`; remove the keys of a method: settings, "),
        ({"environment": "none.txt"}, "environment: there is no file /"),
        ({"conda": "none.yaml"}, "conda: there is no file /"),
        ({"environment": "needs.txt", "conda": "r"}, "name only one of environment and conda"),
        ({"threads": 0}, "threads: "),
        ({"command": None, "scores": "train.csv", "threads": 2}, "`threads` works only with `command`; remove it"),
        ({"command": None, "method": "ridge", "role": "baseline", "conda": "r"}, "`conda` works only with `command`"),
    ],
)
def test_a_mistake_is_one_line_with_the_file(mine, folder, changes, message):
    with pytest.raises(UserError) as error:
        mine(**changes)
    assert str(error.value).startswith(f"{folder}/methods/mine.yaml: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("line", ["-r other.txt", "  --constraint=c.txt", "-c c.txt"])
def test_requirements_in_a_second_file_are_refused(mine, line):
    Path("needs.txt").write_text(f"numpy\n{line}\n")
    with pytest.raises(UserError, match=r"needs\.txt: line 2: changes of the named file would not be noticed"):
        mine(environment="needs.txt")


def failed(rule, log, **wildcards):
    """Return what Snakemake knows about a failed job."""
    return SimpleNamespace(rule=SimpleNamespace(name=rule), wildcards_dict=wildcards, log=[log])


def test_a_run_goes_on_without_models_trained_elsewhere_whose_jobs_have_failed(mine):
    plan = mine(environment="needs.txt")
    at = {"dataset": "sim-iapr", "protocol": "distinct", "variant": "mine"}
    Path("1.log").write_text("Traceback\nValueError: bad\n")
    reasons = {"sim-iapr/distinct/mine": "its job failed: ValueError: bad"}
    both = [failed("command_mine", "1.log", **at, seed="1"), failed("fit", "2.log", **at, seed="2")]
    assert failed_elsewhere(plan, both) == reasons
    name = environment_name(plan, "mine")
    assert failed_elsewhere(plan, [failed("environment", "1.log", name=name)]) == reasons
    assert failed_elsewhere(plan, [failed("environment", "1.log", name="of another method")]) == {}
    assert failed_elsewhere(plan, [*both, failed("prepare", "3.log", dataset="sim-iapr")]) == {}
    ours = failed("fit", "3.log", **(at | {"variant": "popularity"}), seed="1")
    assert failed_elsewhere(plan, [*both, ours]) == {}


def test_runs_in_folders_of_their_own_share_an_environment(mine, tmp_path, monkeypatch):
    plan = mine(environment="needs.txt")
    monkeypatch.setenv("VSEBENCH_DATA", "data")
    (tmp_path / "runs/first").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "runs/first")
    share_data(plan, tmp_path)
    name = environment_name(plan, "mine")
    assert Path(f"data/environments/{name}").resolve() == tmp_path / f"data/environments/{name}"


def test_a_method_that_the_run_goes_on_without_is_left_out_with_the_reason(folder):
    run = {"methods": ["popularity", "opt_auc"], "seeds": [1, 2], "papers": [], "decisions": {}, "sweeps": {}}
    run |= {"datasets": {"sim-iapr": ONE}, "metrics": ["map"]}
    plan = planned(folder, **run, without={"sim-iapr/distinct/opt_auc": "its job failed"})
    assert plan.variants(IAPR) == ["popularity"]
    (left,) = plan.outline.left_out
    assert (left.method, left.reason) == ("opt_auc", "its job failed")
