"""The command `vsebench doctor`: its findings, its advice, and its exit status."""

from importlib.metadata import PackageNotFoundError, requires, version

import pytest

from tests.stages.small import run
from vsebench.commands import doctor


def lines(capsys):
    return {line[8:41].strip(): line for line in capsys.readouterr().out.splitlines()}


def test_all_is_well_here(capsys, monkeypatch, tmp_path):
    (tmp_path / "archive.zip").touch()
    monkeypatch.setenv("VSEBENCH_MIRROR", str(tmp_path))
    assert run("doctor") == 0
    found = lines(capsys)
    assert {"Python", "cores", "memory", "free disk", "mirror", "cache of kernels"} <= found.keys()
    assert found["numpy"] == f"ok      {'numpy':33}{version('numpy')}"
    assert found["mirror"] == f"ok      {'mirror':33}{tmp_path}, 1 file"
    assert not any(line.startswith("MISSING") for line in found.values())


def test_a_mirror_is_no_need_but_a_wrong_one_is_a_mistake(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    assert run("doctor") == 0
    assert lines(capsys)["mirror"].startswith("-  ")
    monkeypatch.setenv("VSEBENCH_MIRROR", str(tmp_path / "no"))
    assert run("doctor") == 1
    printed = capsys.readouterr()
    assert "there is no such folder; correct VSEBENCH_MIRROR" in printed.out
    assert printed.err == "vsebench doctor: missing: mirror; the lines above say what to do\n"


@pytest.mark.parametrize(("package", "status", "remedy"), [("numba", 1, "make setup"), ("cornac", 0, "setup-peers")])
def test_a_package_is_missing(package, status, remedy, capsys, monkeypatch):
    def installed(name):
        if name == package:
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    monkeypatch.setattr(doctor, "version", installed)
    assert run("doctor") == status
    assert f"not installed; {'`' if status == 0 else 'install'}" in (line := lines(capsys)[package])
    assert remedy in line


def test_an_old_package_is_named_with_the_version_that_is_needed(capsys, monkeypatch):
    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    monkeypatch.setattr(doctor, "version", lambda name: "0.1" if name == "numpy" else version(name))
    assert run("doctor") == 1
    needed = next(each.removeprefix("numpy") for each in requires("vsebench") if each.startswith("numpy"))
    assert lines(capsys)["numpy"].startswith(f"MISSING {'numpy':33}0.1, but {needed} is needed; install the packages")


@pytest.mark.parametrize(("mirror", "mark"), [("https://example.org/archives", "ok"), ("empty", "-")])
def test_a_mirror_can_be_an_address_and_an_empty_folder_is_reported(mirror, mark, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("VSEBENCH_MIRROR", mirror)
    assert run("doctor") == 0
    assert lines(capsys)["mirror"].startswith(f"{mark:8}{'mirror':33}{mirror}")


@pytest.mark.parametrize(("mirror", "mark"), [("~/archives", "ok"), ("ftp://example.org/archives", "MISSING")])
def test_a_mirror_is_read_as_by_a_download(mirror, mark, capsys, monkeypatch, tmp_path):
    (tmp_path / "archives").mkdir()
    (tmp_path / "archives/a.zip").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("VSEBENCH_MIRROR", mirror)
    run("doctor")
    assert lines(capsys)["mirror"].startswith(mark)


def test_the_password_of_a_mirror_is_not_printed(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VSEBENCH_MIRROR", "http://me:secret@example.org/archives")
    assert run("doctor") == 0
    assert lines(capsys)["mirror"].startswith(f"ok      {'mirror':33}http://example.org/archives (an address")


def test_a_file_in_the_place_of_a_folder_that_runs_write_is_named(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    (tmp_path / "figures").touch()
    (tmp_path / "results").mkdir()
    assert run("doctor") == 1
    found = lines(capsys)
    assert found["results"].startswith("ok")
    assert f"{tmp_path / 'figures'} is not a writable folder; change its permissions" in found["figures"]


def test_another_copy_of_the_source_in_this_folder_is_reported(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    (tmp_path / "src/vsebench").mkdir(parents=True)
    assert run("doctor") == 0
    assert f"changes to {tmp_path / 'src/vsebench'} have no effect" in lines(capsys)["vsebench"]


def test_a_full_disk_is_named(capsys, monkeypatch):
    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    monkeypatch.setattr(doctor, "LEAST_DISK", 10**18)
    assert run("doctor") == 1
    assert lines(capsys)["free disk"].startswith("MISSING")
