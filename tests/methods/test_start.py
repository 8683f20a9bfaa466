"""Vectors of very many images are in a file, and the results are the same."""

import errno

import numpy as np
import pytest

from tests.methods.problems import fit_to
from vsebench.core import storage
from vsebench.core.errors import UserError
from vsebench.methods.by_labels import start

SETTINGS = {
    "vse_fs": {"beta_0": 2.0, "alpha": 0.0, "gamma": 0.1, "regularisation": 1.0, "weights": "ones", "deviation": 0.1},
    "warp": {"learning_rate": 0.05, "regularisation": 0.0, "deviation": 0.1, "trials": None, "maximum_norm": 1.0},
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("factors", [16, 20])
def test_vectors_in_a_file_give_the_same_model(small, monkeypatch, name, factors):
    inside = fit_to(name, small, factors=factors, **SETTINGS[name])[0]
    files = []
    monkeypatch.setattr(storage, "memory_limit", lambda: 300)
    monkeypatch.setattr(start, "TemporaryFile", lambda make=start.TemporaryFile: files.append(1) or make())
    mapped = fit_to(name, small, factors=factors, **SETTINGS[name])[0]
    assert files
    assert mapped.image.tobytes() == inside.image.tobytes()
    assert mapped.label.tobytes() == inside.label.tobytes()


def test_vectors_in_a_file_are_zeros_that_start_a_cache_line(monkeypatch):
    monkeypatch.setattr(storage, "memory_limit", lambda: 3)
    vectors = start.roomy(5, 16)
    assert vectors.shape == (5, 16)
    assert type(vectors) is np.ndarray
    assert not vectors.any()
    assert vectors.ctypes.data % 64 == 0
    vectors[:] = 1
    assert vectors.sum() == 80


def test_a_full_disk_is_said_in_one_line(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(storage, "memory_limit", lambda: 3)
    monkeypatch.setattr(start.os, "posix_fallocate", full)
    with pytest.raises(UserError, match="No space left on device") as refused:
        start.roomy(5, 16)
    assert len(str(refused.value).splitlines()) == 1
