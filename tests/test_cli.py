import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from vsebench.cli import STAGES, main


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_explains_itself(stage, capsys):
    with pytest.raises(SystemExit) as end:
        main([stage, "--help"])
    assert end.value.code == 0
    assert f"usage: vsebench {stage}" in capsys.readouterr().out


def test_help_lists_the_stages(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    output = capsys.readouterr().out
    assert all(stage in output for stage in STAGES)


def test_unknown_stage_is_refused(capsys):
    with pytest.raises(SystemExit) as end:
        main(["bake"])
    assert end.value.code == 2
    assert "invalid choice: 'bake'" in capsys.readouterr().err


def test_every_stage_is_a_module_with_both_functions():
    for module_name, _ in STAGES.values():
        module = importlib.import_module(module_name)
        assert callable(module.add_arguments)
        assert callable(module.run)


def test_the_command_and_the_module_are_the_same():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module_name, _, function = project["scripts"]["vsebench"].partition(":")
    assert getattr(importlib.import_module(module_name), function) is main
    done = subprocess.run([sys.executable, "-m", "vsebench", "bake"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "invalid choice: 'bake'" in done.stderr


def test_a_job_ends_soon_after_its_snakemake():
    parent = subprocess.Popen(["sleep", "60"])
    start = "import time; from vsebench.cli import end_with"
    code = f"{start}; end_with({parent.pid}); print('on', flush=True); time.sleep(60)"
    job = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert job.stdout.readline() == "on\n"
    assert job.poll() is None
    parent.kill()
    parent.wait()
    assert job.wait(timeout=30) == 1
