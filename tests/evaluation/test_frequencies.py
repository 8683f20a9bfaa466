"""Metrics of frequent and rare labels: by hand, against plain NumPy, and within their bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import dense, matrix_of
from tests.evaluation.test_measuring import ranked
from vsebench.config.dataset import Propensity
from vsebench.core.errors import UserError
from vsebench.core.tasks import Case, Task
from vsebench.data import splits
from vsebench.data.problem import Dataset
from vsebench.evaluation.frequencies import Frequencies
from vsebench.evaluation.measuring import measure, measure_sets
from vsebench.evaluation.metrics.base import load_metric
from vsebench.evaluation.reading import frequencies_of as frequencies_of_split
from vsebench.evaluation.sets import LabelSets
from vsebench.evaluation.significance import draw_counts
from vsebench.protocols.base import split_dataset

WEIGHTED = ["psp@1", "psp@3", "psp@5", "psndcg@1", "psndcg@3", "psndcg@5"]
DESCRIBING = ["catalogue_coverage@5", "gini@5", "average_popularity@5"]
ALL = [*WEIGHTED, *DESCRIBING, "n_plus@5"]


def frequencies_of(of_labels, n_images=1000, **settings):
    return Frequencies(np.asarray(of_labels, dtype=np.int64), n_images, Propensity(**settings))


def measured(scores, right, names, frequencies, resamples=100, **changes):
    model = ranked(np.asarray(scores, dtype=np.float32), np.asarray(right), **changes)
    (found,) = measure([model], names, np.shape(scores)[1], resamples, frequencies=frequencies)
    return found


def long_tail(seed, n_images=400, n_labels=60):
    """Return scores without ties, labels of test images and numbers of training images, shaped as those of Bibtex.

    Label frequencies fall from a third of the images to a few, an image has two or three labels, some have none, and
    some labels have no training image.
    """
    rng = np.random.default_rng(seed)
    share = 0.35 / np.arange(1, n_labels + 1) ** 0.9
    right = rng.random((n_images, n_labels)) < share
    training = rng.binomial(4880, share)
    training[-3:] = 0
    scores = rng.permuted(np.tile(np.arange(n_labels), (n_images, 1)), axis=1) + n_labels / 2 * right + 30 * share
    return scores + rng.random(scores.shape) / 2, right, training


def direct(scores, right, training, n_training, k, a=0.55, b=1.5):
    """Return PSP@k and PSnDCG@k by loops over all images, including those without a label."""
    c = (np.log(n_training) - 1) * (b + 1) ** a
    weight = 1 + c * np.exp(-a * np.log(training + b))
    discount = 1 / np.log2(np.arange(2, k + 2))
    sums = np.zeros(4)
    for own_scores, own in zip(scores, right, strict=True):
        gained = (weight * own)[np.argsort(-own_scores)[:k]]
        best = np.sort(weight * own)[::-1][:k]
        ideal = discount[: max(own.sum(), 1)].sum()
        sums += gained.sum() / k, best.sum() / k, (gained * discount).sum() / ideal, (best * discount).sum() / ideal
    return sums[0] / sums[1], sums[2] / sums[3]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("settings", [{}, {"a": 0.5, "b": 0.4}, {"a": 0.6, "b": 2.6}])
def test_metrics_by_propensity_are_those_of_a_direct_computation(seed, settings):
    scores, right, training = long_tail(seed)
    found = measured(scores, right, WEIGHTED, frequencies_of(training, 4880, **settings))
    expected = np.transpose([direct(scores, right, training, 4880, k, **settings) for k in (1, 3, 5)]).ravel()
    np.testing.assert_allclose(found.values, expected, rtol=1e-9)
    assert found.n.tolist() == [right.any(axis=1).sum()] * len(WEIGHTED)
    assert (found.n < len(right)).all()  # images without a label are in the direct computation only


def test_propensities_by_hand():
    """N = e^3 gives log N - 1 = 2; with A = 1 and B = 1, C = 4 and 1 / p = 1 + 4 / (N_l + 1)."""
    n_images = np.exp(3)
    weights = frequencies_of([0, 1, 3, 7], n_images, a=1.0, b=1.0).weights()
    assert weights == pytest.approx([5, 3, 2, 1.5])


def test_two_images_and_three_labels_by_hand():
    """Weights 5, 2 and 1.5. The first image has labels 0 and 2, the second label 1; lists 2, 1, 0 and 1, 2, 0."""
    scores = [[1, 2, 3], [1, 3, 2]]
    right = [[True, False, True], [False, True, False]]
    frequencies = frequencies_of([0, 3, 7], np.exp(3), a=1.0, b=1.0)
    found = measured(scores, right, ["psp@1", "psp@2", "psp@3", "psndcg@1", "psndcg@3"], frequencies)
    first = 1 + 1 / np.log2(3)  # the largest sum of discounts of the first image
    of_list, of_best = (1.5 + 5 / 2) / first + 2, (5 + 1.5 / np.log2(3)) / first + 2
    assert found.values == pytest.approx([(1.5 + 2) / (5 + 2), (1.5 + 2) / (6.5 + 2), 1, 3.5 / 7, of_list / of_best])


def test_with_equal_weights_psp_is_a_share_of_the_best_precision_and_psndcg_is_ndcg():
    scores, right, training = long_tail(5)
    found = measured(scores, right, ["psp@3", "precision@3", "psndcg@5", "ndcg@5"], frequencies_of(training, a=0.0))
    best = np.minimum(right.sum(axis=1), 3)[right.any(axis=1)].mean() / 3
    assert found.values[0] == pytest.approx(found.values[1] / best)
    assert found.values[2] == pytest.approx(found.values[3])


def test_with_fewer_than_three_training_images_all_weights_are_1():
    assert frequencies_of([0, 1, 2], 2).weights().tolist() == [1, 1, 1]
    assert (frequencies_of([0, 1, 2], 3).weights() > 1).all()


@pytest.mark.parametrize(("first", "value"), [(0, 5 / 5), (1, 1.5 / 5)])
def test_the_order_of_held_out_labels_counts_even_if_no_negative_separates_them(first, value):
    """The labels 0 and 1 have the weights 5 and 1.5, and both stand above all negatives."""
    scores = np.array([[1.0, 1.0, 0.0, -1.0]])
    scores[0, first] = 2
    frequencies = frequencies_of([0, 7, 1, 1], np.exp(3), a=1.0, b=1.0)
    assert measured(scores, [[True, True, False, False]], ["psp@1"], frequencies).values == pytest.approx(value)


def test_of_held_out_labels_with_the_same_score_the_one_that_gains_least_comes_first():
    frequencies = frequencies_of([0, 7, 1], np.exp(3), a=1.0, b=1.0)
    found = measured([[1, 1, 0]], [[True, True, False]], ["psp@1", "psp@2", "precision@1"], frequencies)
    assert found.values == pytest.approx([1.5 / 5, 1, 1])


def test_ties_with_a_negative_count_against_the_label():
    frequencies = frequencies_of([5, 5])
    assert measured([[1, 1]], [[True, False]], ["psp@1", "psp@2"], frequencies).values.tolist() == [0, 1]


def test_a_label_that_is_excluded_from_the_candidates_counts_in_the_best_possible_only():
    frequencies = frequencies_of([0, 7, 1], np.exp(3), a=1.0, b=1.0)
    found = measured([[3, 2, 1]], [[True, True, False]], ["psp@1", "psp@2"], frequencies, known=[[0]])
    assert found.values == pytest.approx([1.5 / 5, 1.5 / 6.5])


def test_a_cut_off_beyond_the_number_of_labels_is_the_whole_list():
    scores, right, training = long_tail(7, n_labels=4)
    found = measured(scores, right, ["psp@9", "psndcg@9", *DESCRIBING], frequencies_of(training))
    expected = direct(scores, right, training, 1000, 4)
    assert found.values[0] == pytest.approx(expected[0])
    assert found.values[0] == pytest.approx(1)
    assert found.values[1] == pytest.approx(expected[1])
    assert found.values[2:] == pytest.approx([1, 0, training.mean()])  # all labels are recommended for all images


def test_metrics_of_recommended_labels_agree_with_a_direct_computation():
    scores, right, training = long_tail(2)
    found = measured(scores, right, DESCRIBING, frequencies_of(training))
    lists = np.argsort(-scores[right.any(axis=1)], axis=1)[:, :5]
    times = np.bincount(lists.ravel(), minlength=right.shape[1]).astype(float)
    differences = np.abs(times[:, None] - times[None]).mean()  # the definition by mean differences
    expected = [(times > 0).mean(), differences / (2 * times.mean()), training[lists].mean()]
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)


def test_labels_that_are_never_recommended_count_in_coverage_and_inequality():
    """Two images have the list 2, 1, so two of the four labels are recommended twice each."""
    found = measured([[0, 1, 2, -1]] * 2, [[True, False, False, False]] * 2, ["catalogue_coverage@2", "gini@2"], None)
    assert found.values == pytest.approx([1 / 2, ((-3 - 1) * 0 + (1 + 3) * 2) / (4 * 4)])
    (one,) = measured([[0, 1, 2, 3]] * 2, [[True, False, False, False]] * 2, ["gini@1"], None).values
    assert one == pytest.approx(1 - 1 / 4)


def test_the_average_popularity_of_an_image_without_candidates_is_0():
    found = measured(
        [[1, 2], [2, 1]], [[True, False], [True, False]], ["average_popularity@2"], frequencies_of([8, 2]),
        known=[[0, 1], []],
    )  # fmt: skip
    assert found.values == pytest.approx([(0 + 5) / 2])


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.booleans())
def test_all_metrics_stay_within_their_bounds(seed, k, ties):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 12))
    scores = rng.integers(0, 3, (6, n_labels)) if ties else rng.random((6, n_labels))
    right = rng.random((6, n_labels)) < 0.4
    right[0, 0] = True
    training = rng.integers(0, 30, n_labels)
    plain = [name.split("@")[0] for name in ALL]
    names = [f"{name}@{k}" for name in dict.fromkeys(plain)]
    found = measured(scores, right, names, frequencies_of(training, int(rng.integers(1, 100))))
    largest = np.array([load_metric(name).largest for name in names])
    for values in (found.values, found.samples):
        assert (values >= 0).all()
        assert (values <= largest + 1e-12).all()
    values = dict(zip(dict.fromkeys(plain), found.values, strict=True))
    assert values["n_plus"] <= right.any(axis=0).sum()
    assert values["gini"] <= 1 - 1 / n_labels + 1e-12
    assert training.min() <= values["average_popularity"] <= training.max()
    assert values["catalogue_coverage"] >= min(k, n_labels) / n_labels - 1e-12


@pytest.mark.parametrize("seed", range(2))
def test_the_best_list_has_the_value_1(seed):
    _, right, training = long_tail(seed)
    frequencies = frequencies_of(training)
    found = measured(right * frequencies.weights() * 100 + right, right, WEIGHTED, frequencies)
    np.testing.assert_allclose(found.values, 1)
    np.testing.assert_allclose(found.samples, 1)


def test_a_resample_divides_its_own_means():
    scores, right, training = long_tail(3, n_images=80)
    found = measured(scores, right, ["psp@3"], frequencies_of(training), resamples=20)
    scores, right = scores[right.any(axis=1)], right[right.any(axis=1)]
    rng = np.random.Generator(np.random.PCG64([95, len(right)]))
    for sample in found.samples[:, 0]:
        drawn = rng.integers(0, len(right), len(right))
        assert sample == pytest.approx(direct(scores[drawn], right[drawn], training, 1000, 3)[0])


def test_resamples_of_numbers_of_labels_surround_the_number():
    """A resample has fewer different images; without a correction, all of its numbers of labels would be smaller."""
    scores, right, training = long_tail(4, n_images=60)
    names = ["n_plus@5", "catalogue_coverage@5", "gini@5"]
    found = measured(scores, right, names, frequencies_of(training), resamples=300)
    low, high = np.percentile(found.samples, [2.5, 97.5], axis=0)
    assert (low < found.values).all()
    assert (found.values <= high).all()
    np.testing.assert_allclose(np.median(found.samples[:, 2]), found.values[2])


def test_a_resample_of_a_number_of_labels_by_hand():
    """Only the first image has a hit of label 0, both have one of label 1, and label 2 has none."""
    masks = np.array([[True, True, False], [False, True, False]])
    (found,) = measure_sets([LabelSets.of_masks(masks, masks)], ["n_plus", "catalogue_coverage"], 100)
    drawn = np.concatenate([counts for _, counts in draw_counts(2, 100)])[:, 0]  # 0, 1 or 2 times the first image
    np.testing.assert_allclose(found.samples, np.transpose([2 + drawn - 1, (2 + drawn - 1) / 3]))


@pytest.mark.parametrize(
    "name", ["n_plus", "catalogue_coverage", "pc_precision", "pc_recall", "macro_f1", "macro_f1_of_means",
             "macro_f1_of_present"],
)  # fmt: skip
def test_what_each_image_adds_is_the_difference_without_it(name):
    rng = np.random.default_rng(3)
    predicted, right = rng.random((2, 12, 9)) < 0.2
    sets = LabelSets.of_masks(predicted, right)
    without = [LabelSets.of_masks(np.delete(predicted, i, 0), np.delete(right, i, 0)).value(name) for i in range(12)]
    np.testing.assert_allclose(load_metric(name).lost_without(sets), sets.value(name) - np.array(without), atol=1e-12)


def test_sums_over_labels_vary_in_resamples_at_least_as_much_as_between_draws_of_test_images():
    """Many labels are rare, as in Corel 5k. The second model has the scores of the first one with noise."""
    names = ["n_plus", "catalogue_coverage", "pc_precision", "pc_recall", "macro_f1", "macro_f1_of_means",
             "macro_f1_of_present"]  # fmt: skip
    rng = np.random.default_rng(8)
    share, strength = 0.3 / np.arange(1, 81), rng.uniform(0, 3, 80)
    values, spread = [], []
    for _ in range(80):
        right = rng.random((150, 80)) < share
        scores = right * strength + rng.random((2, 150, 80))
        predicted = np.argsort(np.argsort(-scores, axis=2), axis=2) < 3
        sets = [LabelSets.of_masks(of_model, right) for of_model in predicted]
        first, second = measure_sets(sets, names, 100)
        values.append([*first.values, *(first.values - second.values)])
        spread.append([*first.samples.var(axis=0), *(first.samples - second.samples).var(axis=0)])
    assert (np.mean(spread, axis=0) > 0.9 * np.var(values, axis=0)).all()


def test_without_frequencies_the_metrics_that_need_them_are_left_out():
    scores, right, _ = long_tail(0)
    found = measured(scores, right, ["map", "psp@3", "psndcg@3", "average_popularity@5", "n_plus@5"], None)
    assert np.isnan(found.values).tolist() == [False, True, True, True, False]


@pytest.mark.parametrize("name", ["psp", "psndcg", "average_popularity", "average_popularity@11", "gini@11"])
def test_a_cut_off_is_needed_and_lists_end_at_ten(name):
    with pytest.raises(UserError, match="cut-off"):
        load_metric(name)


@pytest.mark.parametrize("protocol", ["images", "distinct", "unseen_labels"])
def test_frequencies_are_read_from_the_split_as_the_tested_model_is_trained(tmp_path, protocol):
    rng = np.random.default_rng(1)
    rows = [np.flatnonzero(row).tolist() for row in rng.random((60, 10)) < 0.4]
    dataset = Dataset(matrix_of(rows, 10), None, np.ones(60, dtype=np.bool_), np.ones(10, dtype=np.bool_))
    split = split_dataset(protocol, dataset, 1)
    case = Case(Task("d", protocol), "popularity", 1)
    splits.save(split, case.split(tmp_path))
    read = frequencies_of_split(case, tmp_path, Propensity())
    expected = Frequencies.of_training(split.final, Propensity())
    assert read.of_labels.tolist() == expected.of_labels.tolist() == dense(split.final.labels).sum(axis=0).tolist()
    assert read.n_images == expected.n_images
