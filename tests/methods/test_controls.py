"""Controls and oracles: popularity, random rankings, the truth, given labels, and the frequency of unseen labels."""

import numpy as np
import pytest

from tests.builders import held_out_of, matrix_of
from tests.methods.problems import fit_to
from vsebench.core.errors import UserError
from vsebench.data.needs import TRUTH


def test_popularity_ranks_by_occurrences():
    matrix = matrix_of([[0, 1], [1, 2], [2]], 4, counts=[1, 1, 1, 3, 1])
    model, _ = fit_to("popularity", matrix)
    assert (model.image @ model.label.T)[1].tolist() == [1, 2, 4, 0]


def test_random_ranks_every_label_equally_often():
    """Mean rank of each label over images; a label's ranks are uniform on 0..19, whose deviation is 5.77."""
    model, _ = fit_to("random", matrix_of([[0]] * 4000, 20))
    ranks = np.argsort(np.argsort(-(model.image @ model.label.T), axis=1), axis=1)
    assert np.abs(ranks.mean(axis=0) - 9.5).max() < 5 * 5.77 / np.sqrt(4000)


def test_oracle_returns_the_truth():
    truth = {"image": np.eye(3, 2, dtype=np.float32), "label": np.ones((4, 2), dtype=np.float32)}
    model, _ = fit_to("oracle", matrix_of([[0]] * 3, 4), extras={"truth": truth})
    assert np.array_equal(model.image, truth["image"])
    assert np.array_equal(model.label, truth["label"])


def test_real_data_has_no_truth():
    with pytest.raises(UserError, match=r"--truth: missing; this method needs the truth\.npz of a simulated data set"):
        TRUTH.load_named(None)


def test_an_image_has_the_labels_that_it_was_given_before_all_others():
    given = [[1, 3], [], [3], [0]]
    model, _ = fit_to("given_labels", matrix_of([[0]] * 4, 5), extras={"given_labels": matrix_of(given, 5)})
    expected = np.zeros((4, 5))
    for image, labels in enumerate(given):
        expected[image, labels] = 1
    assert (model.image @ model.label.T).tolist() == expected.tolist()


def test_images_that_nobody_gave_a_label_are_one_line():
    with pytest.raises(UserError, match="no test image has labels in the training data set"):
        fit_to("given_labels", matrix_of([[0]] * 4, 5), extras={"given_labels": matrix_of([[]] * 4, 5)})


def test_labels_are_ranked_by_the_number_of_test_images_that_carry_them():
    test = held_out_of([[1, 3], [3], [], [2, 3]], 4, images=[2, 3, 4, 5], candidates=[1, 2, 3])
    model, _ = fit_to("unseen_frequency", matrix_of([[0]] * 6, 4), extras={"test_labels": test})
    assert (model.image @ model.label.T).tolist() == np.tile([0, 1, 1, 3], (6, 1)).tolist()
