"""A whole run on a disk that is full, and its continuation when there is more space."""

import json
import shutil
import subprocess
import sys

import pytest

from tests.workflow.project import ROOT

ALONE = ["unshare", "--user", "--map-root-user", "--mount"]  # a namespace where a file system can be mounted
STEP = 1_200_000  # bytes; the run writes about 4 MB


def may_mount():
    return shutil.which(ALONE[0]) is not None and subprocess.run([*ALONE, "true"], check=False).returncode == 0


@pytest.mark.long
def test_a_run_on_a_full_disk_continues_when_there_is_space(finished, tmp_path):
    if not may_mount():
        pytest.skip("this user may not mount a file system in a namespace of its own (unshare)")
    disk = tmp_path / "disk"
    disk.mkdir()
    words = [sys.executable, "-m", "tests.workflow.full_disk", finished.project.folder, disk, STEP]
    done = subprocess.run([*ALONE, *map(str, words)], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    *full, last = map(json.loads, done.stdout.splitlines())
    assert len(full) > 1
    for attempt in full:
        assert attempt["status"] != 0
        assert "No space left on device" in attempt["text"] or "The disk is full" in attempt["text"], attempt["text"]
        assert "Traceback" not in attempt["text"], attempt["text"]
    assert last["status"] == 0, last["text"][-5000:]
    assert [attempt["different"] + attempt["temporary"] for attempt in (*full, last)] == [[]] * (len(full) + 1)
