import numpy as np
import pytest

from vsebench.evaluation.error_rates import NOISES, Pooling, detection_rate, pooled, share_found, simulate


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n_seeds", [2, 3, 5, 10])
@pytest.mark.parametrize("ratio", [0.0, 1.0, 10.0])
def test_equal_methods_are_called_different_on_at_most_one_of_twenty_tasks(n_seeds, ratio, noise):
    tasks = 400
    chance = 3 * (0.05 * 0.95 / tasks) ** 0.5
    assert detection_rate(n_seeds, ratio, 0.0, tasks, noise) < 0.05 + chance


def test_more_seeds_find_more_where_seeds_differ():
    rates = [detection_rate(n_seeds, 2.4, 4.0, 300) for n_seeds in (2, 3, 10)]
    assert rates == sorted(rates)
    assert rates[0] > 0.2  # 0.13 without the variances of the other methods
    assert rates[-1] > 0.85


def test_the_simulated_methods_are_as_far_apart_as_they_say():
    """With ten seeds, images that all share half of their variance, and a spread of 2: 0.5 + 0.5 / 10 + 4 / 10."""
    values = np.array([estimate.value[0] for estimate in simulate(10, 2.0, 3.0, 2000, "half")])
    assert values.mean() == pytest.approx(3.0, abs=0.1)
    assert values.var() == pytest.approx(0.95, rel=0.1)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n_seeds", [2, 3])
@pytest.mark.parametrize("pooling", [Pooling(2), Pooling(4), Pooling(3, same_images=True)])
def test_equal_methods_are_called_different_on_at_most_one_of_twenty_groups_of_tasks(pooling, n_seeds, noise):
    groups = 200
    chance = 3 * (0.05 * 0.95 / groups) ** 0.5
    assert share_found(pooled(n_seeds, 1.0, 0.0, groups, noise, pooling)) < 0.05 + chance


def test_other_methods_help_to_find_a_mean_difference_over_tasks_with_two_seeds():
    alone, helped = (
        share_found(pooled(2, 2.4, 4.0, 200, "half", Pooling(2, helped=helped))) for helped in (False, True)
    )
    assert helped > 1.5 * alone


def test_a_mean_over_tasks_has_its_own_variance_of_seeds():
    """Half of the variance among images is common, and a spread of 2: (0.5 + 0.5 / 10 + 4 / 10) / 2 for two tasks."""
    for same_images, variance in ((False, 0.95 / 2), (True, 0.5 + 0.05 / 2 + 0.4)):
        values = [each.value for each in pooled(10, 2.0, 3.0, 400, "half", Pooling(2, same_images))]
        assert np.mean(values) == pytest.approx(3.0, abs=0.15)
        assert np.var(values) == pytest.approx(variance, rel=0.25)
