import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from vsebench.evaluation.estimates import SMALLEST_P, Estimate, Estimates, estimate, stack
from vsebench.evaluation.seed_variance import ALONE
from vsebench.evaluation.significance import bootstrap_all


def of_tables(seeds, resamples=400):
    """Estimates of means over images, from one table (n_images, n_quantities) per seed."""
    return stack(seeds, bootstrap_all(seeds, resamples))


def test_one_seed_gives_the_t_test_over_images():
    gaps = np.random.default_rng(0).normal(0.1, 1, (300, 1))
    found = of_tables([gaps], 20_000).each()
    expected = stats.ttest_1samp(gaps[:, 0], 0)
    low, high = expected.confidence_interval()
    assert found.p_value()[0] == pytest.approx(expected.pvalue, rel=0.05)
    assert [end[0] for end in found.interval()] == pytest.approx([low, high], rel=0.05)


def test_without_noise_among_images_it_is_the_t_test_over_seeds():
    """Every image of a seed has the same value, so only seeds differ."""
    values = [0.2, 0.5, 0.3, 0.45]
    found = of_tables([np.full((50, 1), value) for value in values]).each()
    assert found.p_value()[0] == pytest.approx(stats.ttest_1samp(values, 0).pvalue, rel=1e-6)


def test_variances_of_a_made_up_table_are_taken_apart():
    """Images, seeds and both together have deviations 3, 0.2 and 2; five seeds, 4,000 images."""
    rng = np.random.default_rng(1)
    images, both = rng.normal(0, 3, 4000), rng.normal(0, 2, (5, 4000))
    seeds = np.array([-0.2, 0.3, 0.0, -0.1, 0.1])
    found = of_tables([(images + own + seed)[:, None] for own, seed in zip(both, seeds, strict=True)], 2000).each()
    assert found.common[0] == pytest.approx(9 / 4000, rel=0.15)
    assert found.images[0] == pytest.approx(9 / 4000 + 4 / 4000 / 5, rel=0.15)
    assert found.seeds[0] == pytest.approx(seeds.var(ddof=1) / 5, rel=0.5)


def test_models_without_chance_differ_by_their_images_alone():
    gaps = np.random.default_rng(2).normal(0.2, 1, (300, 1))
    three, one = of_tables([gaps] * 3).each(), of_tables([gaps]).each()
    assert three.p_value() == pytest.approx(one.p_value())
    assert three.seeds[0] == 0


def test_equal_variants_have_no_difference_and_others_without_any_noise_a_certain_one():
    equal = of_tables([np.zeros((20, 1))] * 3).each()
    assert (equal.p_value()[0], *np.concatenate(equal.interval())) == (1.0, 0.0, 0.0)
    apart = of_tables([np.full((20, 1), 0.1)] * 3).each()
    assert apart.p_value()[0] == pytest.approx(SMALLEST_P)


@given(
    value=st.floats(-3, 3),
    variances=st.tuples(*[st.floats(1e-6, 1)] * 4),
    freedom=st.floats(0.5, 50),
    level=st.floats(1e-9, 0.9),
)
def test_a_p_value_is_below_a_level_just_where_the_interval_leaves_0_out(value, variances, freedom, level):
    images, share, seeds, choice = map(np.array, variances)
    found = Estimate(np.array(value), images, images * share, seeds, choice, 400, freedom)
    width = float(found.half_width(level))
    if abs(abs(value) - width) > 1e-6 * width:
        assert (found.p_value() < level) == (abs(value) > width)


def test_a_function_of_means_has_its_own_variances():
    """The logarithm of a ratio: by the delta method its variance is that of the relative difference."""
    rng = np.random.default_rng(3)
    seeds = [rng.normal([2.0, 1.0], 0.1, (500, 2)) for _ in range(3)]
    found = of_tables(seeds, 2000).of(lambda values: np.log(values[:, 0] / values[:, 1]))
    assert found.value == pytest.approx(np.log(2), abs=0.01)
    assert found.images == pytest.approx((0.05**2 + 0.1**2) / 500 / 3, rel=0.15)


def test_more_seeds_narrow_the_interval():
    rng = np.random.default_rng(4)
    widths = []
    for n_seeds in (2, 3, 5, 20):
        by_seed = np.tile([-0.1, 0.1], n_seeds)[:n_seeds]
        tables = [rng.normal(seed, 0.1, (200, 1)) for seed in by_seed]
        widths.append(float(of_tables(tables).each().half_width()[0]))
    assert widths == sorted(widths, reverse=True)


def test_two_seeds_decide_a_large_difference_with_the_help_of_other_methods():
    """Values of a small run on 500 images: popularity 0.646, two better methods 0.807 and 0.822, two seeds."""
    rng = np.random.default_rng(5)
    shares = np.array([[0.664, 0.800, 0.810], [0.628, 0.814, 0.834]])
    tables = [(rng.random((500, 1)) < of_seed).astype(float) for of_seed in shares]
    alone = of_tables(tables)
    helped = Estimates(alone.by_seed, alone.samples, alone.n_units, dict(enumerate(alone.by_seed.T)))
    p_values = [float(found.minus(2, [0]).p_value()[0]) for found in (alone, helped)]
    assert p_values[0] > 0.1
    assert p_values[1] < 0.04


def test_a_statistic_of_two_methods_is_helped_by_all_pairs():
    rng = np.random.default_rng(6)
    means = np.arange(1.0, 5.0)
    tables = [rng.normal(means + rng.normal(0, 0.05, 4), 0.01, (50, 4)) for _ in range(3)]
    everything = of_tables(tables)
    peers = dict(enumerate(everything.by_seed.T))
    pair = Estimates(everything.by_seed[:, :2], everything.samples[:, :, :2], 50, peers)
    difference = pair.of(lambda values: values[:, 1] - values[:, 0])
    expected = Estimates(everything.by_seed, everything.samples, 50, peers).minus(0, [1])
    assert difference.freedom == expected.freedom > 2
    assert difference.seeds == pytest.approx(expected.seeds[0])


def test_quantities_side_by_side_are_those_of_the_parts():
    parts = [of_tables([np.random.default_rng(n).random((30, 2))] * 2, 50) for n in (0, 1)]
    both = Estimates.side_by_side(parts)
    assert both.means == pytest.approx(np.concatenate([part.means for part in parts]))
    assert both.minus(0, [2]).value == pytest.approx(parts[1].means[:1] - parts[0].means[:1])


def test_an_estimate_of_one_number_is_a_number():
    found = estimate(np.float64(1.0), np.ones(2), np.ones((2, 5)), np.ones(5), 10, ALONE, np.float64(0))
    assert found.half_width() == 0
