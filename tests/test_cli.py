import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from vsebench.cli import command_modules, main, summary

COMMANDS = command_modules()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    output = capsys.readouterr().out
    assert f"usage: vsebench {command}" in output
    assert summary(command)[:40] in " ".join(output.split())


def test_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    output = capsys.readouterr().out
    assert all(command in output for command in COMMANDS)


def test_the_stages_of_a_run_are_commands():
    assert {"download", "prepare", "split", "fit", "rank", "measure", "gather", "time", "report"} <= set(COMMANDS)


@pytest.mark.parametrize("arguments", [["bake"], ["__init__"], ["stages.fit"], []])
def test_unknown_command_is_refused(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_a_module_with_both_functions(command):
    module = importlib.import_module(COMMANDS[command])
    assert callable(module.add_arguments)
    assert callable(module.run)


def test_a_users_mistake_is_one_line(tmp_path, capsys):
    arguments = ["rank", "--split", str(tmp_path), "--model", "m.npz", "--ranks", "r", "--lists", "l"]
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
        main(["describe"])


def test_the_command_and_the_module_are_the_same():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module_name, _, function = project["scripts"]["vsebench"].partition(":")
    assert getattr(importlib.import_module(module_name), function) is main
    done = subprocess.run([sys.executable, "-m", "vsebench", "bake"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "invalid choice: 'bake'" in done.stderr


def test_help_imports_no_command():
    """Help appears at once; importing numba and polars takes most of a second."""
    code = (
        "import sys; from vsebench.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted(name for name in ('numba', 'numpy', 'polars') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
