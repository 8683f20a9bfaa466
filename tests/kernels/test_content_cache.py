"""Compiled kernels are found by the content of all files that they were compiled from."""

import os
import shutil
import subprocess
import sys

import pytest

from vsebench.core.modules import PACKAGE
from vsebench.core.sources import content_hash
from vsebench.kernels.content_cache import SignatureFiles, files_of
from vsebench.workflow import delete_old_kernels

# `draw_alias` stands in alias.py and is compiled with `below` of random_numbers.py.
PROGRAM = """
import numpy as np
from vsebench.kernels.alias import AliasTable, draw_alias
from vsebench.kernels.random_numbers import new_state
table, state = AliasTable.of(np.ones(8)), new_state(1)
print(max(draw_alias(table, state) for _ in range(200)), sum(draw_alias.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package without compiled kernels."""
    return shutil.copytree(PACKAGE, tmp_path / "first" / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))


def largest_draw_and_hits(package, **environment):
    """Draw numbers from 0 to 7 in a new process: the largest one, and the number of kernels taken from the cache."""
    variables = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"} | environment
    # Python finds its own compiled files by size and time, which the edit below keeps, so it must not write any.
    variables |= {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=variables, capture_output=True, text=True, check=True)
    return tuple(map(int, done.stdout.split()))


def draw_smaller_numbers(package):
    """Edit a function that `draw_alias` calls; the file's size and times stay."""
    file = package / "kernels" / "random_numbers.py"
    times, text = file.stat(), file.read_text(encoding="utf-8")
    edited = text.replace("(next_word(state) >> U64(32)) * U64(n)", "(next_word(state) >> U64(34)) * U64(n)")
    assert edited != text
    file.write_text(edited, encoding="utf-8")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_an_edit_of_a_called_function_compiles_the_kernel_again(package):
    assert largest_draw_and_hits(package) == (7, 0)
    assert largest_draw_and_hits(package) == (7, 1)
    draw_smaller_numbers(package)
    assert largest_draw_and_hits(package) == (1, 0)


def test_equal_packages_share_a_folder_of_compiled_kernels_and_an_edited_one_does_not_use_them(package, tmp_path):
    cache = str(tmp_path / "kernels")
    assert largest_draw_and_hits(package, NUMBA_CACHE_DIR=cache) == (7, 0)
    other = shutil.copytree(package, tmp_path / "second" / package.name)
    assert largest_draw_and_hits(other, NUMBA_CACHE_DIR=cache) == (7, 1)
    draw_smaller_numbers(other)
    assert largest_draw_and_hits(other, NUMBA_CACHE_DIR=cache) == (1, 0)
    assert largest_draw_and_hits(package, NUMBA_CACHE_DIR=cache) == (7, 1)


def test_kernels_of_other_sources_are_deleted_and_those_of_the_present_ones_stay(package, monkeypatch):
    folder = package / "kernels" / "__pycache__"
    folder.mkdir()
    content = content_hash(PACKAGE / "kernels" / "alias.py")
    kept = folder / f"alias.draw_alias-1-{content}.py311.1.nbc"
    old = [folder / "alias.draw_alias-1-0123456789abcdef.py311.1.nbc", folder / "gone.kernel-1-0123.py311.nbi"]
    for path in [kept, *old]:
        path.touch()
    monkeypatch.setattr("vsebench.core.sources.PACKAGE", package)
    monkeypatch.setattr("vsebench.workflow.PACKAGE", package)
    delete_old_kernels()
    assert list(folder.iterdir()) == [kept]


def files(folder):
    """Return the files of a compiled kernel of this package."""
    made = files_of(str(folder), "alias.draw_alias-1-0123456789abcdef.py311", "0123456789abcdef")
    assert isinstance(made, SignatureFiles)
    return made


def test_each_signature_has_its_own_file(tmp_path):
    files(tmp_path).save("float32", b"code 1")
    files(tmp_path).save("int64", b"code 2")
    assert files(tmp_path).load("float32") == b"code 1"
    assert files(tmp_path).load("int64") == b"code 2"
    assert files(tmp_path).load("int32") is None
    assert len(list(tmp_path.iterdir())) == 2
    files(tmp_path).save("int64", b"new code")
    assert files(tmp_path).load("int64") == b"new code"


def test_a_damaged_file_is_compiled_again(package):
    assert largest_draw_and_hits(package) == (7, 0)
    for damage in (lambda code: b"", lambda code: code[:200], lambda code: b"\0" * len(code)):
        for path in (package / "kernels" / "__pycache__").glob("*.nbc"):
            path.write_bytes(damage(path.read_bytes()))
        assert largest_draw_and_hits(package) == (7, 0)
    assert largest_draw_and_hits(package) == (7, 1)


def test_the_code_of_another_signature_is_not_used(tmp_path):
    kernel = files(tmp_path)
    kernel.save("float32", b"code")
    (path,) = tmp_path.iterdir()
    path.rename(kernel._data_path(kernel._name("int64")))
    assert kernel.load("int64") is None


def test_functions_of_other_packages_keep_numbas_files(tmp_path):
    kind = type(files_of(str(tmp_path), "other.function-1.py311", (1e9, 100)))
    assert kind.__module__ == "numba.core.caching"
