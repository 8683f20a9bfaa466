import importlib

import pytest

from vsebench.cli import STAGES, main


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_explains_itself(stage, capsys):
    with pytest.raises(SystemExit) as end:
        main([stage, "--help"])
    assert end.value.code == 0
    assert f"python -m vsebench {stage}" in capsys.readouterr().out


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
