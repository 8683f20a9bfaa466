"""What `vsebench new` makes of docs/templates is valid as it is, passes its own tests, and runs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.docs.conftest import ROOT
from tests.stages.small import run
from vsebench.commands.demo import copy_project
from vsebench.config.method import read_method_config
from vsebench.core.yaml_files import read_yaml
from vsebench.plan import read_plan

NAME = "bag_of_labels"
# A kind of template -> the name to give, and the test that comes with it.
OWN_TESTS = {
    "method": (NAME, f"tests/methods/test_{NAME}.py"),
    "dataset": ("two_lists", "tests/formats/test_two_lists.py"),
    "metric": ("half_of_labels", "tests/evaluation/test_half_of_labels.py"),
}


def copy_of(folder: Path, names: Iterable[str] = ("src", "config", "docs/templates")) -> Path:
    for name in names:
        shutil.copytree(ROOT / name, folder / name)  # with numba's cache
    return folder


def python(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a module of Python with the package of a folder."""
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_new_modules_pass_their_tests_and_the_linter(tmp_path: Path) -> None:
    copy_of(tmp_path)
    modules = []
    for kind, (name, own_test) in OWN_TESTS.items():
        made = python(tmp_path, "vsebench", "new", kind, name)
        assert made.returncode == 0, made.stderr
        files, _, after = made.stdout.partition("\nNext:\n")
        assert {own_test} < {*files.split()}
        assert all((tmp_path / file).is_file() for file in files.split())
        assert f".venv/bin/pytest {own_test}" in after or f".venv/bin/vsebench check-method {name}" in after
        assert "my_" not in after
        modules += [file for file in files.split() if file.endswith(".py")]
    done = python(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", *(test for _, test in OWN_TESTS.values()))
    assert done.returncode == 0, done.stdout
    lint = python(tmp_path, "ruff", "check", "--no-cache", "--config", str(ROOT / "pyproject.toml"), *modules)
    assert lint.returncode == 0, lint.stdout


def test_a_new_method_passes_the_check_of_methods(tmp_path: Path) -> None:
    copy_of(tmp_path, ("src", "config", "docs/templates", "tests/methods", "workflow", "profiles"))
    for name in ("tests/__init__.py", "tests/builders.py", "pyproject.toml", "Snakefile"):
        shutil.copy(ROOT / name, tmp_path / name)
    if (ROOT / ".mypy_cache").is_dir():  # `make test` checks types before
        shutil.copytree(ROOT / ".mypy_cache", tmp_path / ".mypy_cache")
    assert python(tmp_path, "vsebench", "new", "method", NAME).returncode == 0
    done = python(tmp_path, "vsebench", "check-method", NAME)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert f"runs/check-{NAME}/results/tables/accuracy-sim-iapr-distinct.md" in done.stdout
    assert "| bag\\_of\\_labels | " in done.stdout
    module = tmp_path / f"src/vsebench/methods/{NAME}.py"
    module.write_text(module.read_text(encoding="utf-8") + "x = 1", encoding="utf-8")
    wrong = python(tmp_path, "vsebench", "check-method", NAME)
    assert wrong.returncode == 1
    assert wrong.stderr.endswith(f"`ruff check {module.relative_to(tmp_path)}` failed; its messages are above\n")
    assert "pytest" not in wrong.stdout


@pytest.mark.parametrize(("name", "message"), [("warpp", "did you mean warp"), ("../warp", "there is no file")])
def test_a_method_to_check_that_does_not_exist_is_one_line(
    name: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    assert run("check-method", name) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error
    monkeypatch.chdir(tmp_path)
    assert run("check-method", "warp") == 1
    assert "run this command in a clone of the repository" in capsys.readouterr().err


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the configuration and the templates, which is the current folder."""
    monkeypatch.chdir(copy_of(tmp_path, ("config", "docs/templates", "data/included")))
    return tmp_path


def test_a_new_variant_is_the_method_that_it_extends_until_it_is_edited(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("new", "variant", NAME, "--extends", "wsabie_300") == 0
    assert "'methods=[popularity,wsabie_300,bag_of_labels]'" in capsys.readouterr().out
    file = project / "config/methods/bag_of_labels.yaml"
    assert "Those of wsabie_300 are {" in file.read_text(encoding="utf-8")
    new, old = (read_method_config(file.with_stem(name)) for name in (NAME, "wsabie_300"))
    assert new == old.model_copy(update={"title": NAME, "short": None})
    file.write_text(file.read_text(encoding="utf-8").replace("{}\n", "{factors: 7}\n"), encoding="utf-8")
    assert read_method_config(file).settings == old.settings | {"factors": 7}


def test_a_folder_of_the_demo_gets_variants_but_no_methods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_project(tmp_path / "demo")
    monkeypatch.chdir(tmp_path / "demo")
    assert run("new", "variant", NAME, "--extends", "vse_fs") == 0
    printed = capsys.readouterr().out
    assert "\n   snakemake accuracy --cores 2 --config " in printed  # the folder has no .venv
    assert read_method_config(tmp_path / f"demo/config/methods/{NAME}.yaml").method == "vse_fs"
    assert run("new", "method", "mine") == 1
    clone = "only for variant; for the other kinds, you need a clone of the repository (docs/library.md)"
    assert capsys.readouterr().err == f"vsebench new: there is no template for 'method' in this folder, {clone}\n"
    monkeypatch.chdir(tmp_path)
    assert run("new", "method", "mine") == 1
    where = "a clone of the repository or, for a variant, a folder that `vsebench demo` made"
    assert capsys.readouterr().err.endswith(f"run this command in the folder of the project: {where}\n")


def test_a_new_data_set_can_be_named_in_a_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("new", "dataset", NAME) == 0
    assert "'datasets={bag-of-labels: {protocols: [distinct]}}'" in capsys.readouterr().out
    config = project / "config/config.yaml"
    datasets = {"bag-of-labels": {"protocols": ["distinct"]}}
    adapter = 'adapter: "table"\noptions: {pairs: "x.csv"}'  # the copy of the configuration has no modules
    (project / "x.csv").touch()
    file = project / "config/datasets/bag-of-labels.yaml"
    assert f"adapter: {NAME}" in file.read_text(encoding="utf-8")
    file.write_text(file.read_text(encoding="utf-8").replace(f"adapter: {NAME}", adapter), encoding="utf-8")
    plan = read_plan(config.parent, read_yaml(config) | {"datasets": datasets}, [config])
    assert [*plan.datasets] == ["bag-of-labels"]


def test_a_new_paper_is_part_of_the_default_run(project: Path) -> None:
    assert run("new", "paper", NAME) == 0
    config = project / "config/config.yaml"
    plan = read_plan(config.parent, read_yaml(config) | {"papers": [NAME]}, [config])
    assert {name for name, table in plan.tables.items() if table.paper} == {f"{NAME}_table1", f"{NAME}_table2"}
    assert run("audit", "--papers", f"config/papers/{NAME}.yaml", "--out", project / "audit.csv") == 0
    findings = (project / "audit.csv").read_text(encoding="utf-8")
    assert findings.count("agrees") == findings.count("Recall = N x Precision") == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["methods", "x"],
            "there is no template for 'methods' in this folder, only for dataset, method, metric, paper, variant",
        ),
        (["method", "My-Model"], "'My-Model': a name consists of lower-case letters, digits and _"),
        (["method", "../x"], "'../x': a name consists of lower-case letters"),
        (["method", "class"], "'class': is a keyword of Python"),
        (["method", "ridge"], "config/methods/ridge.yaml exists already; choose a name other than 'ridge'"),
        (["method", "sgd"], "src/vsebench/methods/by_labels/sgd.py exists already"),
        (["method", "outside_scores"], "outside_scores.py exists already"),
        (["method", "wsabie_ensemble"], "a method of this name exists already"),
        (["metric", "recall"], "a metric of this name exists already"),
        (["metric", "top_5"], "'top_5': in a metric's name, write a letter after each _"),
        (["variant", "mine"], "--extends: missing; name the method to start from"),
        (["variant", "mine", "--extends", "wsabi"], "there is no file config/methods/wsabi.yaml; did you mean wsabie"),
        (["metric", "mine", "--extends", "wsabie"], "--extends: only a variant extends a method"),
    ],
)
def test_a_mistake_is_one_line_and_makes_no_file(
    words: list[str], message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.stat().st_mtime_ns for path in project.rglob("*")}
    assert run("new", *words) == 1
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    assert message in printed.err
    assert printed.out == ""
    assert {path: path.stat().st_mtime_ns for path in project.rglob("*")} == before
