"""All ways to rank the held-out labels give the same results."""

import numpy as np
import pytest

from benchmarks.data import hold_out, simulate
from benchmarks.ranking import CUTOFF, blocked_ranks, for_every_image, implicit_recall
from tests.builders import dense
from vsebench.core.workers import workers
from vsebench.data.problem import Dataset
from vsebench.evaluation.metrics import mean_metric
from vsebench.evaluation.ranking import rank
from vsebench.models import Embeddings


@pytest.fixture(scope="module")
def data():
    return hold_out("iapr", Dataset(simulate("iapr", 0.02)), images=300)


@pytest.fixture(scope="module")
def model(data):
    rng = np.random.default_rng(1)
    shapes = ((data.known.n_rows, 8), (data.known.n_labels, 8))
    return Embeddings(*(rng.standard_normal(shape, dtype=np.float32) for shape in shapes))


@pytest.mark.parametrize("threads", [1, 2])
def test_blocked_numpy_agrees_with_ours(data, model, threads, monkeypatch):
    monkeypatch.setattr("benchmarks.ranking.SCORES_A_BLOCK", 40 * data.known.n_labels)  # several blocks, the last short
    with workers(threads) as pool:
        ours = rank(model, data.test, None, pool, "test")
        assert ours["image"].to_list() == data.test.images.tolist()
        assert blocked_ranks(model, data.test, pool).tolist() == (ours["above"] + 1).to_list()


def test_implicit_agrees_with_ours(data, model):
    pytest.importorskip("implicit")
    pytest.importorskip("cornac")
    pytest.importorskip("lightfm")
    with workers(1) as pool:
        ours = mean_metric(rank(model, data.test, None, pool, "test"), f"recall@{CUTOFF}")
        assert implicit_recall(model, data.test, 1)() == pytest.approx(ours)


def test_labels_of_the_tested_images_stand_in_their_rows(data):
    rows = dense(for_every_image(data.test.known, data.test, data.known.n_rows))
    assert np.array_equal(rows[data.test.images], dense(data.test.known))
    assert rows.sum() == data.test.known.n_pairs


def test_held_out_labels_are_no_training_labels(data):
    known, train = dense(data.known), dense(data.train)
    assert not (dense(data.test.right) & known[data.test.images]).any()
    valid = dense(data.valid.right)
    assert not (valid & train[data.valid.images]).any()
    assert (valid & known[data.valid.images]).sum() == len(data.valid.images)
    assert set(data.known.count_of_pair) == {1}
    assert len(data.valid.images) <= len(data.test.images) == 300
