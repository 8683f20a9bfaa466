import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vsebench.errors import UserError
from vsebench.evaluation.ranks import rank_held_out
from vsebench.labels import LabelMatrix
from vsebench.methods.base import Embeddings
from vsebench.parallel import workers


def rank(scores, known, held_out, threads=1):
    """Rank with a model whose scores are given outright: the image factors are the scores, the labels unit vectors."""
    scores = np.asarray(scores, dtype=np.float32)
    offsets = np.cumsum([0, *map(len, known)])
    matrix = LabelMatrix(
        scores.shape[1],
        offsets,
        np.array([label for row in known for label in row], dtype=np.int32),
        np.ones(offsets[-1], dtype=np.int32),
    )
    pairs = pl.DataFrame(held_out, schema={"image": pl.Int32, "label": pl.Int32}, orient="row")
    model = Embeddings(scores, np.eye(scores.shape[1], dtype=np.float32))
    with workers(threads) as pool:
        return rank_held_out(model, matrix, pairs, pool, "test").rows()


def test_by_hand():
    """Image 0: label 3 scores above label 1; label 0 scores higher but is known, so 3 ranks second of three."""
    assert rank([[9, 4, 7, 5]], [[0]], [(0, 3)]) == [(0, 3, 2, 0, 3)]


def test_ties_are_counted_apart():
    assert rank([[5, 5, 7, 5]], [[3]], [(0, 0)]) == [(0, 0, 2, 1, 3)]


def test_held_out_label_that_is_also_known_has_no_rank():
    assert rank([[5, 6, 7]], [[1]], [(0, 1)]) == [(0, 1, None, 0, 2)]


def test_image_with_one_candidate():
    assert rank([[5, 6]], [[1]], [(0, 0)]) == [(0, 0, 1, 0, 1)]


def test_image_without_known_labels():
    assert rank([[5, 6]], [[]], [(0, 0)]) == [(0, 0, 2, 0, 2)]


@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_refused(poison):
    with pytest.raises(UserError, match="not finite"):
        rank([[1, poison]], [[]], [(0, 0)])


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), n_images=st.integers(1, 30), n_labels=st.integers(2, 40))
def test_agrees_with_sorting(seed, n_images, n_labels):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 6, (n_images, n_labels)).astype(np.float32)
    known = [sorted(rng.choice(n_labels, rng.integers(0, n_labels), replace=False).tolist()) for _ in range(n_images)]
    held_out = [(i, int(rng.integers(0, n_labels))) for i in range(n_images)]
    for i, label, place, ties, candidates in rank(scores, known, held_out, threads=2):
        rest = [c for c in range(n_labels) if c not in known[i]]
        assert candidates == len(rest)
        if label in known[i]:
            assert place is None
            continue
        ranked = sorted((scores[i, c] for c in rest), reverse=True)
        assert place == ranked.index(scores[i, label]) + 1
        assert ties == ranked.count(scores[i, label]) - 1
