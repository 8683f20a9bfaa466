"""The test whether a model has learnt to tell its training images apart."""

from dataclasses import replace

import numpy as np
import pytest

from tests.builders import Given, matrix_of
from vsebench.core.workers import workers
from vsebench.data.problem import Problem, Training
from vsebench.evaluation.learnt import has_learnt, share_in_order

ROWS = [[0, 1], [2, 3], [4, 5], [0, 2], [1, 4], [3, 5]] * 20
LABELS = matrix_of(ROWS, 6)


@pytest.fixture
def problem():
    with workers(1) as pool:
        yield Problem(Training.all_of(LABELS), 1, pool)


def test_labels_that_rank_higher_for_their_own_images_are_learnt_whatever_the_size_of_scores(problem):
    noise = np.random.default_rng(1).normal(size=LABELS.mask().shape)
    for size in (1e-20, 1.0, 1e20):
        assert has_learnt(Given((noise + LABELS.mask()) * size), problem)


@pytest.mark.parametrize("seed", range(10))
def test_random_scores_are_not_learnt(problem, seed):
    assert not has_learnt(Given(np.random.default_rng(seed).normal(size=LABELS.mask().shape)), problem)


def test_the_same_ranking_for_all_images_is_not_learnt_even_if_it_is_a_good_one(problem):
    frequent = matrix_of([[0, 1, 2 + number % 4] for number in range(120)], 6)
    problem = replace(problem, training=Training.all_of(frequent))
    assert not has_learnt(Given(np.tile([9.0, 8.0, 3.0, 2.0, 1.0, 0.0], (120, 1))), problem)


@pytest.mark.parametrize("rows", [[[0, 1]] * 20, [[]] * 20, ROWS[:9], [*ROWS[:9], *[[]] * 20]])
def test_there_is_nothing_to_learn_from_few_images_or_if_all_have_the_same_labels(problem, rows):
    problem = replace(problem, training=Training.all_of(matrix_of(rows, 6)))
    assert has_learnt(Given(np.zeros((len(rows), 6))), problem)


def test_the_share_of_pairs_in_order_counts_ties_as_half():
    ranks = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0]])
    chosen = np.array([[False, False, True], [True, False, False], [False, True, True], [True, True, True]])
    assert share_in_order(ranks, chosen).tolist() == [1.0, 0.5, 0.0, 0.5]
