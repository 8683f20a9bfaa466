import json
import subprocess
import sys
from pathlib import Path

import pytest

from vsebench.core import machine
from vsebench.core.machine import memory_bytes, peak_memory_bytes

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
