"""The trials of WARP on the scores of a fitted model."""

import numpy as np
import pytest

from tests.builders import matrix_of
from vsebench.evaluation.analyses.trials_by_rank import trials_of_labels

LABELS = np.array([[5.0], [0.0], [4.5], [0.0], [9.0]], dtype=np.float32)  # scores of the images' only factor, 1


def test_a_step_ends_at_the_first_violator_or_after_one_trial_per_negative():
    # Image 0: labels 2 (by the margin) and 4 of four negatives violate. Image 1: none of three does.
    found = trials_of_labels(np.ones((2, 1), np.float32), LABELS, matrix_of([[0], [0, 4]], 5), 1)
    assert found.select("image", "label", "violators", "bound").rows() == [
        (0, 0, 2, 3.0), (1, 0, 1, 4.0), (1, 4, 0, 4.0),
    ]  # fmt: skip
    assert found["scores"][2] == 4
    assert 1 < found["scores"][0] < 4


def test_the_mean_number_of_trials_is_that_of_draws_with_replacement():
    found = trials_of_labels(np.ones((4000, 1), np.float32), LABELS, matrix_of([[0]] * 4000, 5), 3)
    # Half of the draws violate; at most four are made: 1 + 1 + 1/2 + 1/4 + 1/8.
    assert found["scores"].mean() == pytest.approx(2.875, abs=0.02)
    assert found["scores"].mean() < found["bound"].mean()
