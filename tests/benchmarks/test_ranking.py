"""Every way to rank the held-out labels comes to the same."""

import numpy as np
import pytest

from benchmarks.data import hold_out, simulate
from benchmarks.ranking import CUTOFF, blocked_ranks, implicit_recall, known_places
from vsebench.core.workers import workers
from vsebench.evaluation.metrics import mean_metric
from vsebench.evaluation.ranking import rank_held_out
from vsebench.methods.base import Embeddings


@pytest.fixture(scope="module")
def data():
    return hold_out("iapr", simulate("iapr", 0.02), images=300)


@pytest.fixture(scope="module")
def model(data):
    rng = np.random.default_rng(1)
    shapes = ((data.known.n_images, 8), (data.known.n_labels, 8))
    return Embeddings(*(rng.standard_normal(shape, dtype=np.float32) for shape in shapes))


@pytest.mark.parametrize("threads", [1, 2])
def test_blocked_numpy_agrees_with_ours(data, model, threads, monkeypatch):
    monkeypatch.setattr("benchmarks.ranking.SCORES_A_BLOCK", 40 * data.known.n_labels)  # several blocks, the last short
    with workers(threads) as pool:
        ours = rank_held_out(model, data.known, data.test, pool, "test")
        assert data.test.select("image", "label").equals(ours.select("image", "label"))
        assert blocked_ranks(model, data.known, data.test, pool).tolist() == ours["rank"].to_list()


def test_implicit_agrees_with_ours(data, model):
    pytest.importorskip("implicit")
    pytest.importorskip("cornac")
    pytest.importorskip("lightfm")
    with workers(1) as pool:
        ours = mean_metric(rank_held_out(model, data.known, data.test, pool, "test"), f"rec@{CUTOFF}")
        assert implicit_recall(model, data.known, data.test, 1)() == pytest.approx(ours)


def test_known_places(data):
    images = np.array([5, 2, 9], dtype=np.int32)
    rows, labels = known_places(data.known, images)
    expected = [data.known.labels[data.known.offsets[i] : data.known.offsets[i + 1]].tolist() for i in images]
    assert [labels[rows == row].tolist() for row in range(3)] == expected


def test_held_out_labels_are_no_training_labels(data):
    pairs = data.known.to_pairs()
    assert data.test.join(pairs, on=["image", "label"], how="semi").is_empty()
    assert data.valid.join(pairs, on=["image", "label"], how="anti").is_empty()
    assert data.valid.join(data.train.to_pairs(), on=["image", "label"], how="semi").is_empty()
    assert set(pairs["count"]) == {1}
