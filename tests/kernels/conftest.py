from types import SimpleNamespace

import numpy as np
import pytest

from tests.reference.arrays import embedding_of, pairs_of, pipeline_of


@pytest.fixture
def problem():
    """Twenty images of twelve labels (one image has none), and embeddings in float32 and, for the twin, float64."""
    rng = np.random.default_rng(3)
    rows = [sorted(rng.choice(12, size, replace=False).tolist()) for size in rng.integers(1, 5, 20)]
    rows[2] = []
    images, labels = rng.normal(0, 0.5, (20, 6)), rng.normal(0, 0.5, (12, 6))
    return SimpleNamespace(
        rows=rows,
        pairs=pairs_of(rows),
        pipeline=pipeline_of(rows),
        embedding=embedding_of(images, labels),
        twin=(images, labels),
        n_labels=12,
        steps=300,
    )


@pytest.fixture
def agree():
    """Check that embeddings agree with the twin's, and that the padding is still 0."""

    def check(embedding, twin):
        for ours, theirs in zip(embedding, twin, strict=True):
            np.testing.assert_allclose(ours[:, : theirs.shape[1]], theirs, rtol=2e-3, atol=2e-4)
            assert not ours[:, theirs.shape[1] :].any()

    return check
