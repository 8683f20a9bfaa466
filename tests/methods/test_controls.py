from pathlib import Path

import numpy as np
import pytest

from vsebench.core.errors import UserError
from vsebench.core.storage import write_arrays
from vsebench.methods.base import load_method


def build_model(name, matrix, processed=Path()):
    method = load_method(name)
    return method(matrix, method.settings_type(), 1, processed).scorer()


def test_popularity_ranks_by_occurrences(build):
    matrix = build([[0, 1], [1, 2], [2]], 4, counts=[1, 1, 1, 3, 1])
    model = build_model("popularity", matrix)
    assert (model.image @ model.label.T)[1].tolist() == [1, 2, 4, 0]


def test_random_ranks_every_label_equally_often(build):
    """Mean rank of each label over images; a label's ranks are uniform on 0..19, whose deviation is 5.77."""
    model = build_model("random", build([[0]] * 4000, 20))
    ranks = np.argsort(np.argsort(-(model.image @ model.label.T), axis=1), axis=1)
    assert np.abs(ranks.mean(axis=0) - 9.5).max() < 5 * 5.77 / np.sqrt(4000)


def test_oracle_returns_the_truth(tmp_path, build):
    truth = {"image": np.eye(3, 2, dtype=np.float32), "label": np.ones((4, 2), dtype=np.float32)}
    write_arrays(tmp_path / "truth.npz", **truth)
    model = build_model("oracle", build([[0]] * 3, 4), tmp_path)
    assert np.array_equal(model.image, truth["image"])


def test_oracle_refuses_real_data(tmp_path, build):
    with pytest.raises(UserError, match="only a simulated data set has an oracle"):
        build_model("oracle", build([[0]], 2), tmp_path)
