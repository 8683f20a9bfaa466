"""The oracle of labels that were never trained."""

import numpy as np

from tests.builders import held_out_of, matrix_of
from tests.methods.problems import fit, problem_from
from vsebench.core.workers import workers


def test_labels_are_ranked_by_the_number_of_test_images_that_carry_them():
    test = held_out_of([[1, 3], [3], [], [2, 3]], 4, images=[2, 3, 4, 5], candidates=[1, 2, 3])
    with workers(1) as pool:
        model, _ = fit("unseen_frequency", problem_from(matrix_of([[0]] * 6, 4), pool, extras={"test_labels": test}))
    assert (model.image @ model.label.T).tolist() == np.tile([0, 1, 1, 3], (6, 1)).tolist()
