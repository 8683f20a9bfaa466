"""The command that times methods with image and label vectors of one network."""

import numpy as np

from benchmarks import one_space
from tests.builders import dense
from vsebench.core.workers import workers


def test_every_method_has_a_line_with_its_times():
    first, _, _, *rows = one_space.lines(200, 12, 16, 1)
    assert "200 images, 12 labels, 16 features" in first
    assert [row.split("|")[1].strip(" `") for row in rows] == list(one_space.METHODS)
    assert all(float(cell) > 0 for row in rows for cell in row.split("|")[2:4])


def test_the_simulated_vectors_are_close_to_those_of_their_labels():
    with workers(1) as pool:
        problem, queries = one_space.simulate(200, 12, 64, pool)
    labels, vectors = problem.training.labels, problem.word_vectors.vectors
    assert (labels.n_rows, len(queries.images)) == (200 + one_space.SCORED, one_space.SCORED)
    assert labels.n_labels_of_row.tolist() == [4] * 200 + [0] * one_space.SCORED
    scores = problem.features.rows(np.arange(200, dtype=np.int32)) @ vectors.T
    carried = dense(labels)[:200].astype(bool)
    assert scores[carried].mean() > scores[~carried].mean() + 0.5
