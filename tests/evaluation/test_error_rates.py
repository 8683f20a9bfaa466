import numpy as np
import pytest

from vsebench.evaluation.error_rates import NOISES, detection_rate, simulate


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
