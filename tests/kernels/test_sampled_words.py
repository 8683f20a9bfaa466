"""Losses of a sample of labels: draws and their distributions, sums over draws, differences, and Adam on drawn rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy import stats

from tests.reference import sampled_words as reference
from tests.reference.arrays import with_unused
from vsebench.kernels.alias import AliasTable, draw_alias
from vsebench.kernels.losses.label_sample import BATCH, DRAWN, NEXT_IMAGE, NOTHING, POSITIVES, sample_labels
from vsebench.kernels.losses.sampled_words import (
    WordTable,
    add_label_terms,
    add_up_gradient,
    move_touched,
    published_steps,
    sampled_loss,
)
from vsebench.kernels.random_numbers import new_state

LOSSES = {"cross-entropy": (False, reference.cross_entropy), "pairs": (True, reference.pairs)}
EVERY_LOSS = pytest.mark.parametrize("name", LOSSES)
N_LABELS, D, P, N = 12, 19, 3, 4


@njit
def draw_many(table, n, rng):
    return np.array([draw_alias(table, rng) for _ in range(n)])


def chances(table):
    """Return the probability of each number that a table stands for."""
    n = len(table.kept)
    actual = table.kept / n
    np.add.at(actual, table.alias, (1 - table.kept) / n)
    return actual


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60).filter(lambda weights: max(weights) > 1e-3))
def test_an_alias_table_has_exactly_the_chances_of_its_weights(weights):
    weights = np.array(weights)
    table = AliasTable.of(weights)
    np.testing.assert_allclose(chances(table), weights / weights.sum(), atol=1e-12)
    assert table.kept.min() >= 0


def test_draws_follow_the_weights_and_a_weight_of_0_is_never_drawn():
    weights = np.array([5, 0, 1, 3, 0.5, 0, 2.5])
    drawn = draw_many(AliasTable.of(weights), 60_000, new_state(1, 2))
    counts = np.bincount(drawn, minlength=len(weights))
    assert counts[[1, 5]].sum() == 0
    kept = weights > 0
    assert stats.chisquare(counts[kept], 60_000 * weights[kept] / weights.sum()).pvalue > 1e-3


def sample(labels_of, n_images, exclude, weights, n_positives=2, n_negatives=3):
    """Return the draws for `n_images` visits to an image with some labels."""
    return sample_of_batch([labels_of], [0] * n_images, exclude, weights, n_positives, n_negatives)


def sample_of_batch(labels_of, images, exclude, weights, n_positives=2, n_negatives=3):
    """Return the draws for a batch of images, given the labels of each image."""
    chosen = np.empty((len(images), n_positives + n_negatives), dtype=np.int32)
    offsets, labels = np.cumsum([0, *map(len, labels_of)]), with_unused([label for row in labels_of for label in row])
    table, in_batch = AliasTable.of(np.asarray(weights, dtype=np.float64)), np.zeros(len(weights), dtype=bool)
    images, rng = np.array(images), new_state(3, 1)
    sample_labels(chosen, n_positives, images, offsets, labels, table, exclude, in_batch, rng)
    assert not in_batch.any()
    return chosen[:, :n_positives], chosen[:, n_positives:]


def test_positives_are_uniform_among_the_images_labels():
    positives, _ = sample([1, 4, 5], 10_000, POSITIVES, np.ones(8))
    counts = np.bincount(positives.ravel(), minlength=8)
    assert counts.sum() == counts[[1, 4, 5]].sum()
    assert stats.chisquare(counts[[1, 4, 5]]).pvalue > 1e-3


@pytest.mark.parametrize(("exclude", "allowed"), [(NOTHING, range(6)), (POSITIVES, [0, 2, 3, 5])])
def test_negatives_follow_the_weights_of_what_is_not_excluded(exclude, allowed):
    weights = np.array([6, 1, 2, 3, 4, 5])
    _, negatives = sample([1, 4], 10_000, exclude, weights)
    counts, left = np.bincount(negatives.ravel(), minlength=6), weights[list(allowed)]
    assert counts[list(allowed)].sum() == 30_000
    assert stats.chisquare(counts[list(allowed)], 30_000 * left / left.sum()).pvalue > 1e-3


def test_with_drawn_positives_excluded_the_others_of_the_image_can_be_negatives():
    positives, negatives = sample([1, 4, 5], 2_000, DRAWN, np.ones(6))
    assert not (positives[:, :, None] == negatives[:, None, :]).any()
    assert np.isin(negatives, [1, 4, 5]).any()


def test_with_the_batch_excluded_no_drawn_positive_of_any_image_is_a_negative():
    for _ in range(20):
        positives, negatives = sample_of_batch([[0, 1], [2, 3, 4], [5]], [0, 1, 2], BATCH, np.ones(8))
        assert not np.isin(negatives, positives).any()
    weights = np.array([0, 0, 0, 0, 0, 9, 1, 2])
    _, negatives = sample_of_batch([[0], [5]], [0] * 5_000 + [1], BATCH, weights)
    counts = np.bincount(negatives.ravel(), minlength=8)
    assert counts[:6].sum() == 0
    assert stats.chisquare(counts[6:], counts.sum() * np.array([1, 2]) / 3).pvalue > 1e-3


def test_a_batch_that_carries_every_label_has_no_negatives():
    positives, _ = sample_of_batch([[0], [1]], [0, 1], BATCH, np.ones(2))
    assert (positives[:, 0] == -1).all()


def test_negatives_can_be_the_labels_of_the_next_image_and_the_first_follows_the_last():
    labels_of = [[0, 1, 2], [2, 3], [], [4]]
    positives, negatives = sample_of_batch(labels_of, [3, 0, 1, 2] * 2_000 + [3, 0], NEXT_IMAGE, np.ones(6))
    assert (positives[2::4, 0] == -1).all()  # the next image has no label
    assert (positives[3::4, 0] == -1).all()
    assert set(negatives[1:-1:4].ravel()) == {2, 3}  # one of them is the image's own
    assert set(negatives[-1]) == {4}
    counts = np.bincount(negatives[:-1:4].ravel(), minlength=3)
    assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize(
    ("labels_of", "weights"), [([], [1, 1, 1]), ([0, 1, 2], [1, 1, 1]), ([0, 1], [3, 4, 0]), ([0], [1, 0, 0])]
)
def test_an_image_without_a_positive_or_a_negative_has_no_sample(labels_of, weights):
    positives, _ = sample(labels_of, 3, POSITIVES, weights)
    assert (positives[:, 0] == -1).all()


@pytest.fixture
def drawn():
    """Outputs of three images, of which the second has no sample, vectors, and draws that repeat labels."""
    rng = np.random.default_rng(4)
    chosen = rng.integers(0, N_LABELS, (3, P + N)).astype(np.int32)
    chosen[0, :2], chosen[2, 5:] = 7, 7
    chosen[1, 0] = -1
    outputs, vectors = rng.normal(0, 1, (3, D)), rng.normal(0, 0.5, (N_LABELS, D))
    return outputs.astype(np.float32), vectors.astype(np.float32), chosen


def total_of(twin, outputs, vectors, chosen, weight):
    outputs, vectors = outputs.astype(np.float64), vectors.astype(np.float64)
    kept = [(output, row) for output, row in zip(outputs, chosen, strict=True) if row[0] >= 0]
    return sum(twin(output, vectors, row[:P], row[P:], weight) for output, row in kept)


@EVERY_LOSS
@pytest.mark.parametrize("weight", [1.0, 2.5])
def test_a_sampled_loss_is_the_sum_over_draws(name, weight, drawn):
    outputs, vectors, chosen = drawn
    pairwise, twin = LOSSES[name]
    actual, _ = sampled_loss(outputs.copy(), chosen, P, weight, pairwise, WordTable.of(vectors))
    assert actual == pytest.approx(total_of(twin, outputs, vectors, chosen, weight), rel=1e-6)


def differences(function, point, step=1e-5):
    """Return the derivatives of a function of an array by differences."""
    actual = np.empty(point.shape)
    for slot in np.ndindex(point.shape):
        moved = [point.astype(np.float64) for _ in range(2)]
        moved[0][slot] += step
        moved[1][slot] -= step
        actual[slot] = (function(moved[0]) - function(moved[1])) / (2 * step)
    return actual


def gradients(table, n_touched):
    """Return the gradients of all labels' vectors, zeros for those that were not drawn."""
    actual, one = np.zeros((N_LABELS, D)), np.zeros(table.vectors.shape[1], dtype=np.float32)
    for slot in range(n_touched):
        add_up_gradient(table, slot, one)
        actual[table.touched[slot]] = one[:D]
    return actual


@EVERY_LOSS
def test_derivatives_by_outputs_and_vectors_are_those_of_the_twin_by_differences(name, drawn):
    outputs, vectors, chosen = drawn
    pairwise, twin = LOSSES[name]
    table, slopes = WordTable.of(vectors, (3, P + N)), outputs.copy()
    _, n_touched = sampled_loss(slopes, chosen, P, 1.7, pairwise, table)
    expected = differences(lambda moved: total_of(twin, moved, vectors, chosen, 1.7), outputs)
    np.testing.assert_allclose(slopes, expected, atol=2e-6)
    gradient = gradients(table, n_touched)
    expected = differences(lambda moved: total_of(twin, outputs, moved, chosen, 1.7), vectors)
    np.testing.assert_allclose(gradient, expected, atol=2e-6)
    assert sorted(table.touched[:n_touched]) == sorted(set(chosen[[0, 2]].ravel()))


def test_terms_of_labels_alone_and_their_derivatives_are_those_of_the_twin(drawn):
    outputs, vectors, chosen = drawn
    table = WordTable.of(vectors, (3, P + N), with_terms=True)
    _, n_touched = sampled_loss(outputs.copy(), chosen, P, 1.0, False, table)
    of_loss = gradients(table, n_touched)
    actual = add_label_terms(chosen, P, 0.3, table)

    def twin(moved):
        moved = moved.astype(np.float64)
        return 0.3 * sum(reference.label_terms(moved, row[:P], row[P:]) for row in chosen[[0, 2]])

    assert actual == pytest.approx(twin(vectors), rel=1e-6)
    np.testing.assert_allclose(gradients(table, n_touched) - of_loss, differences(twin, vectors), atol=2e-6)
    move_touched(table, n_touched, 3, 1, 0.01, 0.0)
    assert not table.terms.any()


@pytest.mark.parametrize("decay", [0.0, 3.0])
def test_a_step_moves_the_drawn_labels_alone_as_adamw_moves_them(drawn, decay):
    outputs, vectors, chosen = drawn
    table = WordTable.of(vectors, (3, P + N))
    mean, square, value = (np.zeros((N_LABELS, D)) for _ in range(3))
    value[:] = vectors
    drawn_labels = sorted(set(chosen[[0, 2]].ravel()))
    for number in (1, 2, 3):
        _, n_touched = sampled_loss(outputs.copy(), chosen, P, 1.0, False, table)
        slope = gradients(table, n_touched) / 3
        move_touched(table, n_touched, 3, number, 0.01, decay)
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        step = mean / (1 - 0.9**number) / (np.sqrt(square / (1 - 0.999**number)) + 1e-8)
        value -= 0.01 * (step + decay * value)
    np.testing.assert_allclose(table.vectors[drawn_labels, :D], value[drawn_labels], atol=1e-5)
    others = np.setdiff1d(np.arange(N_LABELS), drawn_labels)
    assert np.array_equal(table.vectors[others, :D], vectors[others])
    assert (table.last == -1).all()


@EVERY_LOSS
def test_outputs_of_1000_give_finite_losses_and_derivatives(name, drawn):
    outputs, vectors, chosen = drawn
    slopes = outputs * np.float32(1000)
    value, _ = sampled_loss(slopes, chosen, P, 1.0, LOSSES[name][0], WordTable.of(vectors, (3, P + N)))
    assert np.isfinite(value)
    assert np.isfinite(slopes).all()


def test_published_steps_are_undivided_one_image_after_the_other_and_without_repeats(drawn):
    outputs, vectors, chosen = drawn
    expected = vectors.astype(np.float64)
    for output, row in ((outputs[0], chosen[0]), (outputs[2], chosen[2])):
        for drawn_labels, sign in ((row[:P], 1.0), (row[P:], -1.0)):
            before = expected.copy()
            for label in set(drawn_labels.tolist()):
                expected[label] += 0.1 * sign / (1 + np.exp(sign * (before[label] @ output))) * output
    table = WordTable.of(vectors)
    published_steps(table.vectors, outputs, chosen, P, 0.1)
    np.testing.assert_allclose(table.vectors[:, :D], expected, atol=1e-5)
