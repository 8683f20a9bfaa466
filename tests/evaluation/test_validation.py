"""The mean over validation images that training computes after every epoch, against the means of whole tables."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import matrix_of
from vsebench.core.workers import workers
from vsebench.data.problem import HeldOut, LabelMatrix
from vsebench.evaluation.metrics import mean_metric
from vsebench.evaluation.metrics.base import RankMetric, known_metrics, metric_class
from vsebench.evaluation.ranking import count_ranks, rank
from vsebench.evaluation.validation import MOST_LABELS, MeanOfImages, RememberedMean, mean_over
from vsebench.models import Embeddings

METRICS = [
    name if metric_class(name).takes_cutoff == "never" else f"{name}@3"
    for name in known_metrics()
    if issubclass(metric_class(name), RankMetric)
]


def held_out_of(right, known, candidates, n_labels=6):
    rows = [matrix_of(labels, n_labels) for labels in (right, known)]
    mask = np.zeros(n_labels, dtype=np.bool_)
    mask[list(candidates)] = True
    return HeldOut(np.arange(len(right), dtype=np.int32), *rows, mask)


@pytest.mark.parametrize("metric", METRICS)
@given(data=st.data())
def test_every_mean_is_that_of_the_table_of_ranks_in_each_epoch(metric, data):
    """With ties, misses (labels that are no candidates or are known) and images without a held-out label."""
    n_images = data.draw(st.integers(1, 8))
    label = st.integers(0, 5)
    right = data.draw(st.lists(st.lists(label, max_size=1), min_size=n_images, max_size=n_images))
    known = data.draw(st.lists(st.sets(label, max_size=3).map(sorted), min_size=n_images, max_size=n_images))
    held_out = held_out_of([*right, [0]], [*known, []], data.draw(st.sets(label, min_size=1)))
    mean = mean_over(metric, held_out)
    assert isinstance(mean, RememberedMean)
    with workers(1) as pool:
        for seed in data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3)):
            model = model_of(seed, n_images + 1)
            expected = mean_metric(rank(model, held_out, None, pool, "model"), metric)
            assert mean(count_ranks(model, held_out, None, pool)) == pytest.approx(expected, abs=1e-15)


def model_of(seed, n_images):
    """Return a model whose scores are small whole numbers, so that many are equal."""
    rng = np.random.default_rng(seed)
    image, label = (rng.integers(-1, 2, (n, 16)).astype(np.float32) for n in (n_images, 6))
    return Embeddings(image, label)


def test_images_with_several_labels_or_too_many_labels_take_the_mean_of_the_table():
    several = held_out_of([[0, 1], [2]], [[3], [4]], range(6))
    assert type(mean_over("map", several)) is MeanOfImages
    with workers(1) as pool:
        model = model_of(1, 2)
        expected = mean_metric(rank(model, several, None, pool, "model"), "map")
        assert mean_over("map", several)(count_ranks(model, several, None, pool)) == expected
    single = held_out_of([[0], [2]], [[3], [4]], range(6))
    huge = replace(
        single,
        right=LabelMatrix.empty(2, MOST_LABELS + 1),
        known=LabelMatrix.empty(2, MOST_LABELS + 1),
        candidates=np.ones(MOST_LABELS + 1, dtype=np.bool_),
    )
    assert type(mean_over("map", huge)) is MeanOfImages


def test_the_largest_numbers_of_labels_fit():
    largest = MOST_LABELS + 1  # the largest digit
    base = MOST_LABELS + 2
    assert (largest * base + largest) * base + largest < 2**63


def test_each_rank_is_computed_once(monkeypatch):
    held_out = held_out_of([[0], [1], [2]], [[], [], []], range(6))
    mean = mean_over("ndcg@3", held_out)
    with workers(1) as pool:
        counts = count_ranks(model_of(1, 3), held_out, None, pool)
    first = mean(counts)
    monkeypatch.setattr("vsebench.evaluation.validation.values", None)
    assert mean(counts) == first
