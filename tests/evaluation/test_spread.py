"""The spread of metrics that is due to the choice of settings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.evaluation.estimates import Estimates
from vsebench.evaluation.spread import UNKNOWN, deviations, spread_of, spread_of_choice

METRICS = ("map", "precision@1")


def table(mean, other, n_images=400, n_seeds=3, seed=0):
    """Return random metrics of a configuration with these means, (n_seeds, n_images, 2)."""
    noise = np.random.default_rng(seed).normal(0, 0.2, (n_seeds, n_images, 1))
    return np.concatenate([mean + noise - noise.mean(), np.full(noise.shape, other)], axis=2)


def test_a_choice_without_a_rival_has_no_spread():
    spread = spread_of_choice([table(0.5, 0.3), table(0.1, 0.9, seed=1)], METRICS, 0)
    assert spread == pytest.approx({"map": 0, "precision@1": 0}, abs=1e-12)
    assert spread_of_choice([table(0.5, 0.3)], METRICS, 0) == {}


def test_two_equal_configurations_are_chosen_equally_often():
    """Chosen with a probability of 1/2 each, the second metric, 0.3 or 0.5, has a standard deviation of 0.1."""
    spread = spread_of_choice([table(0.5, 0.3), table(0.5, 0.5, seed=1)], METRICS, 0)
    assert spread["map"] == pytest.approx(0, abs=1e-9)
    assert spread["precision@1"] == pytest.approx(0.1 / 0.3, rel=0.05)


def test_the_spread_is_that_of_choices_on_other_images():
    """Against new validation images and seeds for each of many searches, instead of resamples of one search."""
    rng = np.random.default_rng(4)
    truth = np.array([0.50, 0.495, 0.49, 0.40])

    def search():
        of_images, of_seeds = rng.normal(0, 0.15, (4, 1, 300)), rng.normal(0, 0.003, (4, 3, 1))
        return truth[:, np.newaxis, np.newaxis] + of_images + of_seeds

    chosen = [truth[search().mean(axis=(1, 2)).argmax()] for _ in range(2000)]
    estimated = []
    for _ in range(40):
        values = search()[..., np.newaxis]
        estimated.append(spread_of_choice(list(values), ["map"], int(values.mean(axis=(1, 2, 3)).argmax()))["map"])
    # The estimate also contains the noise of the configurations' own means, so it is the larger one.
    assert np.std(chosen) / 0.5 < np.mean(estimated) < 4 * np.std(chosen) / 0.5


def test_the_plain_resampling_agrees():
    """A loop over resamples, with its own draws."""
    rng = np.random.default_rng(5)
    values = [rng.normal(0.5, 0.2, (2, 50, 2)) for _ in range(3)]
    means = np.array([each.mean(axis=(0, 1)) for each in values])
    chosen = int(means[:, 0].argmax())
    drawn = []
    for _ in range(4000):
        images, seeds = rng.integers(50, size=50), rng.integers(2, size=2)
        drawn.append(means[np.argmax([each[seeds][:, images, 0].mean() for each in values])])
    expected = np.std(drawn, axis=0) / means[chosen]
    found = spread_of_choice(values, METRICS, chosen)
    assert [found[name] for name in METRICS] == pytest.approx(expected, rel=0.1)


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 20))
def test_a_spread_is_a_finite_number(n_configurations, n_seeds, n_images):
    rng = np.random.default_rng(n_configurations + 10 * n_seeds + 100 * n_images)
    values = [rng.integers(0, 2, (n_seeds, n_images, 2)).astype(float) for _ in range(n_configurations)]
    chosen = int(np.argmax([each[..., 0].mean() for each in values]))
    spread = spread_of_choice(values, METRICS, chosen)
    assert set(spread) == (set(METRICS) if n_configurations > 1 else set())
    assert all(np.isfinite(each) and each >= 0 for each in spread.values())


def test_a_metric_that_was_not_measured_has_the_largest_spread():
    assert spread_of("map", {"map": 0.01, "auc": 0.03}) == 0.01
    assert spread_of("n_plus@5", {"map": 0.01, "auc": 0.03}) == 0.03
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
