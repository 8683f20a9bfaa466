"""The command `vsebench doctor`: its findings, its advice, and its exit status."""

from importlib.metadata import PackageNotFoundError, version

import pytest

from tests.stages.small import run
from vsebench.commands import doctor


def lines(capsys):
    return {line[8:28].strip(): line for line in capsys.readouterr().out.splitlines()}


def test_all_is_well_here(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("VSEBENCH_MIRROR", str(tmp_path))
    assert run("doctor") == 0
    found = lines(capsys)
    assert {"Python", "cores", "memory", "free disk", "mirror", "cache of kernels"} <= found.keys()
    assert found["numpy"] == f"ok      numpy               {version('numpy')}"
    assert found["mirror"].startswith("ok ")
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
        return "1.0"

    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    monkeypatch.setattr(doctor, "version", installed)
    assert run("doctor") == status
    assert f"not installed; {'`' if status == 0 else 'install'}" in (line := lines(capsys)[package])
    assert remedy in line


def test_a_full_disk_is_named(capsys, monkeypatch):
    monkeypatch.delenv("VSEBENCH_MIRROR", raising=False)
    monkeypatch.setattr(doctor, "LEAST_DISK", 10**18)
    assert run("doctor") == 1
    assert lines(capsys)["free disk"].startswith("MISSING")
