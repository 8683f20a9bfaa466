"""The labels that users gave the tested images."""

import numpy as np
import pytest

from tests.builders import matrix_of
from tests.methods.problems import fit, problem_from
from vsebench.core.errors import UserError
from vsebench.core.workers import workers

SEEN = matrix_of([[0]] * 4, 5)


def test_an_image_has_the_labels_that_it_was_given_before_all_others():
    given = [[1, 3], [], [3], [0]]
    with workers(1) as pool:
        model, _ = fit("given_labels", problem_from(SEEN, pool, extras={"given_labels": matrix_of(given, 5)}))
    expected = np.zeros((4, 5))
    for image, labels in enumerate(given):
        expected[image, labels] = 1
    assert (model.image @ model.label.T).tolist() == expected.tolist()


def test_images_that_nobody_gave_a_label_are_one_line():
    with (
        workers(1) as pool,
        pytest.raises(UserError, match="by their ids, the training data set contains none of the test images"),
    ):
        fit("given_labels", problem_from(SEEN, pool, extras={"given_labels": matrix_of([[]] * 4, 5)}))
