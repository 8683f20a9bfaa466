"""Compiled modules that are incomplete, because the disk was full while Python wrote them."""

import os
import subprocess
import sys

from vsebench.core.bytecode import delete_incomplete


def import_module(folder):
    words = [sys.executable, "-c", "import small; print(small.NUMBER)"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_an_incomplete_file_is_deleted_and_whole_ones_stay(tmp_path):
    (tmp_path / "small.py").write_text("NUMBER = 1.5\n")
    assert import_module(tmp_path).stdout == "1.5\n"
    (compiled,) = tmp_path.rglob("*.pyc")
    delete_incomplete(tmp_path)
    content = compiled.read_bytes()
    other = compiled.with_name("small.cpython-399.pyc")
    other.write_bytes(content[:-20])
    for size in (0, 10, 16, len(content) - 20):
        compiled.write_bytes(content[:size])
        delete_incomplete(tmp_path)
        assert not compiled.exists()
    assert other.exists()  # this Python does not import it
    assert import_module(tmp_path).stdout == "1.5\n"
