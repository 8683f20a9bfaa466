"""The spread of metrics that is due to the choice of settings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.evaluation.estimates import Estimates
from vsebench.evaluation.spread import (
    UNKNOWN,
    deviations,
    halves,
    spread_of,
    spread_of_choice,
    spread_of_ensemble,
)

METRICS = ("map", "auc")


def search_of(truth, of_images, of_seeds, n_seeds=3, n_images=300):
    """Return a function that draws the metrics of a new search, for `spread_of_choice`.

    Parameters
    ----------
    truth : the true mean of each metric for each configuration, (n_configurations, 2)
    of_images, of_seeds : standard deviations, between images and between seeds, of a configuration's values; the two
        metrics vary together, and the second one has further noise between images
    """
    rng = np.random.default_rng(4)
    truth = np.array(truth)[:, np.newaxis, np.newaxis]

    def draw():
        images = rng.normal(0, of_images, (len(truth), 1, n_images, 1))
        seeds = rng.normal(0, of_seeds, (len(truth), n_seeds, 1, 1))
        of_both = rng.normal(0, of_images / 2, (len(truth), n_seeds, n_images, 2))
        return truth + (images + seeds) * [1, 0.8] + of_both

    return draw


def chosen_of(values):
    return int(values[..., 0].mean(axis=(1, 2)).argmax())


def variances_of(draw, truth, searches=3000, estimates=120):
    """Return the variance of the chosen configuration's true means over searches, and the mean of its estimates."""
    chosen = [truth[chosen_of(draw())] for _ in range(searches)]
    estimated = []
    for _ in range(estimates):
        values = draw()
        best = chosen_of(values)
        spread = spread_of_choice(list(values), METRICS, best)
        relative = np.array([spread[name] for name in METRICS])
        estimated.append((relative * values[best].mean(axis=(0, 1))) ** 2)
    return np.var(chosen, axis=0), np.mean(estimated, axis=0)


def test_a_choice_without_a_rival_has_no_spread():
    draw = search_of([[0.5, 0.3], [0.1, 0.9]], 0.1, 0.001)
    assert spread_of_choice(list(draw()), METRICS, 0) == pytest.approx({"map": 0, "auc": 0}, abs=1e-12)
    assert spread_of_choice([draw()[0]], METRICS, 0) == {}


def test_equal_configurations_are_chosen_equally_often():
    """The second metric of the chosen configuration is 0.3 or 0.5, with a probability of 1/2 each."""
    truth = [[0.5, 0.3], [0.5, 0.5]]
    true, estimated = variances_of(search_of(truth, 0.2, 0.0), np.array(truth))
    assert true[1] == pytest.approx(0.1**2, rel=0.05)
    assert estimated[1] == pytest.approx(0.1**2, rel=0.15)


@pytest.mark.parametrize(
    ("truth", "of_images", "of_seeds"),
    [
        ([0.5, 0.49], 0.15, 0.003),
        ([0.5, 0.495, 0.49, 0.4], 0.15, 0.003),
        ([0.5, 0.495, 0.49, 0.48], 0.03, 0.01),  # mostly noise of seeds
        (list(0.5 - 0.004 * np.arange(8)), 0.15, 0.003),
    ],
)
def test_the_spread_is_that_of_new_searches(truth, of_images, of_seeds):
    """Against new validation images and seeds for each of many searches.

    Each half of a search has less data than the whole, so the estimate is the larger one.
    """
    both = np.column_stack([truth, 0.8 * np.array(truth)])
    true, estimated = variances_of(search_of(both, of_images, of_seeds), both)
    assert (np.sqrt(true) < np.sqrt(estimated)).all()
    assert (np.sqrt(estimated) < 2 * np.sqrt(true)).all()


def test_one_seed_does_not_show_the_noise_of_seeds():
    truth = np.array([[0.5, 0.4], [0.495, 0.39], [0.49, 0.38]])
    true, estimated = variances_of(search_of(truth, 0.03, 0.01, n_seeds=1), truth)
    assert (estimated < true / 4).all()


def test_a_loop_over_halves_agrees():
    """With other divisions into halves."""
    rng = np.random.default_rng(5)
    values = rng.normal(0.5, 0.2, (3, 3, 51, 2))
    means = values.mean(axis=(1, 2))
    squares = []
    for _ in range(4000):
        images, seeds = rng.permutation(51), rng.permutation(3)
        first = values[:, seeds[:1]][:, :, images[:25], 0].mean(axis=(1, 2))
        second = values[:, seeds[1:]][:, :, images[25:], 0].mean(axis=(1, 2))
        squares.append((means[first.argmax()] - means[second.argmax()]) ** 2)
    expected = np.sqrt(np.mean(squares, axis=0) / 2) / means[chosen_of(values)]
    found = spread_of_choice(list(values), METRICS, chosen_of(values))
    assert [found[name] for name in METRICS] == pytest.approx(expected, rel=0.1)


def test_the_halves_of_a_search_have_nothing_in_common():
    for n in (2, 3, 50):
        first, second = halves(n, np.random.default_rng(0))
        assert (first + second == 1).all()
        assert (first.sum(axis=1) == n // 2).all()
    first, second = halves(1, np.random.default_rng(0))
    assert (first == 1).all()
    assert (second == 1).all()


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 20))
def test_a_spread_is_a_finite_number_or_unknown(n_configurations, n_seeds, n_images):
    rng = np.random.default_rng(n_configurations + 10 * n_seeds + 100 * n_images)
    values = rng.integers(0, 2, (n_configurations, n_seeds, n_images, 2)).astype(float)
    best = chosen_of(values)
    spread = spread_of_choice(list(values), METRICS, best)
    assert set(spread) == (set(METRICS) if n_configurations > 1 else set())
    of_chosen, of_all = values[best].mean(axis=(0, 1)), values.mean(axis=(1, 2))
    for column, size in enumerate(spread.values()):
        unknown = of_chosen[column] == 0 and of_all[:, column].any()
        assert size is None if unknown else np.isfinite(size) and size >= 0


def test_the_spread_of_an_ensemble_is_that_of_its_members_by_weight():
    members = [{"map": 0.03, "auc": 0.01}, {}, {"map": 0.04, "auc": None}]
    of_both = spread_of_ensemble([0.5, 0.0, 0.5], members)
    assert of_both == {"map": pytest.approx(0.025), "auc": None}
    assert spread_of_ensemble([0.8, 0.2, 0.0], members) == {"map": pytest.approx(0.024), "auc": pytest.approx(0.008)}
    assert spread_of_ensemble([1.0, 0.0], [{}, {}]) == {}


def test_a_metric_that_was_not_measured_has_the_largest_spread():
    known = {"map": 0.01, "auc": 0.03, "one_error": 0.2}
    assert spread_of("map", known) == 0.01
    assert spread_of("n_plus@5", known) == spread_of("hamming_distance", known) == 0.03
    assert spread_of("one_error", known) == 0.2
    assert spread_of("coverage", known) == UNKNOWN
    assert spread_of("auc", {"map": 0.01, "auc": None}) == spread_of("n_plus@5", {"auc": None}) == UNKNOWN
    assert spread_of("n_plus@5", {"map": 0.01, "auc": None}) == 0.01
    assert spread_of("map", {}) == spread_of("sibling_precision@10", {}) == 0


def test_metrics_of_ranks_say_nothing_about_the_spread_of_sibling_precision():
    of_ranks = {"map": 0.01, "auc": 0.03}
    assert spread_of("sibling_precision@10", of_ranks) == UNKNOWN
    of_both = of_ranks | {"sibling_precision@1": 0.2, "sibling_precision@10": 0.1}
    assert spread_of("sibling_precision@10", of_both) == 0.1
    assert spread_of("sibling_precision@3", of_both) == 0.2
    assert spread_of("n_plus@5", of_both) == 0.03


def of_two(choices):
    by_seed = np.array([[0.5, 0.25], [0.5, 0.25]])
    return Estimates(by_seed, np.tile(by_seed[:, np.newaxis], (1, 10, 1)), 1000, choices=choices)


def test_intervals_contain_the_spread_of_both_methods():
    """Without any other variance, a difference has the sum of both variances."""
    means = np.array([0.5, 0.25])
    spreads = {"a": {"map": 0.02}, "b": {"map": 0.04}}
    both = of_two(deviations("map", ["a", "b"], spreads, means))
    assert both.each().choice == pytest.approx([0.01**2, 0.01**2])
    assert both.minus(0, [1]).choice == pytest.approx([2 * 0.01**2])
    assert both.minus(0, [1]).half_width() == pytest.approx([1.962 * 2**0.5 * 0.01], rel=1e-3)
    log_ratio = both.of(lambda values: np.log(values[:, 0] / values[:, 1]))
    assert log_ratio.choice == pytest.approx(0.02**2 + 0.04**2, rel=0.05)


def test_one_method_with_two_decisions_deviates_together():
    means = np.array([0.5, 0.25])
    both = of_two(deviations("macro_f1", ["a", "a"], {"a": {"map": 0.02}}, means))
    assert both.choices.shape == (1, 2)
    assert both.of(lambda values: np.log(values[:, 0] / values[:, 1])).choice == pytest.approx(0)


def test_without_known_spreads_nothing_is_added():
    choices = deviations("map", ["a", "b"], {"a": {}}, np.array([0.5, 0.25]))
    assert choices.shape == (0, 2)
    found = of_two(choices).of(lambda values: values[:, 0] - values[:, 1])
    assert found.choice == 0
    assert of_two(None).minus(0, [1]).choice == pytest.approx([0])


def test_searches_on_different_tasks_are_independent():
    parts = [
        of_two(deviations("map", ["a", "b"], {"a": {"map": 0.02}}, np.array([0.5, 0.25]))),
        of_two(None),
        of_two(deviations("map", ["a", "b"], {"a": {"map": 0.02}}, np.array([0.5, 0.25]))),
    ]
    together = Estimates.side_by_side(parts)
    assert together.choices.shape == (2, 6)
    mean = together.of(lambda values: values[:, [0, 2, 4]].mean(axis=1))
    assert mean.choice == pytest.approx(2 * (0.01 / 3) ** 2)


def test_an_unknown_spread_decides_nothing():
    spreads = {"a": {"map": 0.02, "auc": None}}
    both = of_two(deviations("auc", ["a", "b"], spreads, np.array([0.5, 1e-6])))
    low, high = both.each().interval()
    assert (low[0], high[0]) == (-np.inf, np.inf)
    assert np.isfinite([low[1], high[1]]).all()
    assert both.minus(0, [1]).p_value() == [1.0]
    assert both.of(lambda values: np.log(values[:, 0] / values[:, 1])).p_value() == 1.0


@pytest.mark.parametrize("unknown", ["a", "b"])
def test_a_statistic_that_stays_finite_is_unknown_too(unknown):
    spreads = {"a": {"map": 0.02}, "b": {"map": 0.02}} | {unknown: {"map": None}}
    both = of_two(deviations("map", ["a", "b"], spreads, np.array([0.5, 0.25])))
    assert both.of(lambda values: values[:, 0] / values[:, 1]).choice == np.inf
    only_first = both.of(lambda values: 2 * values[:, 0]).choice
    assert only_first == (np.inf if unknown == "a" else pytest.approx(0.02**2))
    matrix = both.of(lambda values: values[:, [[0, 1]]])
    assert np.isinf(matrix.choice).tolist() == [[unknown == "a", unknown == "b"]]


def test_a_method_does_not_differ_from_itself_even_if_its_spread_is_unknown():
    both = of_two(deviations("map", ["a", "b"], {"a": {"map": None}}, np.array([0.5, 0.25])))
    assert both.minus(0, [0, 1]).choice.tolist() == [0, np.inf]


def test_two_decisions_of_a_method_with_an_unknown_spread_are_not_compared():
    both = of_two(deviations("auc", ["a", "a"], {"a": {"auc": None}}, np.array([0.5, 0.25])))
    assert both.minus(0, [1]).p_value() == [1.0]
    assert both.of(lambda values: values[:, 0] / values[:, 1]).p_value(1.0) == 1.0
