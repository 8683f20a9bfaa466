import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import matrix_of
from vsebench.core.workers import workers
from vsebench.data.problem import HeldOut
from vsebench.evaluation import ranking
from vsebench.models import Embeddings


@pytest.fixture(params=[True, False], ids=["rounded", "all scores"], autouse=True)
def way(request, monkeypatch):
    """Count in both ways, whatever the processor."""
    monkeypatch.setattr("vsebench.evaluation.ranking.ROUNDING_PAYS", request.param)


def rank_by(model, known, held_out, threads=1):
    """Rank with a model."""
    n_labels, images = len(model.label), np.array([image for image, _ in held_out], dtype=np.int32)
    every = np.ones(n_labels, dtype=np.bool_)
    right = matrix_of([[label] for _, label in held_out], n_labels)
    with workers(threads) as pool:
        frame = ranking.rank(model, HeldOut(images, right, matrix_of(known, n_labels), every), None, pool, "test")
    rank, is_candidate = pl.col("above") + 1, pl.col("above").is_not_null()
    columns = ["image", "label", rank, pl.col("tied").fill_null(0), pl.col("negatives") + is_candidate.cast(pl.Int32)]
    return frame.select(columns).rows()


@pytest.mark.parametrize(
    ("scores", "known", "label", "expected"),
    [
        ([9, 4, 7, 5], [0], 3, (2, 0, 3)),  # label 2 scores higher, and label 0, which is known
        ([5, 5, 7, 5], [3], 0, (2, 1, 3)),  # one label has the same score
        ([5, 6, 7], [1], 1, (None, 0, 2)),  # a label that is known has no rank
        ([5, 6], [1], 0, (1, 0, 1)),
        ([5, 6], [], 0, (2, 0, 2)),
    ],
)
def test_rank_ties_and_candidates_by_hand(scores, known, label, expected):
    model = Embeddings(np.array([scores], dtype=np.float32), np.eye(len(scores), dtype=np.float32))
    assert rank_by(model, [known], [(0, label)]) == [(0, label, *expected)]


def draw_known(rng, n_images, n_labels):
    return [sorted(rng.choice(n_labels, rng.integers(0, n_labels), replace=False).tolist()) for _ in range(n_images)]


def assert_sorted(rows, scores, known):
    """Compare ranks with the positions in a sorted list."""
    for i, label, rank, ties, candidates in rows:
        rest = [c for c in range(scores.shape[1]) if c not in known[i]]
        assert candidates == len(rest)
        if label in known[i]:
            assert rank is None
            continue
        ranked = sorted((scores[i, c] for c in rest), reverse=True)
        assert rank == ranked.index(scores[i, label]) + 1
        assert ties == ranked.count(scores[i, label]) - 1


# The fixture is the same for all examples.
PROPERTY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@PROPERTY
@given(
    seed=st.integers(0, 10**6),
    n_images=st.integers(1, 30),
    n_labels=st.integers(2, 70),
    n_factors=st.integers(1, 40),
    sizes=st.tuples(st.integers(-60, 50), st.integers(-60, 50)),
)
def test_embeddings_of_any_size_agree_with_sorting(seed, n_images, n_labels, n_factors, sizes):
    """Small whole numbers times powers of two have exact scores: ties and comparisons must be exact.

    Some vectors are 0, some are copies of others, and lengths differ a lot.
    """
    rng = np.random.default_rng(seed)

    def vectors(n, size):
        whole = rng.integers(-3, 4, (n, n_factors)) * 2 ** rng.integers(0, 4, (n, 1))
        whole[rng.random(n) < 0.1] = 0
        whole = np.where(rng.random((n, 1)) < 0.2, whole[rng.integers(0, n, n)], whole)
        return (whole * 2.0**size).astype(np.float32)

    model = Embeddings(vectors(n_images, sizes[0]), vectors(n_labels, sizes[1]))
    known = draw_known(rng, n_images, n_labels)
    held_out = [(i, int(rng.integers(0, n_labels))) for i in range(n_images)]
    scores = model.image.astype(np.float64) @ model.label.T.astype(np.float64)
    assert_sorted(rank_by(model, known, held_out, threads=2), scores, known)


@pytest.mark.parametrize("n_factors", [1, 16, 50, 129])
def test_scores_decide_up_to_the_rounding_of_float32(n_factors):
    rng = np.random.default_rng(n_factors)
    images = rng.standard_normal((300, n_factors), dtype=np.float32)
    labels = rng.standard_normal((700, n_factors), dtype=np.float32) * rng.uniform(0.01, 10, (700, 1))
    labels[350:] = labels[:350] * (1 + rng.choice([0, 1e-7, 1e-4], (350, 1)))  # scores that differ by little
    model = Embeddings(images, labels.astype(np.float32))
    held_out = [(i, int(rng.integers(0, 700))) for i in range(300)]
    scores = images.astype(np.float64) @ model.label.T.astype(np.float64)
    rounding = n_factors * 2.0**-23 * np.linalg.norm(images, axis=1)[:, None] * np.linalg.norm(model.label, axis=1)
    for i, label, rank, ties, _ in rank_by(model, [[]] * 300, held_out):
        difference = scores[i] - scores[i, label]
        slack = rounding[i] + rounding[i, label]
        assert (difference > slack).sum() < rank <= (difference > -slack).sum()
        assert rank + ties <= (difference > -slack).sum()
