"""The zero-shot cosine, against plain sums and on features and word vectors that do not fit together."""

from dataclasses import replace

import numpy as np
import pytest

from tests.methods.problems import fitted, full, problem_of, settings_of, words_among_features
from vsebench.core.errors import UserError
from vsebench.core.workers import workers
from vsebench.data.problem import WordVectors
from vsebench.methods.base import load_method


@pytest.mark.parametrize("where", ["dense features", "sparse features", "new images", "unseen labels"])
def test_scores_are_cosines_of_features_and_word_vectors(where):
    model, queries = fitted("zero_shot_cosine", where)
    words = words_among_features().vectors.astype(np.float64)
    for row, scores in zip(full(queries.features), model.scores(queries), strict=True):
        length = np.sqrt(sum(x * x for x in row))
        expected = [(row @ v) / (length * np.sqrt(v @ v)) if length else 0 for v in words]
        np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-6)


def test_a_label_without_a_word_vector_has_the_score_0():
    words = words_among_features().vectors
    words[3] = 0
    with workers(1) as pool:
        problem, queries = problem_of("new images", pool)
    problem = replace(problem, word_vectors=WordVectors(words, words.any(axis=1)))
    scores = load_method("zero_shot_cosine")(problem, settings_of("zero_shot_cosine")).model().scores(queries)
    assert (scores[:, 3] == 0).all()
    assert (scores[:, 4:] != 0).any(axis=0).all()


def test_features_and_word_vectors_of_other_networks_are_one_line():
    with workers(1) as pool:
        problem, _ = problem_of("dense features", pool)
    method = load_method("zero_shot_cosine")(problem, settings_of("zero_shot_cosine"))
    with pytest.raises(
        UserError, match=r"^features have 12 dimensions and word vectors 10; zero_shot_cosine needs both"
    ):
        method.model()
