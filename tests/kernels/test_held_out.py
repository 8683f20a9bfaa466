"""The kernels of ranks and lists, against results by hand; tests/evaluation/test_ranking.py has their slow twins."""

import numpy as np

from vsebench.kernels.ranking.held_out import EXCLUDED, NEGATIVE, RIGHT, mark_labels, rank_right_labels, top_labels

NONE = np.empty(0, dtype=np.int32)


def ids(*labels):
    return np.array(labels, dtype=np.int32)


def offsets(*numbers):
    return np.array(numbers, dtype=np.int64)


def test_a_held_out_label_that_is_known_or_no_candidate_is_excluded():
    kinds = np.empty(6, dtype=np.int8)
    candidates = np.array([True, True, True, True, True, False])
    mark_labels(kinds, candidates, ids(1, 2), ids(2, 3, 5))
    assert kinds.tolist() == [NEGATIVE, EXCLUDED, EXCLUDED, RIGHT, NEGATIVE, EXCLUDED]


def test_counts_of_one_image_by_hand():
    """Label 0 is known, 2 and 4 are held out: 3 scores as 2 does, 1 and 5 score higher than 4."""
    scores = np.array([[9, 6, 7, 7, 1, 2]], dtype=np.float32)
    every = np.ones(6, dtype=bool)
    counts = rank_right_labels(scores, every, offsets(0, 1), ids(0), offsets(0, 2), ids(2, 4))
    assert counts.tolist() == [[0, 3], [1, 0], [1, 2], [3, 3]]


def test_a_part_of_the_images_is_counted_from_its_own_start():
    scores = np.array([[3, 2, 1], [1, 2, 3]], dtype=np.float32)
    every = np.ones(3, dtype=bool)
    both = rank_right_labels(scores, every, offsets(0, 0, 0), NONE, offsets(0, 1, 2), ids(1, 1))
    second = rank_right_labels(scores[1:], every, offsets(0, 0), NONE, offsets(1, 2), ids(1, 1))
    assert np.array_equal(second, both[:, 1:])


def test_a_list_is_filled_with_minus_one_behind_the_last_candidate():
    scores = np.array([[1, 5, 5, 5]], dtype=np.float32)
    lists = top_labels(scores, np.ones(4, dtype=bool), offsets(0, 1), ids(3), offsets(0, 1), ids(1), 5)
    assert lists.tolist() == [[2, 1, 0, -1, -1]]  # the wrong one of equals first


def test_a_list_keeps_the_first_of_many_equals():
    scores = np.zeros((1, 8), dtype=np.float32)
    lists = top_labels(scores, np.ones(8, dtype=bool), offsets(0, 0), NONE, offsets(0, 2), ids(0, 5), 3)
    assert lists.tolist() == [[1, 2, 3]]
