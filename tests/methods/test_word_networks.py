"""Networks with word vectors: the labels' vectors, gradients by differences, optima, and labels that are not learnt."""

import numpy as np
import pytest

from tests.builders import dense, matrix_of
from tests.methods.problems import check_gradients, features_of, network, problem_from, problem_of, settings_of
from vsebench.core.workers import workers
from vsebench.data.problem import WordVectors
from vsebench.methods.base import load_method
from vsebench.methods.words.word_vectors import label_vectors

FULL = ["fast0tag", "x_ent"]
JOINT = ["s_fast0tag", "s_x_ent", *FULL]


class TestTheVectorsOfLabels:
    word_vectors = WordVectors(
        np.array([[3, 4], [0, 0], [0, 2], [6, 8]], dtype=np.float32), np.array([True, False, True, True])
    )

    def vectors(self, seed=1, **changes):
        with workers(1) as pool:
            problem = problem_from(matrix_of([[0, 3], [1]], 4), pool, seed=seed, word_vectors=self.word_vectors)
        return label_vectors(problem, settings_of("x_ent", **({"scale": 1.0} | changes)))

    def test_raw_and_unit_vectors_are_scaled(self):
        expected = self.word_vectors.scaled("unit") * 3
        np.testing.assert_allclose(self.vectors(scale=3.0)[[0, 2, 3]], expected[[0, 2, 3]], rtol=1e-6)
        assert np.array_equal(self.vectors(vectors="raw")[[0, 2, 3]], self.word_vectors.vectors[[0, 2, 3]])

    def test_a_label_without_one_has_the_median_length_and_a_direction_of_the_seed(self):
        one, other = self.vectors(vectors="raw"), self.vectors(vectors="raw", seed=2)
        assert np.linalg.norm(one[1]) == pytest.approx(5)  # of 2, 5 and 10
        assert not np.allclose(one[1], other[1])

    def test_dealt_vectors_are_the_same_vectors_of_other_labels(self):
        plain = self.vectors()
        dealt = [self.vectors(seed=seed, start="dealt") for seed in range(1, 9)]
        assert any(not np.allclose(one, plain) for one in dealt)
        rows = sorted(map(tuple, dealt[0].round(4).tolist()))
        assert rows == sorted(map(tuple, plain.round(4).tolist()))

    def test_random_vectors_have_length_1_times_the_scale(self):
        vectors = self.vectors(start="random", vectors="raw", scale=2.0)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 2, rtol=1e-5)


@pytest.mark.parametrize("changes", [{"joint": False}, {"joint": True}], ids=["fixed", "trained"])
@pytest.mark.parametrize("name", FULL)
def test_gradients_are_those_of_the_mean_loss(monkeypatch, name, changes):
    """Those of the labels' vectors as well, if these are trained."""
    fitter = network(name, dropout=0.0, **changes)
    parameters = [*fitter.layers.weights, *fitter.layers.intercepts]
    parameters += [fitter.table.vectors] if changes["joint"] else []
    check_gradients(monkeypatch, fitter, parameters, 0.003, abs=4e-3, rel=1e-2)


@pytest.mark.parametrize("name", JOINT)
class TestEveryWordNetwork:
    def test_fixed_vectors_stay_and_trained_ones_move(self, name):
        for joint in (False, True):
            fitter = network(name, joint=joint)
            fitter.epoch()
            assert np.array_equal(fitter.model().label[:, :-1], fitter.table.start) != joint

    def test_trained_vectors_decay_and_fixed_ones_do_not(self, name):
        for joint in (False, True):
            plain, decayed = (network(name, joint=joint, decay=decay) for decay in (0.0, 5.0))
            plain.epoch(), decayed.epoch()
            lengths = [np.linalg.norm(fitter.table.trained(), axis=1).mean() for fitter in (plain, decayed)]
            assert (lengths[1] < 0.8 * lengths[0]) == joint

    def test_labels_that_are_not_learnt_keep_their_vectors_and_are_no_negatives(self, name):
        learnt = np.arange(32) % 8 != 3
        plain, fitter = network(name, learnt=learnt, joint=True), network(name, learnt=learnt, joint=True)
        fitter.table.start[~learnt] = 0  # what training does cannot depend on them
        plain.epoch(), fitter.epoch()
        one, other = plain.model().label, fitter.model().label
        assert np.array_equal(one[learnt], other[learnt])
        assert np.array_equal(one[~learnt, :-1], plain.table.start[~learnt])
        assert not np.allclose(one[learnt, :-1], plain.table.start[learnt])

    def test_by_cosine_lengths_do_not_matter(self, name):
        fitter = network(name, score="cosine")
        fitter.epoch()
        model = fitter.model()
        with workers(1) as pool:
            _, queries = problem_of("dense features", pool)
        vectors = model.vectors(queries)[:, :-1]
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-4)
        np.testing.assert_allclose(np.linalg.norm(model.label[:, :-1], axis=1), 1, rtol=1e-4)
        assert np.abs(model.scores(queries)).max() <= 1 + 1e-5


TABLE = [[0, 1], [0, 2], [0], [1, 3], [0, 1, 2], [0], [3], [0, 2]]  # the labels of eight images of one kind


def scores_on_a_table(name, epochs, **changes):
    """Return the scores of images that all look alike, after a training whose vectors can express any scores."""
    with workers(1) as pool:
        matrix = matrix_of(TABLE * 40, 5)
        word_vectors = WordVectors(np.eye(5, dtype=np.float32), np.ones(5, dtype=bool))
        problem = problem_from(
            matrix, pool, features=features_of(np.ones((matrix.n_rows, 1))), word_vectors=word_vectors
        )
    base = {"hidden": [], "dropout": 0.0, "decay": 0.0, "batch": 320, "normalise": [], "scale": 1.0, "joint": False}
    rates = (0.1, 0.02, 0.004)
    fitter = load_method(name)(problem, settings_of(name, **(base | {"learning_rate": rates[0]} | changes)))
    for rate in rates:
        fitter.layers.settings = fitter.settings.model_copy(update={"learning_rate": rate})
        for _ in range(epochs):
            fitter.epoch()
    return fitter.model().label[:, -1] + fitter.layers.intercepts[-1].value + fitter.layers.weights[-1].value[0]


CARRIED = dense(matrix_of(TABLE, 5))
FREQUENCY = CARRIED.sum(axis=0)
DRAWN_POSITIVE = (CARRIED / CARRIED.sum(axis=1, keepdims=True)).mean(axis=0)  # q


@pytest.mark.parametrize("offset", ["none", "frequency"])
def test_full_cross_entropy_ends_at_the_log_odds_with_an_offset_or_without(offset):
    actual = scores_on_a_table("x_ent", 100, offset=offset)[:4]
    chance = FREQUENCY[:4] / len(TABLE)
    np.testing.assert_allclose(actual, np.log(chance / (1 - chance)), atol=0.01)


@pytest.mark.parametrize(("power", "presampled"), [(0.0, None), (0.5, None), (1.0, None), (1.0, 100_000)])
def test_a_sampled_cross_entropy_ends_at_the_lift(power, presampled):
    """exp(s_l) = q_l / p_n(l), the chances of a drawn positive and of a drawn negative."""
    changes = {"exclude": "none", "negatives": 20, "positives": 20, "presampled": presampled}
    actual = scores_on_a_table("s_x_ent", 150, negative_power=power, **changes)[:4]
    negative = FREQUENCY**power / (FREQUENCY**power).sum()
    np.testing.assert_allclose(
        actual, np.log(DRAWN_POSITIVE[:4] / negative[:4]), atol=0.05 if presampled is None else 0.06
    )


def test_sampled_pairs_end_at_the_differences_of_the_lift():
    actual = scores_on_a_table("s_fast0tag", 150, exclude="none", negatives=20, positives=20)[:4]
    lift = np.log(DRAWN_POSITIVE[:4] / (FREQUENCY / FREQUENCY.sum())[:4])
    np.testing.assert_allclose(actual - actual[0], lift - lift[0], atol=0.06)


def test_with_sums_for_weights_the_lift_is_divided_by_the_ratio_of_draws():
    actual = scores_on_a_table("s_x_ent", 150, exclude="none", negatives=20, positives=5, weights="sum")[:4]
    expected = np.log(DRAWN_POSITIVE[:4] / (FREQUENCY / FREQUENCY.sum())[:4]) - np.log(20 / 5)
    np.testing.assert_allclose(actual, expected, atol=0.06)


def test_the_correction_gives_the_order_of_drawn_positives_back():
    changes = {"exclude": "none", "negatives": 20, "positives": 20, "correct_for_frequency": True}
    actual = scores_on_a_table("s_x_ent", 150, **changes)[:4]
    np.testing.assert_allclose(actual - actual[0], np.log(DRAWN_POSITIVE[:4] / DRAWN_POSITIVE[0]), atol=0.06)


def test_batch_and_next_image_end_where_their_negatives_lead():
    """All images of the batch are of one kind: with the next image's labels p_n is q, so that no label is lifted."""
    actual = scores_on_a_table("s_x_ent", 150, exclude="next_image", negatives=20, positives=20)[:4]
    np.testing.assert_allclose(actual, 0, atol=0.06)


def test_presampled_negatives_are_of_the_labels_drawn_for_the_epoch():
    fitter = network("s_x_ent", presampled=3, exclude="none")
    drawn = []
    for _ in range(3):
        fitter.table.start_epoch()
        batches = [fitter.table.draw(np.arange(20))[:, fitter.settings.positives :] for _ in range(20)]
        drawn.append(np.unique(batches))
        assert len(drawn[-1]) <= 3
    assert len(np.unique(np.concatenate(drawn))) > 3  # each epoch has labels of its own


def test_the_published_network_learns_as_the_sampled_one_and_its_words_by_undivided_steps():
    same = {"hidden": [], "decay": 0.0, "vectors": "raw", "scale": 1.0, "exclude": "drawn", "joint": True}
    same |= {"batch": 128}
    plain, published = (network(name, **same) for name in ("s_x_ent", "s_opt_x_ent_published"))
    images = np.arange(128) % 20
    assert plain.step(images) == published.step(images)
    assert np.array_equal(plain.layers.weights[0].value, published.layers.weights[0].value)
    moved = [np.abs(fitter.table.trained() - fitter.table.start).max() for fitter in (plain, published)]
    assert 0 < moved[0] < 0.011 < moved[1]  # Adam's first step is the rate, 0.01
