import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vsebench.core import machine
from vsebench.core.machine import OtherProcesses, git_commit, memory_bytes, peak_memory_bytes

MIB = 1 << 20
REPORT = "import json; from vsebench.core.machine import peak_memory_bytes; print(json.dumps(peak_memory_bytes()))"
linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux has /proc/self/status")


def peak_of(code):
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(process.stdout)


@linux
def test_a_child_of_a_large_process_reports_its_own_peak():
    large = f"held = bytearray({400 * MIB}); import subprocess, sys; subprocess.run([sys.executable, '-c', {REPORT!r}])"
    assert peak_of(large) < 200 * MIB
    assert peak_of(REPORT) < 200 * MIB


@linux
def test_the_peak_stays_after_the_memory_is_freed():
    assert peak_of(f"held = bytearray({400 * MIB}); del held; {REPORT}") > 400 * MIB
    assert 10 * MIB < memory_bytes() <= peak_memory_bytes()


def test_the_peak_where_there_is_no_proc(monkeypatch):
    expected = peak_memory_bytes()
    monkeypatch.setattr(machine, "_status_bytes", lambda key: None)
    assert memory_bytes() is None
    assert peak_memory_bytes() >= 0.9 * expected


@linux
def test_other_processes_are_seen_and_this_one_is_not():
    alone = OtherProcesses()
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        pass
    own = alone.cores()
    beside = OtherProcesses()
    code = "import time; end = time.monotonic() + 1\nwhile time.monotonic() < end: pass"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert beside.cores() > 0.3
    assert own >= 0


def test_without_proc_nothing_is_known_of_other_processes(monkeypatch):
    monkeypatch.setattr(OtherProcesses, "_times", staticmethod(lambda: None))
    assert OtherProcesses().cores() is None


def test_a_file_that_git_does_not_know_makes_the_commit_dirty(tmp_path, monkeypatch):
    package = tmp_path / "src" / "package"
    (package / "core").mkdir(parents=True)
    (package / "core" / "machine.py").touch()
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "a"]):
        subprocess.run(["git", "-C", tmp_path, *command], check=True)
    monkeypatch.setattr(machine, "__file__", str(package / "core" / "machine.py"))
    assert not git_commit().endswith("-dirty")
    (tmp_path / "notes.txt").touch()
    assert not git_commit().endswith("-dirty")
    (package / "my_method.py").touch()
    assert git_commit().endswith("-dirty")
