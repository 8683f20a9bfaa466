"""The full-sample loss of an embedding, beside a dense least-squares fit over all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import matrix_of
from vsebench.evaluation.analyses.full_sample_loss import full_sample_losses

LABELS = 5
ROWS = st.lists(st.sets(st.integers(0, LABELS - 1)).map(sorted), min_size=1, max_size=6).filter(any)


def dense(image, label, rows, beta_0):
    """Return the minimum by weighted least squares over a table of all pairs of images with a label."""
    learnt = [i for i, labels in enumerate(rows) if labels]
    scores = (image[learnt].astype(float) @ label.T.astype(float)).ravel()
    right = np.array([[c in rows[i] for c in range(LABELS)] for i in learnt]).ravel()
    roots = np.sqrt(np.where(right, 1.0, beta_0 / LABELS))
    design = np.stack([np.ones_like(scores), scores], axis=1) * roots[:, None]
    solution = np.linalg.lstsq(design, right * roots, rcond=None)[0]
    return np.sum((design @ solution - right * roots) ** 2) / right.sum()


@given(rows=ROWS, seed=st.integers(0, 100), beta_0=st.sampled_from([0.5, 2.0, 128.0]))
def test_agrees_with_least_squares_over_all_pairs(rows, seed, beta_0):
    rng = np.random.default_rng(seed)
    image, label = (rng.normal(size=(n, 3)).astype(np.float32) for n in (len(rows), LABELS))
    (loss,) = full_sample_losses(image, label, matrix_of(rows, LABELS), [beta_0])
    assert loss == pytest.approx(dense(image, label, rows, beta_0), abs=1e-6)


def test_perfect_scores_lose_nothing_and_equal_ones_what_the_docstring_says():
    rows = [[0, 1], [2], [], [3, 4]]
    perfect = np.array([[c in labels for c in range(LABELS)] for labels in rows], dtype=np.float32)
    eye = np.eye(LABELS, dtype=np.float32)
    training = matrix_of(rows, LABELS)
    assert full_sample_losses(perfect, eye, training, [2.0]) == pytest.approx([0.0], abs=1e-12)
    for scale, shift in ((-2.0, 3.0), (1e-6, 0.0), (1.0, 1000.0)):
        moved = (scale * perfect + shift).astype(np.float32)
        assert full_sample_losses(moved, eye, training, [2.0]) == pytest.approx([0.0], abs=1e-6)
    others, b = (15 - 5) / 5, 2 / LABELS
    assert full_sample_losses(np.ones((4, 1), np.float32), np.ones((LABELS, 1), np.float32), training, [2.0]) == (
        pytest.approx([others * b / (1 + others * b)])
    )


def test_a_positives_own_part_in_the_vector_of_its_image_does_not_count():
    """With gamma, u_i = v_i + gamma |C_i|^(-1/2) sum of the positives' vectors; of each positive, without its own."""
    rng = np.random.default_rng(5)
    rows, gamma = [[0, 1], [2], [0, 3, 4]], 0.3
    image, label = (rng.normal(size=(n, 4)) for n in (3, LABELS))
    extended = [
        v + gamma / np.sqrt(len(labels)) * label[labels].sum(axis=0) for v, labels in zip(image, rows, strict=True)
    ]
    scores = np.stack(extended) @ label.T
    for i, labels in enumerate(rows):
        scores[i, labels] -= gamma / np.sqrt(len(labels)) * (label[labels] ** 2).sum(axis=1)
    expected = dense(scores, np.eye(LABELS), rows, 4.0)
    found = full_sample_losses(
        np.stack(extended).astype(np.float32), label.astype(np.float32), matrix_of(rows, LABELS), [4.0], gamma
    )
    assert found == pytest.approx([expected], abs=1e-5)
