import importlib
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from vsebench.cli import main
from vsebench.core.modules import modules_in
from vsebench.core.sources import summary_of

ROOT = Path(__file__).parents[1]
COMMANDS = modules_in("commands")
STAGES = modules_in("stages")
# What is typed before the options of each command and stage, and its module.
TYPED = {(name.replace("_", "-"),): module for name, module in COMMANDS.items()}
TYPED |= {("stage", name.replace("_", "-")): module for name, module in STAGES.items()}


@pytest.mark.parametrize("words", TYPED, ids=" ".join)
def test_every_command_and_stage_explains_itself(words, capsys):
    with pytest.raises(SystemExit) as end:
        main([*words, "--help"])
    assert end.value.code == 0
    output = capsys.readouterr().out
    assert f"usage: vsebench {' '.join(words)}" in output
    assert summary_of(TYPED[words])[:40] in " ".join(output.split())


@pytest.mark.parametrize("words", TYPED, ids=" ".join)
def test_every_command_and_stage_is_a_module_with_both_functions(words):
    module = importlib.import_module(TYPED[words])
    assert callable(module.add_arguments)
    assert callable(module.run)


@pytest.mark.parametrize("group", [[], ["stage"]])
def test_help_lists_the_commands_or_the_stages(group, capsys):
    with pytest.raises(SystemExit) as end:
        main([*group, "--help"])
    assert end.value.code == 0
    words = capsys.readouterr().out.split()
    listed = {words[-1] for words in TYPED if list(words[:-1]) == group}
    others = {words[-1] for words in TYPED if list(words[:-1]) != group} - listed
    assert listed <= set(words)
    assert not {name for name in others if f"  {name} " in " ".join(words)}


def test_the_commands_that_a_newcomer_needs_come_first_and_those_of_maintainers_last(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    users, maintainers = capsys.readouterr().out.split("for maintainers:")
    names = [
        re.findall(r"^  (\w[\w-]*)(?: |$)", text, re.MULTILINE) for text in (users.split("commands:")[1], maintainers)
    ]
    assert names[0][:3] == ["run", "demo", "doctor"]
    assert names[1] == ["fill", "record", "record-downloads", "stage"]
    assert sorted([*names[0], *names[1]]) == sorted([*(name.replace("_", "-") for name in COMMANDS), "stage"])


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("words", [["list", "methods"], ["--help"]], ids=" ".join)
def test_a_command_ends_quietly_if_the_reader_of_its_output_has_ended(words, buffered):
    reading, writing = os.pipe()
    os.close(reading)
    command, environment = [sys.executable, "-m", "vsebench", *words], dict(os.environ)
    environment["PYTHONUNBUFFERED"] = "" if buffered else "1"
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert done.stderr == b""
    # If nothing is buffered, argparse of some Pythons overlooks that nobody reads its help.
    assert done.returncode in ((0, 1) if words == ["--help"] and not buffered else (1,))


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"vsebench {version('vsebench')}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["anotate"], "there is no command 'anotate'; did you mean annotate? `vsebench --help` lists all"),
        (["zzz"], "there is no command 'zzz'; `vsebench --help` lists all"),
        (["rank"], "rank is a stage of the workflow: use `vsebench stage rank`"),
        (["stage", "rang"], "there is no stage 'rang'; did you mean rank? `vsebench stage --help` lists all"),
        (["stage", "__init__"], "there is no stage '__init__'; `vsebench stage --help` lists all"),
    ],
)
def test_an_unknown_command_is_answered_in_one_line_with_the_nearest_name(arguments, message, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"vsebench: {message}\n"


@pytest.mark.parametrize("group", [[], ["stage"]])
def test_without_a_command_the_usage_is_shown(group, capsys):
    assert main(group) == 2
    assert "usage: vsebench" in capsys.readouterr().err


def test_a_users_mistake_is_one_line(tmp_path, capsys):
    arguments = ["stage", "rank", "--split", str(tmp_path), "--model", "m.npz", "--ranks", "r", "--lists", "l"]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error == f"vsebench rank: {tmp_path / 'split.json'}: no such file\n"


def test_another_error_is_not_hidden(monkeypatch):
    module = importlib.import_module("vsebench.stages.describe")

    def fail(arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(module, "run", fail)
    monkeypatch.setattr(module, "add_arguments", lambda parser: None)
    with pytest.raises(ZeroDivisionError):
        main(["stage", "describe"])


def test_the_command_and_the_module_are_the_same():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module_name, _, function = project["scripts"]["vsebench"].partition(":")
    assert getattr(importlib.import_module(module_name), function) is main
    done = subprocess.run([sys.executable, "-m", "vsebench", "bake"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no command 'bake'" in done.stderr


def test_help_imports_no_command():
    """Help appears at once; importing numba and polars takes most of a second."""
    code = (
        "import sys; from vsebench.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted(name for name in ('numba', 'numpy', 'polars') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
