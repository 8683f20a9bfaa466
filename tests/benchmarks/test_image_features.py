"""Benchmarks on image features: sizes, equal chances and equal neighbours on tiny data, but no times."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.special import logit

from benchmarks import __main__ as command
from benchmarks import (
    embedding_steps,
    epochs_by_labels,
    feature_rows,
    image_features,
    losses_by_labels,
    neighbour_search,
    networks,
    report,
    results,
    torch_networks,
    word_search,
)
from benchmarks.clock import SCHEMA, comparison
from benchmarks.feature_rows import Searched
from benchmarks.goals import FEATURE_TITLES, goal
from benchmarks.plan import FULL, QUICK, Training
from benchmarks.quality import value
from vsebench.core.workers import workers
from vsebench.data.problem import LabelMatrix, Queries
from vsebench.data.streams import Stream, generator
from vsebench.methods.by_features.neighbours import Search

TINY = replace(
    QUICK,
    scale=0.02,
    repeats=2,
    images=100,
    threads=(1, 2),
    on_features=replace(
        QUICK.on_features,
        factors=8,
        neighbours=10,
        levels=(0, 2),
        trainings=dict.fromkeys(QUICK.on_features.trainings, Training(epochs=2, every=1)),
        steps={"non_zeros": (10, 20), "factors": (8, 20), "labels": (25, 50)},
        losses={"labels": (20, 40), "per_image": (2, 3)},
        epochs={"labels": (30, 60), "images": (20,)},
        searched=(500, 16),
    ),
)


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch):
    monkeypatch.delenv(feature_rows.MIRROR, raising=False)


@pytest.fixture(scope="module")
def rows():
    return {task.name: task for task in (feature_rows.dense_rows(TINY), feature_rows.sparse_rows(TINY))}


@pytest.mark.parametrize(("size", "non_zeros", "labels"), [("sparse", 92.6, 1.0), ("blobs", 8.27, 3.52)])
def test_simulated_rows_are_as_long_as_the_real_ones(size, non_zeros, labels):
    size, rng = replace(getattr(FULL.on_features, size), images=2000), generator(1, Stream.SIMULATED_LABELS)
    matrix = feature_rows.draw_labels(size, rng)
    words = feature_rows.draw_words(size, matrix, rng)
    assert words.shape == (2000, size.dimensions)
    assert words.nnz / 2000 == pytest.approx(non_zeros, rel=0.05)
    assert matrix.n_pairs / 2000 == pytest.approx(labels, rel=0.15)


def test_searched_rows_have_unit_length(rows):
    assert [(task.rows.shape, task.queries.shape) for task in rows.values()] == [
        ((300, 26), (40, 26)),
        ((400, 200), (20, 200)),
    ]
    for task in rows.values():
        np.testing.assert_allclose((task.rows * task.rows).sum(axis=1), 1, rtol=1e-5)


def test_a_word_of_an_image_can_be_one_of_any_of_its_labels():
    matrix = LabelMatrix(5, np.array([0, 2, 3]), np.array([1, 4, 2], dtype=np.int32), np.ones(3, dtype=np.int32))
    drawn = feature_rows.one_label(matrix, np.repeat([0, 1], 50), np.random.default_rng(1))
    assert set(drawn[:50]) == {1, 4}
    assert set(drawn[50:]) == {2}


def test_blobs_are_real_where_the_mirror_has_them(mirror, monkeypatch):
    monkeypatch.setenv(feature_rows.MIRROR, str(mirror))
    if not (mirror / "Corel5k-sparse.arff").exists():
        pytest.skip("the mirror has no Corel5k-sparse.arff")
    data = feature_rows.blobs(FULL)
    assert (data.name, data.features.n_images, data.features.dimensions) == ("corel5k374", 5000, 499)
    assert (len(data.valid.images), len(data.test.images), data.metric) == (500, 500, "map")
    assert feature_rows.blobs(TINY).name == "sim-blobs"


def assert_learns(training, data, pool):
    assert len(training.run(1)) == 1
    before = training.model().arrays()["label"].copy()
    training.run(2)
    assert not np.array_equal(before, training.model().arrays()["label"])
    assert 0 < value(training.model(), data.valid, data, pool) <= 1


@pytest.mark.parametrize("kind", ["blobs", "sparse"])
def test_both_have_as_many_trials_and_settings(kind):
    pytest.importorskip("lightfm")
    data = feature_rows.blobs(TINY)
    everyone = image_features.contestants(data, 3, kind)
    assert [len(contestant.grid) for contestant in everyone] == [4, 4]
    with workers(1) as pool:
        ours, peer = (one.start(data.train, one.grid[0] | {"factors": 8}, pool) for one in everyone)
        assert ours.method.trials.maximum == peer.method.lightfm.max_sampled == 3
        assert (ours.method.seen.rows != peer.method.seen.rows).nnz == 0
        for training in (ours, peer):
            assert_learns(training, data, pool)


@pytest.mark.parametrize("hidden", [[], [16]])
def test_networks_have_the_same_rows_and_as_many_settings(hidden):
    pytest.importorskip("sklearn")
    data = feature_rows.blobs(TINY)
    everyone = networks.contestants(data, hidden)
    assert [len(contestant.grid) for contestant in everyone] == [4, 4]
    with workers(1) as pool:
        ours, peer = (one.start(data.train, one.grid[0] | {"factors": 8}, pool) for one in everyone)
        assert (ours.method.seen.rows != peer.rows).nnz == 0
        assert peer.right.sum() == data.train.n_pairs
        for training in (ours, peer):
            assert_learns(training, data, pool)


def test_the_peers_network_is_read_as_it_scores():
    pytest.importorskip("sklearn")
    data = feature_rows.blobs(TINY)
    for hidden in ([], [16]):
        with workers(1) as pool:
            peer = networks.contestants(data, hidden)[1]
            training = peer.start(data.train, peer.grid[1], pool)
            training.run(2)
        queries = Queries.of_new_images(training.rows[:9], data.train.n_labels)
        scores = training.model().scores(queries)
        if hidden:
            expected = logit(training.network.predict_proba(training.rows[:9]))
        else:
            expected = np.stack([line.decision_function(training.rows[:9]) for line in training.lines], axis=1)
        np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["dense rows", "sparse rows"])
@pytest.mark.parametrize("threads", [1, 2])
def test_everyone_finds_the_same_neighbours(name, threads, rows):
    pytest.importorskip("sklearn")
    task = rows[name]
    search, theirs = Search(task.rows, "cosine"), neighbour_search.brute_force(task, 10)()
    with workers(threads) as pool:
        near = neighbour_search.search_by_all(search, task, 10, pool)
    assert neighbour_search.as_near(search, task.queries, near, theirs) == 1.0
    assert neighbour_search.as_near(search, task.queries, theirs, near) == 1.0


def test_of_equally_near_rows_either_may_be_taken():
    rows = np.array([[1, 0], [0.6, 0.8], [0.6, -0.8], [-1, 0]], dtype=np.float32)
    search, ours = Search(rows, "cosine"), np.array([[0, 1]], dtype=np.int32)
    assert neighbour_search.as_near(search, rows[:1], ours, np.array([[2, 0]], dtype=np.int32)) == 1.0
    assert neighbour_search.as_near(search, rows[:1], np.array([[0, 3]], dtype=np.int32), ours) == 0.5


@pytest.mark.parametrize("name", ["dense rows", "sparse rows"])
def test_a_tree_of_one_leaf_is_the_exact_search_and_others_search_their_leaf(name, rows):
    task = rows[name]
    exact = neighbour_search.first_of(*Search(task.rows, "cosine").nearest(task.queries, 10))
    assert np.array_equal(neighbour_search.Tree(task, 0).first(10), exact)
    itself = Searched("", task.rows, task.rows[:20])
    assert np.array_equal(neighbour_search.Tree(itself, 3).first(10), np.arange(20))


def test_a_peer_that_is_not_installed_is_left_out_with_a_line(monkeypatch, capsys):
    monkeypatch.setattr(feature_rows.importlib.util, "find_spec", lambda name: None)
    assert image_features.wsabie_epoch(TINY) == ([], [])
    assert neighbour_search.sparse_neighbours(TINY) == []
    assert {row["peer"] for row in neighbour_search.dense_neighbours(TINY)} == {"sgemm"}
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all("is not installed" in line for line in lines)


def test_parts_on_image_features_run_without_the_other_parts_peers(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "QUICK", TINY)
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: None)
    where = ["--results", str(tmp_path), "--figures", str(tmp_path / "figures")]
    assert command.main(["--quick", "--only", "sparse_neighbours", "dense_neighbours", *where]) == 0
    assert results.read(tmp_path)["features"]["what"].to_list() == ["dense_neighbours"] * 2


def test_every_comparison_has_a_title_and_a_floor_below_its_aim():
    assert set(FEATURE_TITLES) == {*command.RACES, *command.SEARCHES} - {"tree"}
    for what in FEATURE_TITLES:
        for peer in ("sgemm", "scikit-learn"):
            assert 0 < goal(what, peer, 1).floor < goal(what, peer, 1).aim


def test_a_goal_is_reached_at_no_lower_quality_only():
    keys = {"what": "wsabie_epoch", "size": "sim-blobs", "threads": 1, "ours": "WSABIE", "peer": "LightFM"}
    table = [comparison(keys, [1.0], [5.0], quality) for quality in ((0.3, 0.3), (0.29, 0.3))]
    cells = [row.cells[9].value for row in report.feature_table(pl.DataFrame(table, schema=SCHEMA)).rows]
    assert cells == ["floor", "no, lower quality"]


def test_rows_of_steps_have_as_many_non_zeros_as_asked():
    labels, features = embedding_steps.draw((200, 400), 20, 30)
    assert features.values.nnz == 200 * 20
    assert (labels.n_rows, labels.n_labels, labels.n_pairs) == (200, 30, 200)


def test_steps_are_measured_for_every_size():
    table = embedding_steps.measure(TINY)
    assert table.select("non_zeros", "factors", "labels").unique().height == len(table) == 8
    assert table["trials"].is_between(1, 49).all()
    assert (table["seconds"] > 0).all()


def test_losses_are_measured_for_every_size():
    table = losses_by_labels.measure(TINY)
    assert table.select("form", "labels", "per_image").unique().height == len(table) == 3 * 4
    assert (table["seconds"] > 0).all()


def test_epochs_with_word_vectors_are_measured_for_every_row_and_size():
    table = epochs_by_labels.measure(TINY)
    assert table.select("variant", "labels", "part").unique().height == len(table) == 2 * (3 * 4 + 5 * 3)
    assert (table["seconds"] > 0).all()
    whole = table.filter(part="whole")
    assert whole.filter(labels=30)["words"].unique().to_list() == [30 * 300 * 4]


def test_images_of_the_epochs_have_seven_different_labels():
    with workers(1) as pool:
        labels = epochs_by_labels.drawn(12, 40, pool).training.labels
    assert labels.n_labels_of_row.tolist() == [7] * 40  # and each matrix has no label twice


def test_a_whole_run_on_tiny_data(tmp_path, monkeypatch):
    for package in ("faiss", "lightfm", "sklearn"):
        pytest.importorskip(package)
    monkeypatch.setattr(command, "QUICK", TINY)
    where = ["--results", str(tmp_path), "--figures", str(tmp_path / "figures")]
    parts = [name for name in command.WITHOUT_PEERS if name not in {*torch_networks.RACES, "vectors"}]
    titles = {name: title for name, title in FEATURE_TITLES.items() if name not in torch_networks.RACES}
    assert command.main(["--quick", "--only", *parts, *where]) == 0
    found = results.read(tmp_path)
    assert len(found["features"]) == 5 * 2 + 3 * 2 + 1 * 2 + 3 * 2 + 2 + 2
    assert set(found["features"]["what"]) == {*titles, "tree"}
    assert len(found["feature_settings"]) == 5 * 2
    assert found["features"].filter(what="tree", ours="p = 0")["quality_ours"].to_list() == [1.0] * 3
    assert found["features"]["load"].null_count() == 0
    assert command.main(["--quick", "--only", "dense_neighbours", *where]) == 0
    again = results.read(tmp_path)["features"]
    assert again.select("what", "size", "threads", "ours", "peer").equals(
        found["features"].select("what", "size", "threads", "ours", "peer")
    )
    page = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert all(title in page for title in titles.values())


def test_a_search_finds_the_nearest_images_best_first():
    images = np.random.default_rng(2).standard_normal((300, 8), dtype=np.float32)
    word = images[7].copy()
    expected = sorted(range(300), key=lambda image: -float(images[image] @ word))[: word_search.FIRST]
    assert word_search.search(images, word).tolist() == expected


def test_the_published_rule_makes_its_draws_for_every_image(monkeypatch):
    sizes = []

    class Recorded:
        def choice(self, labels, size, p=None):
            sizes.append((size, None if p is None else np.asarray(p).tolist()))
            return np.array([2] * size)

    monkeypatch.setattr(word_search, "generator", lambda *names: Recorded())
    labels = LabelMatrix(4, np.array([0, 1]), np.array([2], dtype=np.int32), np.ones(1, dtype=np.int32))
    word_search.draw_as_published(labels, np.array([0.2, 0.2, 0.5, 0.1]))
    assert sizes == [(5, None), (10, pytest.approx([0.4, 0.4, 0.0, 0.2]))]
