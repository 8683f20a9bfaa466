"""PyTorch's networks and ours solve the same problem from the same start; skipped without PyTorch."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import feature_rows, torch_networks
from benchmarks.plan import FULL, QUICK, Training
from benchmarks.quality import value
from vsebench.core.workers import workers
from vsebench.data.problem import Queries

TINY = replace(QUICK, scale=0.02, images=100, threads=(1,))
EVERYONE = [(method, hidden) for method in ("bce", "lsep") for hidden in ([], [16])]
SETTINGS = {"learning_rate": 0.01, "decay": 0.1, "factors": 8}


@pytest.fixture
def torch(monkeypatch):
    monkeypatch.delenv(feature_rows.MIRROR, raising=False)
    found = pytest.importorskip("torch", reason="optional, see docs/benchmarks.md")
    threads = found.get_num_threads()
    yield found
    found.set_num_threads(threads)


def test_a_part_for_each_loss_with_and_without_hidden_units():
    names = {f"{method}_{shape}_torch" for method in ("bce", "lsep") for shape in ("network", "linear")}
    assert set(torch_networks.RACES) == names
    assert [FULL.on_features.trainings[f"{loss}_network_torch"].epochs for loss in ("bce", "lsep")] == [40, 40]


def test_without_pytorch_each_part_is_left_out_with_a_line(monkeypatch, capsys):
    monkeypatch.setattr(feature_rows.importlib.util, "find_spec", lambda name: None)
    assert [part(TINY) for part in torch_networks.RACES.values()] == [([], [])] * 4
    assert capsys.readouterr().out.splitlines() == [
        f"{name}: left out, because torch is not installed" for name in torch_networks.RACES
    ]


@pytest.mark.parametrize(("method", "hidden"), EVERYONE)
def test_the_same_batches_lead_both_to_the_same_weights(method, hidden, torch):
    data = feature_rows.blobs(TINY)
    with workers(1) as pool:
        ours, peer = (one.start(data.train, SETTINGS, pool) for one in torch_networks.contestants(data, method, hidden))
        start = ours.model().label.copy()
        np.testing.assert_array_equal(peer.model().label, start)
        for images in np.random.default_rng(1).permutation(len(peer.rows))[:60].reshape(6, 10):
            ours.method.step(images)
            peer.step(torch.from_numpy(images))
        assert np.abs(ours.model().label - start).max() > 0.02  # far more than the tolerance
        for mine, theirs in zip(ours.model().arrays().values(), peer.model().arrays().values(), strict=True):
            if mine.dtype == np.float32:
                np.testing.assert_allclose(theirs, mine, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("method", "hidden"), EVERYONE)
def test_the_peers_model_scores_as_the_peer_does(method, hidden, torch):
    data = feature_rows.blobs(TINY)
    with workers(1) as pool:
        everyone = torch_networks.contestants(data, method, hidden)
        assert everyone[0].grid == everyone[1].grid
        peer = everyone[1].start(data.train, everyone[1].grid[-1], pool)
        assert len(peer.run(2)) == 2
        assert 0 < value(peer.model(), data.valid, data, pool) <= 1
    scores = peer.model().scores(Queries.of_new_images(peer.ours.seen.rows[:9], data.train.n_labels))
    with torch.inference_mode():
        np.testing.assert_allclose(scores, peer.network.eval()(peer.rows[:9]).numpy(), rtol=1e-3, atol=1e-5)


def test_lsep_of_images_with_all_labels_or_none_is_0_without_a_slope(torch):
    scores = torch.tensor([[500.0, -500.0, 0.0]] * 3, requires_grad=True)
    carried = torch.tensor([[True] * 3, [False] * 3, [False, True, False]])
    loss = torch_networks.Torch.lsep(type("Anything", (), {"torch": torch})(), scores, carried)
    loss.backward()
    assert loss.item() == pytest.approx(1000 / 3)  # log(1 + exp(500 + 500) + exp(500))
    np.testing.assert_allclose(scores.grad, [[0] * 3, [0] * 3, [1 / 3, -1 / 3, 0]], atol=1e-6)


def test_a_part_has_a_row_for_each_number_of_threads(torch):
    trainings = dict.fromkeys(TINY.on_features.trainings, Training(epochs=2, every=1))
    plan = replace(TINY, on_features=replace(TINY.on_features, trainings=trainings), threads=(1, 2))
    rows, settings = torch_networks.RACES["lsep_linear_torch"](plan)
    assert [(row["what"], row["threads"], row["peer"]) for row in rows] == [
        ("lsep_linear_torch", threads, "PyTorch, LSEP, linear") for threads in (1, 2)
    ]
    assert {row["contestant"] for row in settings} == {"LSEP, linear", "PyTorch, LSEP, linear"}
