import numpy as np
import pytest

from tests.builders import matrix_of
from tests.methods.problems import fit, problem_from
from vsebench.core.errors import UserError
from vsebench.core.workers import workers
from vsebench.data.needs import TRUTH


def model_of(name, matrix, **changes):
    with workers(1) as pool:
        return fit(name, problem_from(matrix, pool, **changes))[0]


def test_popularity_ranks_by_occurrences():
    matrix = matrix_of([[0, 1], [1, 2], [2]], 4, counts=[1, 1, 1, 3, 1])
    model = model_of("popularity", matrix)
    assert (model.image @ model.label.T)[1].tolist() == [1, 2, 4, 0]


def test_random_ranks_every_label_equally_often():
    """Mean rank of each label over images; a label's ranks are uniform on 0..19, whose deviation is 5.77."""
    model = model_of("random", matrix_of([[0]] * 4000, 20))
    ranks = np.argsort(np.argsort(-(model.image @ model.label.T), axis=1), axis=1)
    assert np.abs(ranks.mean(axis=0) - 9.5).max() < 5 * 5.77 / np.sqrt(4000)


def test_oracle_returns_the_truth():
    truth = {"image": np.eye(3, 2, dtype=np.float32), "label": np.ones((4, 2), dtype=np.float32)}
    model = model_of("oracle", matrix_of([[0]] * 3, 4), extras={"truth": truth})
    assert np.array_equal(model.image, truth["image"])
    assert np.array_equal(model.label, truth["label"])


def test_real_data_has_no_truth():
    with pytest.raises(UserError, match="this method needs the truth"):
        TRUTH.load_named(None)
