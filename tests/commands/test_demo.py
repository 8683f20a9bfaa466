"""The command `vsebench demo`: mistakes are reported before it makes a folder."""

import pytest

from tests.stages.small import run


@pytest.mark.parametrize("cores", ["q", "0", "1.5"])
def test_a_wrong_number_of_cores_is_one_line_and_no_folder_is_made(tmp_path, capsys, cores):
    assert run("demo", tmp_path / "new", "--cores", cores) == 1
    assert capsys.readouterr().err == f"vsebench demo: --cores {cores}: must be 1 or more, or all\n"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["file", "file/new"])
def test_a_folder_that_is_a_file_or_below_a_file_is_one_line(tmp_path, capsys, name):
    (tmp_path / "file").touch()
    assert run("demo", tmp_path / name) == 1
    expected = f"vsebench demo: {tmp_path / name}: {tmp_path / 'file'} is a file; name a folder\n"
    assert capsys.readouterr().err == expected
